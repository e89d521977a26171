/** Which snapshot of a table a query reads, and under which schema. */
import { QueryError } from '@svc/base';
import { clip } from '../spec/lossless-json.js';
import type { Snapshot } from '../spec/snapshot.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import type { Schema } from '../spec/types.js';

export type SnapshotPin =
  | { readonly kind: 'current' }
  /** `schemaId` repeats an earlier choice; otherwise the snapshot is read under its own schema. */
  | { readonly kind: 'id'; readonly snapshotId: bigint; readonly schemaId?: number }
  /** A branch or tag. */
  | { readonly kind: 'reference'; readonly name: string }
  /**
   * What was current at that time, milliseconds since 1970. `isEmptyBefore`: a table of which every commit is known had no rows before
   * the first one, instead of no snapshot: when that was would be told.
   */
  | { readonly kind: 'timestamp'; readonly timestampMs: number; readonly isEmptyBefore?: true };

export interface ResolvedSnapshot {
  /** `undefined` when the table had never been written to. */
  readonly snapshot: Snapshot | undefined;
  readonly schema: Schema;
}

/** How many of a table's snapshots or references an error message lists. */
const maxListed = 10;

export interface ResolveSnapshotOptions {
  /**
   * Whether an error may list the snapshots, branches and tags that there are. Where rows are hidden from somebody it may not:
   * each commit of them would be told. Default: true.
   */
  readonly mayList?: boolean;
}

interface AskedTable {
  readonly metadata: TableMetadata;
  readonly tableName: string;
  readonly mayList: boolean;
}

/**
 * Branches, `main` among them, are read under the table's current schema; tags, ids and times under the schema of their
 * snapshot. Throws SNAPSHOT_NOT_FOUND, listing what there is.
 */
export function resolveSnapshot(
  metadata: TableMetadata,
  pin: SnapshotPin,
  tableName: string,
  { mayList = true }: ResolveSnapshotOptions = {},
): ResolvedSnapshot {
  return resolvePin({ metadata, tableName, mayList }, pin);
}

function resolvePin(table: AskedTable, pin: SnapshotPin): ResolvedSnapshot {
  const { metadata } = table;
  switch (pin.kind) {
    case 'current': {
      const id = metadata.currentSnapshotId;
      return {
        snapshot: id === undefined ? undefined : snapshotById(table, id),
        schema: schemaById(metadata, undefined),
      };
    }
    case 'id': {
      const snapshot = snapshotById(table, pin.snapshotId);
      return { snapshot, schema: schemaById(metadata, pin.schemaId ?? snapshot.schemaId) };
    }
    case 'reference':
      return resolveReference(table, pin.name);
    case 'timestamp': {
      const log = metadata.snapshotLog.length > 0 ? metadata.snapshotLog : ancestors(metadata);
      const id = idAsOf(log, pin.timestampMs);
      if (id === undefined) return beforeFirst(table, pin, log);
      const snapshot = snapshotById(table, id);
      return { snapshot, schema: schemaById(metadata, snapshot.schemaId) };
    }
  }
}

function resolveReference(table: AskedTable, name: string): ResolvedSnapshot {
  const { metadata } = table;
  const reference = metadata.refs.get(name);
  if (reference === undefined) {
    if (name === 'main') return resolvePin(table, { kind: 'current' });
    throw notFound(table, `has no branch or tag ${JSON.stringify(clip(name, 200))}`, [
      ...metadata.refs.keys(),
    ]);
  }
  const snapshot = snapshotById(table, reference.snapshotId);
  const schemaId = reference.type === 'tag' ? snapshot.schemaId : metadata.currentSchemaId;
  return { snapshot, schema: schemaById(metadata, schemaId) };
}

function snapshotById(table: AskedTable, id: bigint): Snapshot {
  const { metadata } = table;
  const snapshot = metadata.snapshots.find((candidate) => candidate.snapshotId === id);
  if (snapshot !== undefined) return snapshot;
  throw notFound(table, `has no snapshot ${id}`, metadata.snapshots.map(describe).reverse());
}

function notFound(
  { tableName, mayList }: AskedTable,
  problem: string,
  others: readonly string[],
): QueryError {
  const rest = mayList ? `; it has ${listed(others)}` : '';
  return new QueryError('SNAPSHOT_NOT_FOUND', `Table ${tableName} ${problem}${rest}.`);
}

interface LogEntry {
  readonly timestampMs: number;
  readonly snapshotId: bigint;
}

/** By the log of what was current when; tables without a log are asked for the ancestors of the current snapshot. */
function idAsOf(log: readonly LogEntry[], timestampMs: number): bigint | undefined {
  let latest: LogEntry | undefined;
  for (const entry of log)
    if (entry.timestampMs <= timestampMs && (latest === undefined || entry.timestampMs >= latest.timestampMs))
      latest = entry;
  return latest?.snapshotId;
}

function beforeFirst(
  table: AskedTable,
  { timestampMs, isEmptyBefore }: Extract<SnapshotPin, { kind: 'timestamp' }>,
  [earliest]: readonly LogEntry[],
): ResolvedSnapshot {
  const { metadata } = table;
  const first = metadata.snapshots.find(({ snapshotId }) => snapshotId === earliest?.snapshotId);
  const isWhole =
    earliest === undefined || (first?.parentSnapshotId === undefined && (first?.sequenceNumber ?? 2n) <= 1n);
  if (isEmptyBefore === true && isWhole)
    return { snapshot: undefined, schema: schemaById(metadata, first?.schemaId) };
  throw notFound(table, `had no snapshot at ${printTime(timestampMs)}`, metadata.snapshots.map(describe));
}

/** Oldest first. A chain that leads back into itself ends where it does. */
function ancestors(metadata: TableMetadata): readonly Snapshot[] {
  const byId = new Map(metadata.snapshots.map((snapshot) => [snapshot.snapshotId, snapshot]));
  const chain = new Set<Snapshot>();
  let next = metadata.currentSnapshotId;
  while (next !== undefined) {
    const snapshot = byId.get(next);
    if (snapshot === undefined || chain.has(snapshot)) break;
    chain.add(snapshot);
    next = snapshot.parentSnapshotId;
  }
  return [...chain].reverse();
}

/** Throws DATA_CORRUPT when the metadata does not have the schema; `undefined` is the current one. */
export function schemaById(metadata: TableMetadata, id: number | undefined): Schema {
  const wanted = id ?? metadata.currentSchemaId;
  const schema = metadata.schemas.find((candidate) => candidate.schemaId === wanted);
  if (schema !== undefined) return schema;
  throw new QueryError(
    'DATA_CORRUPT',
    `The metadata of table ${metadata.location} refers to schema ${wanted}, which it does not have.`,
  );
}

function describe(snapshot: Snapshot): string {
  return `${snapshot.snapshotId} (${printTime(snapshot.timestampMs)})`;
}

function printTime(timestampMs: number): string {
  const date = new Date(timestampMs);
  return Number.isNaN(date.getTime()) ? `${timestampMs} ms` : date.toISOString();
}

function listed(names: readonly string[]): string {
  if (names.length === 0) return 'none';
  const more = names.length > maxListed ? ` and ${names.length - maxListed} more` : '';
  return names.slice(0, maxListed).join(', ') + more;
}
