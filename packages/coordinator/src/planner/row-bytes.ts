/**
 * What the rows of a scan take once they are no longer files: what is handed from stage to stage are rows, and columns
 * that compress well take many times their bytes in the file.
 */
import type { FragmentScan } from '@svc/fragment-fn';
import type { IcebergType } from '@svc/lake';
import type { ColumnPath } from '@svc/sql';

/** Assumed of texts and bytes, with their place in the column. */
const textBytes = 24;
/** Of elements in a list or map, of which files do not say how many there are in a row. */
const elementsPerRow = 4;

/** Bytes of the rows that are planned, in Arrow. Without `columns` all of the table's are meant. */
export function rowBytes({ scan }: FragmentScan, columns: readonly ColumnPath[] | undefined): number {
  const names = columns && new Set(columns.map(([name]) => name?.toLowerCase()));
  const ofRow = scan.columns
    .filter(({ name }) => names === undefined || names.has(name.toLowerCase()))
    .reduce((sum, { type }) => sum + valueBytes(type), 0);
  return scan.counts.rowsPlanned * ofRow;
}

function valueBytes(type: IcebergType): number {
  switch (type.kind) {
    case 'boolean':
    case 'unknown':
      return 1;
    case 'int':
    case 'float':
    case 'date':
      return 4;
    case 'decimal':
    case 'uuid':
      return 16;
    case 'fixed':
      return type.length;
    case 'struct':
      return type.fields.reduce((sum, field) => sum + valueBytes(field.type), 0);
    case 'list':
      return elementsPerRow * valueBytes(type.element);
    case 'map':
      return elementsPerRow * (valueBytes(type.key) + valueBytes(type.value));
    case 'string':
    case 'binary':
    case 'unsupported':
      return textBytes;
    default:
      return 8;
  }
}
