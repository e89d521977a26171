import {
  Field,
  Int32,
  makeData,
  RecordBatch,
  Schema,
  Struct,
  Table,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import type { InformationColumn, InformationValue } from './information-view.js';

/** So that no batch is large, whatever the names are. */
const rowsPerBatch = 8_192;

/** Items as rows: an Arrow IPC stream. Columns that are not wanted are NULL. */
export function informationRows<Item>(
  columns: readonly InformationColumn<Item>[],
  items: readonly Item[],
  isWanted: (column: string) => boolean,
): Uint8Array {
  const typed = columns.map(({ name, type, value }) => ({
    field: new Field(name, type.kind === 'int' ? new Int32() : new Utf8()),
    value: isWanted(name) ? value : () => null,
  }));
  const schema = new Schema(typed.map(({ field }) => field));
  const batches: RecordBatch[] = [];
  for (let start = 0; start < items.length; start += rowsPerBatch) {
    const some = items.slice(start, start + rowsPerBatch);
    const children = typed.map(({ field: { type }, value }) => {
      const [data] = vectorFromArray(
        some.map((item) => wellFormed(value(item))),
        type,
      ).data;
      return data ?? makeData({ type, length: 0 });
    });
    const data = makeData({ type: new Struct(schema.fields), length: some.length, nullCount: 0, children });
    batches.push(new RecordBatch(schema, data));
  }
  return tableToIPC(new Table(schema, batches), 'stream');
}

/** UTF-8 has no place for lone surrogates. */
function wellFormed(value: InformationValue): InformationValue {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
