import type { NestedField, PrimitiveType } from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import { informationRows } from './information-rows.js';

/** What a view of information_schema is asked for. */
export interface InformationRequest {
  readonly catalog: string;
  readonly catalogs: CatalogDirectory;
  readonly request: ScanRequest;
  readonly signal: AbortSignal;
}

export type InformationValue = string | number | null;

/** One column: what it says of an item. */
export interface InformationColumn<Item> {
  readonly name: string;
  readonly type: PrimitiveType & { readonly kind: 'string' | 'int' };
  readonly value: (item: Item) => InformationValue;
}

export interface InformationView {
  readonly name: string;
  readonly fields: readonly NestedField[];
  /** An Arrow IPC stream of at least the rows that the request keeps; columns that it does not read are NULL. */
  rows(request: InformationRequest): Promise<Uint8Array>;
}

/** One row for each item that the request may want. */
export interface InformationViewDefinition<Item> {
  readonly name: string;
  readonly columns: readonly InformationColumn<Item>[];
  items(request: InformationRequest): Promise<readonly Item[]>;
}

export function informationView<Item>({
  name,
  columns,
  items,
}: InformationViewDefinition<Item>): InformationView {
  return {
    name,
    fields: columns.map((column, index) => ({
      id: index + 1,
      name: column.name,
      required: false,
      type: column.type,
    })),
    rows: async (request) =>
      informationRows(columns, await items(request), (column) => reads(request.request, [column])),
  };
}

export function textColumn<Item>(
  name: string,
  value: (item: Item) => string | null,
): InformationColumn<Item> {
  return { name, type: { kind: 'string' }, value };
}

export function numberColumn<Item>(
  name: string,
  value: (item: Item) => number | null,
): InformationColumn<Item> {
  return { name, type: { kind: 'int' }, value };
}

/** Whether the request reads any of these columns: what only they tell need not be looked up otherwise. */
export function reads({ columns }: ScanRequest, names: readonly string[]): boolean {
  return columns === undefined || columns.some(([name]) => name !== undefined && names.includes(name));
}
