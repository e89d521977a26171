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

/** Items as rows: an Arrow IPC stream. Columns that are not wanted are NULL. */
export function informationRows<Item>(
  columns: readonly InformationColumn<Item>[],
  items: readonly Item[],
  isWanted: (column: string) => boolean,
): Uint8Array {
  const arrowTypes = columns.map(({ type }) => (type.kind === 'int' ? new Int32() : new Utf8()));
  const schema = new Schema(
    columns.map(({ name }, index) => new Field(name, arrowTypes[index] ?? new Utf8())),
  );
  const children = columns.map((column, index) => {
    const type = arrowTypes[index] ?? new Utf8();
    const value = isWanted(column.name) ? column.value : () => null;
    const [data] = vectorFromArray(
      items.map((item) => wellFormed(value(item))),
      type,
    ).data;
    return data ?? makeData({ type, length: 0 });
  });
  const data = makeData({ type: new Struct(schema.fields), length: items.length, nullCount: 0, children });
  return tableToIPC(new Table([new RecordBatch(schema, data)]), 'stream');
}

/** UTF-8 has no place for lone surrogates. */
function wellFormed(value: InformationValue): InformationValue {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
