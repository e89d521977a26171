import { QueryError } from '@svc/base';
import type { LoadedTable } from '../../catalogs/catalog.js';
import { type ResolvedSnapshot, resolveSnapshot, type SnapshotPin } from '../scan/resolve-snapshot.js';
import { filesTable } from './files-table.js';
import {
  historyTable,
  metadataLogTable,
  propertiesTable,
  refsTable,
  snapshotsTable,
} from './history-tables.js';
import { manifestsTable } from './manifests-table.js';
import type { MetadataTable } from './metadata-table.js';
import { partitionsTable } from './partitions-table.js';

type Opener =
  /** Tells what is in one snapshot: it may be asked for as of any. */
  | { readonly of: 'snapshot'; open(table: LoadedTable, snapshot: ResolvedSnapshot): MetadataTable }
  /** Tells the table's history: there is one. */
  | { readonly of: 'table'; open(table: LoadedTable): MetadataTable };

const openers: ReadonlyMap<string, Opener> = new Map<string, Opener>([
  ['snapshots', { of: 'table', open: snapshotsTable }],
  ['history', { of: 'table', open: historyTable }],
  ['files', { of: 'snapshot', open: filesTable }],
  ['manifests', { of: 'snapshot', open: manifestsTable }],
  ['partitions', { of: 'snapshot', open: partitionsTable }],
  ['refs', { of: 'table', open: refsTable }],
  ['properties', { of: 'table', open: propertiesTable }],
  ['metadata_log_entries', { of: 'table', open: metadataLogTable }],
]);

/** `t$snapshots` as the table's name and what is asked of it; undefined for a name that asks for nothing. */
export function splitMetadataName(
  name: string,
): { readonly table: string; readonly kind: string } | undefined {
  const at = name.lastIndexOf('$');
  return at <= 0 ? undefined : { table: name.slice(0, at), kind: name.slice(at + 1) };
}

export function isMetadataTableKind(kind: string): boolean {
  return openers.has(kind.toLowerCase());
}

/**
 * Every metadata table of every table is opened here. `files`, `partitions` and `manifests` show bounds of the table's
 * values: a policy that keeps rows or columns from somebody has to refuse them here.
 *
 * Throws TABLE_NOT_FOUND naming the kinds that there are, SNAPSHOT_NOT_FOUND, NOT_SUPPORTED for the history as of a time.
 */
export function openMetadataTable(
  table: LoadedTable,
  kind: string,
  pin: SnapshotPin,
  tableName: string,
): MetadataTable {
  const opener = openers.get(kind.toLowerCase());
  if (opener === undefined)
    throw new QueryError(
      'TABLE_NOT_FOUND',
      `${tableName} has no metadata table "$${kind}"; it has ${[...openers.keys()].map((each) => `$${each}`).join(', ')}.`,
    );
  if (opener.of === 'snapshot') return opener.open(table, resolveSnapshot(table.metadata, pin, tableName));
  if (pin.kind !== 'current')
    throw new QueryError(
      'NOT_SUPPORTED',
      `"${tableName}$${kind.toLowerCase()}" is the table's history, which has none itself: leave AS OF out.`,
    );
  return opener.open(table);
}
