/** A new table as updates of nothing: what a catalog commits under the requirement that the table does not exist. */
import { QueryError } from '@svc/base';
import { lastAdded, type TableUpdate } from '../changes/table-change.js';
import { clip } from '../spec/lossless-json.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import type { Schema } from '../spec/types.js';
import { assignFieldIds, type ColumnDefinition } from './column-definition.js';
import { newPartitionSpec, type PartitionDefinition } from './new-partition-spec.js';
import { checkTableProperties } from './table-properties.js';

export interface TableDefinition {
  readonly columns: readonly ColumnDefinition[];
  readonly partitions?: readonly PartitionDefinition[];
  readonly properties?: Readonly<Record<string, string>>;
  /** 1 or 2; by default what the property `format-version` says, or 2. */
  readonly formatVersion?: number;
}

export interface NewTable {
  readonly tableUuid: string;
  readonly location: string;
  readonly formatVersion: number;
  readonly schema: Schema;
  readonly lastColumnId: number;
  readonly partitionSpec: PartitionSpec;
  readonly properties: Readonly<Record<string, string>>;
}

const formatVersionProperty = 'format-version';
/** What metadata says elsewhere may not be said a second time (Iceberg's reserved table properties). */
const reservedProperties: ReadonlySet<string> = new Set([
  formatVersionProperty,
  'uuid',
  'snapshot-count',
  'current-snapshot-summary',
  'current-snapshot-id',
  'current-snapshot-timestamp-ms',
  'current-schema',
  'default-partition-spec',
  'default-sort-order',
]);

/** Throws INVALID_ARGUMENT and BINDING_ERROR naming what the definition has wrong. */
export function newTable(
  definition: TableDefinition,
  place: { readonly tableUuid: string; readonly location: string },
): NewTable {
  const formatVersion = definedFormatVersion(definition) ?? 2;
  const properties = definedProperties(definition);
  const { fields, lastColumnId } = assignFieldIds(definition.columns, formatVersion);
  return {
    ...place,
    formatVersion,
    schema: { schemaId: 0, fields, identifierFieldIds: [] },
    lastColumnId,
    partitionSpec: newPartitionSpec(fields, definition.partitions ?? []),
    properties,
  };
}

export function createTableUpdates(table: NewTable): readonly TableUpdate[] {
  return [
    { action: 'assign-uuid', uuid: table.tableUuid },
    { action: 'upgrade-format-version', formatVersion: table.formatVersion },
    { action: 'add-schema', schema: table.schema, lastColumnId: table.lastColumnId },
    { action: 'set-current-schema', schemaId: lastAdded },
    { action: 'add-spec', spec: table.partitionSpec },
    { action: 'set-default-spec', specId: lastAdded },
    { action: 'add-sort-order', sortOrder: { orderId: 0, fields: [] } },
    { action: 'set-default-sort-order', sortOrderId: lastAdded },
    { action: 'set-location', location: table.location },
    { action: 'set-properties', updates: new Map(Object.entries(table.properties)) },
  ];
}

/** What the definition says of it. Throws INVALID_ARGUMENT for a version that is not written. */
export function definedFormatVersion({ formatVersion, properties }: TableDefinition): 1 | 2 | undefined {
  const written = properties?.[formatVersionProperty];
  const wanted = formatVersion ?? (written === undefined ? undefined : Number(written));
  if (wanted === undefined || wanted === 1 || wanted === 2) return wanted;
  throw new QueryError(
    'INVALID_ARGUMENT',
    `A table cannot be made with the format version ${clip(written ?? String(formatVersion), 60)}: versions 1 and 2 are written.`,
  );
}

/** Those that are kept as properties. Throws INVALID_ARGUMENT naming one that cannot be. */
export function definedProperties({ properties = {} }: TableDefinition): Readonly<Record<string, string>> {
  const kept = Object.fromEntries(
    Object.entries(properties).filter(([key]) => key !== formatVersionProperty),
  );
  checkProperties(kept);
  return kept;
}

function checkProperties(properties: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(properties)) {
    const name = JSON.stringify(clip(key, 200));
    if (key === '') throw new QueryError('INVALID_ARGUMENT', 'A table property has no name.');
    if (reservedProperties.has(key))
      throw new QueryError('INVALID_ARGUMENT', `The table property ${name} cannot be set.`);
    if (/\p{Surrogate}/u.test(key + value))
      throw new QueryError('INVALID_ARGUMENT', `The table property ${name} has broken Unicode.`);
  }
  checkTableProperties(new Map(Object.entries(properties)));
}
