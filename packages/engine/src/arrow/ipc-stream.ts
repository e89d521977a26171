/** An Arrow IPC stream as its schema and a sequence of checked batches, from pieces of any size. */
import { type DecodedArray, type DecodedBatch, decodeBatch, decodeDictionaryBatch } from './decoded-array.js';
import { malformed } from './flatbuffer-read.js';
import { IpcMessageReader } from './ipc-messages.js';
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

  /** Undefined until the schema message has been read by `next`. */
  get schema(): ArrowSchema | undefined {
    return this.current;
  }

  push(piece: Uint8Array): void {
    this.messages.push(piece);
  }

  /** The next batch, or undefined until more bytes are there. Throws INVALID_ARGUMENT on damage. */
  next(): DecodedBatch | undefined {
    for (;;) {
      const message = this.messages.next();
      if (message === undefined) return undefined;
      if (message.kind === 'schema') {
        if (this.current !== undefined) throw malformed('a stream has two schemas');
        this.current = decodeSchema(message.header);
        continue;
      }
      if (this.current === undefined) throw malformed('the stream does not start with a schema');
      if (message.kind === 'batch')
        return decodeBatch(message.header, message.body, this.current, this.dictionaries);
      if (message.header.int8(2, 0) !== 0) throw malformed('delta dictionaries are not supported');
      const id = message.header.int64(0, 0n);
      const field = findDictionary(this.current.fields, id);
      if (field === undefined) throw malformed(`no field has the dictionary ${id}`);
      this.dictionaries.set(
        id,
        decodeDictionaryBatch(message.header, message.body, field, this.dictionaries),
      );
    }
  }

  /** Throws INVALID_ARGUMENT when the stream is not complete. */
  finish(): ArrowSchema {
    this.messages.finish();
    if (this.current === undefined) throw malformed('the stream has no schema');
    return this.current;
  }
}

function findDictionary(fields: readonly ArrowField[], id: bigint): ArrowField | undefined {
  for (const field of fields) {
    if (field.dictionary?.id === id) return field;
    const nested = findDictionary(field.children, id);
    if (nested !== undefined) return nested;
  }
  return undefined;
}
