import type { IcebergType } from '../spec/types.js';
import type { ColumnType } from './column-definition.js';

/**
 * Whether a column of one type may have the other without becoming another column (specification, "Schema Evolution"):
 * readers take values of the old type for the new one. Of nested types only the kind counts, their inner fields are
 * columns of their own.
 */
export function mayBecome(from: IcebergType, to: ColumnType): boolean {
  if (from.kind === 'decimal')
    return to.kind === 'decimal' && to.scale === from.scale && to.precision >= from.precision;
  if (from.kind === 'fixed') return to.kind === 'fixed' && to.length === from.length;
  if (from.kind === 'unsupported') return to.kind === 'unsupported' && to.text === from.text;
  if (from.kind === 'int' && to.kind === 'long') return true;
  if (from.kind === 'float' && to.kind === 'double') return true;
  return from.kind === to.kind;
}
