/** An Arrow IPC stream as its schema and a sequence of checked batches, from pieces of any size. */
import { type DecodedArray, type DecodedBatch, decodeBatch, decodeDictionaryBatch } from './decoded-array.js';
import { malformed } from './flatbuffer-read.js';
import { type IpcMessage, IpcMessageReader } from './ipc-messages.js';
import { decodeSchema } from './ipc-schema-decode.js';
import type { ArrowField, ArrowSchema } from './types.js';

export class IpcStreamReader {
  private readonly messages: IpcMessageReader;
  private readonly dictionaries = new Map<bigint, DecodedArray>();
  private current: ArrowSchema | undefined;

  /** `maxBodyBytes` bounds what one message may ask us to hold. */
  constructor(maxBodyBytes: number) {
    this.messages = new IpcMessageReader(maxBodyBytes);
  }

  /** Undefined until the schema message has been read. */
  get schema(): ArrowSchema | undefined {
    return this.current;
  }

  /** The batches that the piece completes; the piece is the caller's again once all are read. INVALID_ARGUMENT on damage. */
  *read(piece: Uint8Array): Generator<DecodedBatch> {
    for (const message of this.messages.read(piece)) {
      if (message.kind === 'schema') {
        if (this.current !== undefined) throw malformed('a stream has two schemas');
        this.current = decodeSchema(message.header);
      } else if (this.current === undefined) throw malformed('the stream does not start with a schema');
      else if (message.kind === 'batch')
        yield decodeBatch(message.header, message.body, this.current, this.dictionaries);
      else this.readDictionary(message, this.current);
    }
  }

  /** Throws INVALID_ARGUMENT when the stream is not complete. */
  finish(): ArrowSchema {
    this.messages.finish();
    if (this.current === undefined) throw malformed('the stream has no schema');
    return this.current;
  }

  private readDictionary(message: IpcMessage, schema: ArrowSchema): void {
    if (message.header.int8(2, 0) !== 0) throw malformed('delta dictionaries are not supported');
    const id = message.header.int64(0, 0n);
    const field = findDictionary(schema.fields, id);
    if (field === undefined) throw malformed(`no field has the dictionary ${id}`);
    this.dictionaries.set(id, decodeDictionaryBatch(message.header, message.body, field, this.dictionaries));
  }
}

export function findDictionary(fields: readonly ArrowField[], id: bigint): ArrowField | undefined {
  for (const field of fields) {
    if (field.dictionary?.id === id) return field;
    const nested = findDictionary(field.children, id);
    if (nested !== undefined) return nested;
  }
  return undefined;
}
