/** The rows of a small result of ours as values: what COPY answers, not what users ask for. */
import { QueryError } from '@svc/base';
import type { EngineResult } from '../api.js';
import { type DecodedArray, decodeBatch, integerAt, isValid, offsetAt } from './decoded-array.js';
import { FlatTable, malformed } from './flatbuffer-read.js';
import { decodeSchema } from './ipc-schema-decode.js';
import type { ArrowSchema } from './types.js';

/** Whole numbers, and in a lossless result booleans too, are bigint whatever their width; keys of maps are text; structs are maps of their fields. */
export type ResultValue = null | bigint | string | readonly ResultValue[] | ReadonlyMap<string, ResultValue>;

/** By column name. */
export type ResultRow = ReadonlyMap<string, ResultValue>;

/** Header fields of an encapsulated message before its flatbuffer: FFFFFFFF and the length. */
const prefixBytes = 8;

/**
 * Reads a result to its end. Throws its error, RESULT_TOO_LARGE beyond `maxBytes` of Arrow data, and INTERNAL_ERROR for
 * columns of types that statements of ours do not answer.
 */
export async function collectRows(result: EngineResult, maxBytes: number): Promise<readonly ResultRow[]> {
  const schema = readArrowSchema(result.schema);
  const rows: ResultRow[] = [];
  let bytes = 0;
  for await (const message of result.messages) {
    try {
      bytes += message.body.byteLength;
      if (bytes > maxBytes)
        throw new QueryError('RESULT_TOO_LARGE', `The statement answers more than ${maxBytes} bytes.`);
      // What has dictionaries is refused by its column's type.
      if (message.kind !== 'batch') continue;
      const { rowCount, columns } = decodeBatch(
        messageTable(message.header),
        aligned(message.body),
        schema,
        new Map(),
      );
      for (let row = 0; row < rowCount; row++)
        rows.push(new Map(columns.map((column) => [column.field.name, valueAt(column, row)])));
    } finally {
      message.release();
    }
  }
  return rows;
}

/** The fields of an encapsulated schema message, as `describe` and `query` answer it. */
export function readArrowSchema(schema: Uint8Array): ArrowSchema {
  return decodeSchema(messageTable(schema.subarray(prefixBytes)));
}

function messageTable(message: Uint8Array): FlatTable {
  const table = FlatTable.root(message).table(2);
  if (table === undefined) throw malformed('a message has no header');
  return table;
}

function aligned(body: Uint8Array): Uint8Array {
  return body.byteOffset % 8 === 0 ? body : Uint8Array.from(body);
}

function valueAt(array: DecodedArray, row: number): ResultValue {
  if (!isValid(array, row)) return null;
  const { type } = array.field;
  switch (type.kind) {
    case 'int':
      return integerAt(array, row);
    case 'utf8':
      return Buffer.from(
        array.buffers[1]?.subarray(offsetAt(array, row), offsetAt(array, row + 1)) ?? [],
      ).toString('utf8');
    case 'list':
      return childRows(array, row, ([item], index) => (item === undefined ? null : valueAt(item, index)));
    case 'struct':
      return new Map(array.children.map((child) => [child.field.name, valueAt(child, row)]));
    case 'map':
      return new Map(
        childRows(array, row, ([entries], index) => {
          const [key, value] = entries?.children ?? [];
          if (key === undefined || value === undefined) throw malformed('a map has no keys and values');
          return [String(valueAt(key, index)), valueAt(value, index)] as const;
        }),
      );
    default:
      throw new QueryError(
        'INTERNAL_ERROR',
        `The column "${array.field.name}" of a statement of ours has the type ${type.kind}.`,
      );
  }
}

function childRows<T>(
  array: DecodedArray,
  row: number,
  read: (children: readonly DecodedArray[], index: number) => T,
): readonly T[] {
  const values: T[] = [];
  for (let index = offsetAt(array, row); index < offsetAt(array, row + 1); index++)
    values.push(read(array.children, index));
  return values;
}
