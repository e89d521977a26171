/**
 * Makes an existing Parquet file a table of format 2 by writing metadata around a copy of it. The table's folder is built
 * aside and renamed into place: it is there whole or not at all, whenever the process ends.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { QueryError } from '@svc/base';
import { applyUpdates } from '../../iceberg/changes/apply-updates.js';
import type { TypedPartitionSpec } from '../../iceberg/manifests/data-file.js';
import {
  type AddedDataFile,
  addedEntry,
  type DataFileMetrics,
  writeManifest,
  writeManifestList,
} from '../../iceberg/manifests/write-manifest.js';
import { nameMappingOf, nameMappingProperty } from '../../iceberg/spec/name-mapping.js';
import { printTableMetadata } from '../../iceberg/spec/parse-table-metadata.js';
import type { Snapshot } from '../../iceberg/spec/snapshot.js';
import type { NestedField, Schema } from '../../iceberg/spec/types.js';
import { appendUpdates } from '../../iceberg/write/append-files.js';
import { createTableUpdates } from '../../iceberg/write/create-table.js';
import { newSnapshotId } from '../../iceberg/write/new-snapshot-id.js';
import { appendSummary } from '../../iceberg/write/snapshot-summary.js';
import { fileError } from '../../storage/file-errors.js';
import { createFileStore } from '../../storage/file-store.js';
import { toLocalPath } from '../../storage/local-path.js';
import { syncFolder } from '../../storage/sync-folder.js';
import type { TableIdentifier } from '../catalog.js';
import { asideFolder, lastChange, removeStale } from './aside-folder.js';
import { copyFile } from './copy-file.js';
import { folderOfName } from './folder-name.js';
import { versionHintFile } from './metadata-file.js';

/** The file as its footer describes it (parquet/inspect-parquet.ts). */
export interface ParquetFileToRegister {
  readonly location: string;
  readonly sizeBytes: number;
  readonly fields: readonly NestedField[];
  readonly lastColumnId: number;
  /** False: the table gets a name mapping, so that the file's columns are found by name. */
  readonly idsAreInFile: boolean;
  readonly metrics: DataFileMetrics;
}

export interface RegisterParquetTableOptions {
  /** The catalog's folder; it is made when it does not exist. */
  readonly root: string;
  readonly identifier: TableIdentifier;
  readonly file: ParquetFileToRegister;
  readonly properties?: Readonly<Record<string, string>>;
  readonly onProgress?: (progress: { readonly copiedBytes: number; readonly totalBytes: number }) => void;
  readonly signal?: AbortSignal;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface RegisteredTable {
  readonly location: string;
  readonly metadataLocation: string;
}

const formatVersion = 2;
const firstSequenceNumber = 1n;

/**
 * Throws COMMIT_CONFLICT when the table exists already, INVALID_ARGUMENT for a name that no folder can have,
 * DATA_FILE_MISSING, DISK_FULL, and DATA_CORRUPT when the file changed since it was inspected.
 */
export async function registerParquetTable(options: RegisterParquetTableOptions): Promise<RegisteredTable> {
  const { parent, name } = tableFolder(options);
  const target = join(parent, name);
  const now = (options.now ?? Date.now)();
  const aside = asideFolder(parent, 'registering');
  try {
    await mkdir(parent, { recursive: true });
    await removeStale(parent, now);
    if (await isPresent(target)) throw alreadyExists(options.identifier);
    await mkdir(join(aside, 'data'), { recursive: true });
    const metadataFile = await buildTable(aside, target, options, now);
    await publish(aside, target, options.identifier);
    return { location: target, metadataLocation: `${target}/metadata/${metadataFile}` };
  } catch (error) {
    throw fileError(target, error);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

function tableFolder({ root, identifier }: RegisterParquetTableOptions): {
  readonly parent: string;
  readonly name: string;
} {
  const folders = [...identifier.namespace, identifier.name].map((level) => {
    const folder = folderOfName(level);
    if (folder === undefined)
      throw new QueryError(
        'INVALID_ARGUMENT',
        `${JSON.stringify(level)} cannot be the name of a schema or table.`,
      );
    return folder;
  });
  return { parent: join(resolve(root), ...folders.slice(0, -1)), name: folders.at(-1) ?? '' };
}

/** Writes everything into `aside`, with the locations it will have in `target`. Answers the metadata file's name. */
async function buildTable(
  aside: string,
  target: string,
  options: RegisterParquetTableOptions,
  now: number,
): Promise<string> {
  const { file, signal } = options;
  const store = createFileStore();
  const put = async (path: string, body: Uint8Array | string): Promise<string> => {
    await store.write(
      `${aside}/${path}`,
      typeof body === 'string' ? Buffer.from(body) : body,
      signal && { signal },
    );
    return `${target}/${path}`;
  };
  const dataFile = `data/00000-0-${randomUUID()}.parquet`;
  await copyDataFile(join(aside, dataFile), options);
  const schema: Schema = { schemaId: 0, fields: file.fields, identifierFieldIds: [] };
  const partitionSpec: TypedPartitionSpec = { spec: { specId: 0, fields: [] }, types: [] };
  const snapshotId = newSnapshotId();
  const added: AddedDataFile = {
    location: `${target}/${dataFile}`,
    sizeBytes: file.sizeBytes,
    partition: [],
    metrics: file.metrics,
  };
  const written = {
    formatVersion,
    schema,
    partitionSpec,
    snapshotId,
    sequenceNumber: firstSequenceNumber,
    sync: randomBytes(16),
  };
  const manifestPath = `metadata/${randomUUID()}-m0.avro`;
  const { bytes, manifest } = writeManifest({
    ...written,
    location: `${target}/${manifestPath}`,
    entries: [addedEntry(added, snapshotId)],
  });
  await put(manifestPath, bytes);
  const list = writeManifestList({ ...written, parentSnapshotId: undefined, manifests: [manifest] });
  const manifestList = await put(`metadata/snap-${snapshotId}-1-${randomUUID()}.avro`, list);
  const creation = createTableUpdates({
    tableUuid: randomUUID(),
    location: target,
    formatVersion,
    schema,
    lastColumnId: file.lastColumnId,
    partitionSpec: partitionSpec.spec,
    properties: {
      ...options.properties,
      ...(!file.idsAreInFile && { [nameMappingProperty]: nameMappingOf(file.fields) }),
    },
  });
  const snapshot: Snapshot = {
    snapshotId,
    parentSnapshotId: undefined,
    sequenceNumber: firstSequenceNumber,
    timestampMs: now,
    manifestList,
    manifests: undefined,
    schemaId: schema.schemaId,
    operation: 'append',
    summary: appendSummary(undefined, [added], {}),
    firstRowId: undefined,
  };
  const metadata = applyUpdates(undefined, [...creation, ...appendUpdates(snapshot, undefined)], now);
  await put('metadata/v1.metadata.json', printTableMetadata(metadata));
  await put(`metadata/${versionHintFile}`, '1');
  return 'v1.metadata.json';
}

/** A copy, never a link: the file may lie in a package's folder, which an update or removal of the package would change. */
async function copyDataFile(target: string, options: RegisterParquetTableOptions): Promise<void> {
  const { location, sizeBytes } = options.file;
  const copied = await copyFile(toLocalPath(location), target, {
    signal: options.signal,
    onCopied: (copiedBytes) => options.onProgress?.({ copiedBytes, totalBytes: sizeBytes }),
  });
  if (copied !== sizeBytes)
    throw new QueryError(
      'DATA_CORRUPT',
      `${location} has ${copied} bytes, but had ${sizeBytes} when its footer was read.`,
    );
}

/** Renaming a folder over one that has something in it fails, so of two registrations at one time one wins. */
async function publish(aside: string, target: string, identifier: TableIdentifier): Promise<void> {
  try {
    await syncFolder(join(aside, 'data'));
    await syncFolder(aside);
    await rename(aside, target);
    await syncFolder(dirname(target));
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === 'ENOTEMPTY' || code === 'EEXIST') throw alreadyExists(identifier);
    throw error;
  }
}

function alreadyExists({ namespace, name }: TableIdentifier): QueryError {
  return new QueryError(
    'COMMIT_CONFLICT',
    `Table ${JSON.stringify([...namespace, name].join('.'))} exists already.`,
    {
      retryable: false,
    },
  );
}

async function isPresent(path: string): Promise<boolean> {
  return (await lastChange(path)) !== undefined;
}
