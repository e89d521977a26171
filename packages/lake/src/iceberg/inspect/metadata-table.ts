import { throwIfAborted } from '@svc/base';
import type { IcebergType, NestedField } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import type { InspectOptions } from './snapshot-manifests.js';

/**
 * A value of a metadata table: a primitive as PrimitiveValue has it (a long may be a number too), the elements of a list,
 * the fields of a struct in their order, or the entries of a map.
 */
export type Cell = null | PrimitiveValue | readonly Cell[] | ReadonlyMap<PrimitiveValue, Cell>;

/** What a table says of itself, as a table (`"t$snapshots"`). */
export interface MetadataTable {
  readonly fields: readonly NestedField[];
  /** Rows in pieces, in the order of the fields. Cells of columns that are not wanted are NULL. */
  rows(
    isWanted: (column: string) => boolean,
    options: InspectOptions,
  ): AsyncGenerator<readonly (readonly Cell[])[], void, undefined>;
}

export interface MetadataColumn<Item> {
  readonly name: string;
  readonly type: IcebergType;
  readonly cell: (item: Item) => Cell;
}

/** Rows of a piece, so that neither it nor the time to make it is long. */
const rowsPerPiece = 1024;

export function fieldsOf(columns: readonly MetadataColumn<never>[]): readonly NestedField[] {
  return columns.map(({ name, type }, index) => ({ id: index + 1, name, required: false, type }));
}

/** A table of items that are at hand. */
export function itemTable<Item>(
  columns: readonly MetadataColumn<Item>[],
  items: () => readonly Item[],
): MetadataTable {
  return {
    fields: fieldsOf(columns),
    async *rows(isWanted, { signal }) {
      const makeRow = rowMaker(columns, isWanted);
      const all = items();
      for (let start = 0; start < all.length; start += rowsPerPiece) {
        throwIfAborted(signal);
        yield all.slice(start, start + rowsPerPiece).map(makeRow);
      }
    },
  };
}

export function rowMaker<Item>(
  columns: readonly MetadataColumn<Item>[],
  isWanted: (column: string) => boolean,
): (item: Item) => readonly Cell[] {
  const cells = columns.map(({ name, cell }) => (isWanted(name) ? cell : () => null));
  return (item) => cells.map((cell) => cell(item));
}

export const types = {
  boolean: { kind: 'boolean' },
  int: { kind: 'int' },
  long: { kind: 'long' },
  string: { kind: 'string' },
  binary: { kind: 'binary' },
  timestamptz: { kind: 'timestamptz' },
} as const satisfies Record<string, IcebergType>;

/** Ids within a metadata table's types are of no use, and all the same. */
export function listOf(element: IcebergType): IcebergType {
  return { kind: 'list', elementId: 0, elementRequired: false, element };
}

export function mapOf(key: IcebergType, value: IcebergType): IcebergType {
  return { kind: 'map', keyId: 0, key, valueId: 0, valueRequired: false, value };
}

/** Names that are there already, in any case, are told apart by what `distinct` answers. */
export function structOf(
  fields: readonly { readonly name: string; readonly type: IcebergType; readonly id?: number }[],
): IcebergType {
  const taken = new Set<string>();
  return {
    kind: 'struct',
    fields: fields.map(({ name: wanted, type, id = 0 }) => {
      const name = taken.has(wanted.toLowerCase()) ? `${wanted}_${id}` : wanted;
      taken.add(name.toLowerCase());
      return { id, name, required: false, type };
    }),
  };
}

/** Milliseconds as the microseconds of a timestamp. */
export function micros(timestampMs: number): bigint {
  return BigInt(timestampMs) * 1000n;
}
