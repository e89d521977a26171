/** Messages of a result that somebody else made, checked before anybody relies on them. */
import type { EngineMessage } from '../api.js';
import { type DecodedArray, decodeBatch, decodeDictionaryBatch } from './decoded-array.js';
import { FlatTable, malformed, toCount } from './flatbuffer-read.js';
import { decodeSchema } from './ipc-schema-decode.js';
import { findDictionary } from './ipc-stream.js';
import type { ArrowSchema } from './types.js';

const messageKinds = [undefined, 'schema', 'dictionary', 'batch'] as const;

/** Remembers the dictionaries of one stream. */
export class MessageCheck {
  private readonly schema: ArrowSchema;
  private readonly dictionaries = new Map<bigint, DecodedArray>();

  /** `header`: the Message flatbuffer of the schema. Throws INVALID_ARGUMENT. */
  constructor(header: Uint8Array) {
    this.schema = decodeSchema(openMessage(header, 'schema', 0));
  }

  /**
   * Throws INVALID_ARGUMENT unless the message is what it says it is: of its kind and number of rows, every buffer inside
   * the body, every offset inside its buffer, texts in UTF-8. The body must lie at a multiple of 8 bytes.
   */
  check({ kind, header, body, rowCount }: Omit<EngineMessage, 'release'>): void {
    const table = openMessage(header, kind, body.byteLength);
    if (kind === 'batch') {
      const batch = decodeBatch(table, body, this.schema, this.dictionaries);
      if (batch.rowCount !== rowCount) throw malformed(`a batch has ${batch.rowCount} rows, not ${rowCount}`);
      return;
    }
    if (table.int8(2, 0) !== 0) throw malformed('delta dictionaries are not supported');
    const id = table.int64(0, 0n);
    const field = findDictionary(this.schema.fields, id);
    if (field === undefined) throw malformed(`no field has the dictionary ${id}`);
    this.dictionaries.set(id, decodeDictionaryBatch(table, body, field, this.dictionaries));
  }
}

function openMessage(
  header: Uint8Array,
  kind: 'schema' | 'dictionary' | 'batch',
  bodyBytes: number,
): FlatTable {
  const message = FlatTable.root(header);
  const table = message.table(2);
  if (messageKinds[message.int8(1, 0)] !== kind || table === undefined) throw malformed(`it is no ${kind}`);
  const declared = toCount(message.int64(3, 0n));
  if (declared !== bodyBytes) throw malformed(`a body has ${bodyBytes} bytes, not ${declared}`);
  return table;
}
