/** Delta tables, from the log in their folder. Only files of the log are opened. */
import { QueryError, throwIfAborted } from '@svc/base';
import type { SnapshotPin } from '../iceberg/scan/resolve-snapshot.js';
import type { ObjectStore, ReadOptions } from '../storage/object-store.js';
import type { AddedFile } from './log/actions.js';
import { listLog } from './log/list-log.js';
import { type LogFiles, segmentOf, sortLogFiles } from './log/log-files.js';
import { type Log, logFolderOf, type ReplayedLog, replayLog } from './log/replay.js';
import { versionAsOf } from './log/version-times.js';
import { checkProtocol, columnMappingMode } from './table/check-protocol.js';
import type { DeltaTable } from './table/delta-table.js';
import { recordCountOf } from './table/file-statistics.js';
import { parseDeltaSchema, partitionFields } from './table/parse-schema.js';

export interface LoadDeltaTableOptions {
  /** `id` is a version; Delta tables have no references. The latest version by default. */
  readonly pin?: SnapshotPin | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Whether a folder is a Delta table. */
export async function isDeltaTable(
  store: ObjectStore,
  location: string,
  options: ReadOptions = {},
): Promise<boolean> {
  const names = await listLog(store, logFolderOf(withoutSlash(location)), true, options);
  return names.some((name) => /^\d{20}\./.test(name));
}

/**
 * Throws TABLE_NOT_FOUND for a folder without a log, SNAPSHOT_NOT_FOUND naming the versions there are,
 * UNSUPPORTED_TABLE_FEATURE naming what the table asks of readers, DATA_CORRUPT and DATA_FILE_MISSING naming a file of
 * the log, and what the store throws.
 */
export async function loadDeltaTable(
  store: ObjectStore,
  location: string,
  { pin = { kind: 'current' }, signal }: LoadDeltaTableOptions = {},
): Promise<DeltaTable> {
  throwIfAborted(signal);
  const log: Log = {
    store,
    location: withoutSlash(location),
    options: signal === undefined ? {} : { signal },
  };
  const names = await listLog(store, logFolderOf(log.location), pin.kind !== 'current', log.options);
  const files = sortLogFiles(names, log.location);
  const version = await resolveVersion(log, files, pin);
  const replayed = await replayLog(log, segmentOf(files, version, log.location));
  return toTable(log, version, replayed);
}

async function resolveVersion(log: Log, files: LogFiles, pin: SnapshotPin): Promise<number> {
  switch (pin.kind) {
    case 'current':
      return files.latestVersion;
    case 'id':
      // Beyond every version that a log can have; segmentOf says which there are.
      return pin.snapshotId > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(pin.snapshotId);
    case 'timestamp':
      return await versionAsOf(log, files, pin.timestampMs);
    case 'reference':
      throw new QueryError(
        'SNAPSHOT_NOT_FOUND',
        `The Delta table ${log.location} has no branch or tag ${JSON.stringify(pin.name.slice(0, 200))}: Delta tables have versions.`,
      );
  }
}

function toTable({ store, location }: Log, version: number, replayed: ReplayedLog): DeltaTable {
  const { protocol, metadata, files, logFileCount } = replayed;
  checkProtocol(protocol, location);
  if (metadata.provider !== 'parquet')
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `The files of the Delta table ${location} have the format ${metadata.provider} (${metadata.source}); Parquet is read.`,
    );
  const mappingMode = columnMappingMode(protocol, metadata.configuration, metadata.source);
  const schema = parseDeltaSchema(metadata.schemaText, mappingMode, metadata.source);
  return {
    ...schema,
    location,
    uuid: metadata.id,
    name: metadata.name,
    description: metadata.description,
    version,
    partitionFields: partitionFields(schema.columns, metadata.partitionColumns, metadata.source),
    mappingMode,
    files,
    rowCount: countRows(files),
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    logFileCount,
    store,
  };
}

function countRows(files: readonly AddedFile[]): number | undefined {
  let rows = 0;
  for (const { statistics, deletionVector } of files) {
    const count = recordCountOf(statistics);
    if (count === undefined) return undefined;
    rows += Math.max(0, count - (deletionVector?.cardinality ?? 0));
  }
  return rows;
}

function withoutSlash(location: string): string {
  return location.replace(/(?<=.)\/+$/, '');
}
