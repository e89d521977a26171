import { gunzipSync } from 'node:zlib';
import { QueryError } from '@svc/base';
import { JsonFields } from './json-fields.js';
import { type JsonValue, parseJson, printJson } from './lossless-json.js';
import {
  type PartitionSpec,
  parsePartitionFields,
  parsePartitionSpec,
  parseSortOrder,
} from './partition-spec.js';
import { parseSchema } from './schema-json.js';
import {
  parseMetadataLogEntry,
  parseReference,
  parseSnapshot,
  parseSnapshotLogEntry,
  parseStatisticsFile,
  type Snapshot,
  type SnapshotReference,
} from './snapshot.js';
import type { TableMetadata } from './table-metadata.js';
import type { Schema } from './types.js';

const newestFormatVersion = 3;
/** What a compressed metadata file may grow to; more is taken for damage. */
const maxUncompressedBytes = 512 * 1024 * 1024;

/**
 * Parses a metadata file's bytes, gzip-compressed or not. Throws DATA_CORRUPT naming `source` and what is wrong in it,
 * UNSUPPORTED_TABLE_FEATURE for a later format version.
 */
export function parseTableMetadata(bytes: Uint8Array, source: string): TableMetadata {
  return tableMetadataOf(parseJson(decompress(bytes, source), source), source);
}

/** The same of JSON that is parsed already. */
export function tableMetadataOf(value: JsonValue, source: string): TableMetadata {
  const json = new JsonFields(value, source);
  const formatVersion = json.integer('format-version');
  if (formatVersion < 1) throw json.corrupt(`has the format version ${formatVersion}`);
  if (formatVersion > newestFormatVersion)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `${source} has format version ${formatVersion}; versions 1 to ${newestFormatVersion} are read.`,
    );
  const schemas = parseSchemas(json, formatVersion);
  const partitionSpecs = parseSpecs(json, formatVersion);
  const snapshots = (json.optionalObjects('snapshots') ?? []).map(parseSnapshot);
  const currentSnapshotId = parseCurrentSnapshotId(json, snapshots);
  const metadata: TableMetadata = {
    formatVersion,
    tableUuid: formatVersion === 1 ? (json.optionalString('table-uuid') ?? '') : json.string('table-uuid'),
    location: json.string('location'),
    lastSequenceNumber: formatVersion === 1 ? 0n : json.long('last-sequence-number'),
    lastUpdatedMs: json.integer('last-updated-ms'),
    lastColumnId: json.integer('last-column-id'),
    currentSchemaId: json.optionalInteger('current-schema-id') ?? schemas.at(-1)?.schemaId ?? 0,
    schemas,
    defaultSpecId: json.optionalInteger('default-spec-id') ?? partitionSpecs.at(-1)?.specId ?? 0,
    partitionSpecs,
    lastPartitionId: json.optionalInteger('last-partition-id') ?? highestPartitionId(partitionSpecs),
    defaultSortOrderId: json.optionalInteger('default-sort-order-id') ?? 0,
    sortOrders: (json.optionalObjects('sort-orders') ?? []).map(parseSortOrder),
    properties: json.stringMap('properties'),
    currentSnapshotId,
    snapshots,
    snapshotLog: (json.optionalObjects('snapshot-log') ?? []).map(parseSnapshotLogEntry),
    metadataLog: (json.optionalObjects('metadata-log') ?? []).map(parseMetadataLogEntry),
    refs: parseReferences(json, currentSnapshotId),
    statistics: (json.optionalObjects('statistics') ?? []).map(parseStatisticsFile),
    partitionStatistics: (json.optionalObjects('partition-statistics') ?? []).map(parseStatisticsFile),
    nextRowId: json.optionalLong('next-row-id'),
    json: json.json,
  };
  checkReferences(metadata, json);
  return metadata;
}

/** The metadata file's text: everything that was read, and what was changed. */
export function printTableMetadata(metadata: TableMetadata): string {
  return printJson(metadata.json);
}

function decompress(bytes: Uint8Array, source: string): Uint8Array {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUncompressedBytes });
  } catch (error) {
    throw new QueryError('DATA_CORRUPT', `${source} is not a valid gzip file: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}

function parseSchemas(json: JsonFields, formatVersion: number): readonly Schema[] {
  const list = json.optionalObjects('schemas');
  if (formatVersion > 1 || (list !== undefined && list.length > 0))
    return (list ?? json.objects('schemas')).map((schema) => parseSchema(schema));
  return [parseSchema(json.object('schema'), 0)];
}

function parseSpecs(json: JsonFields, formatVersion: number): readonly PartitionSpec[] {
  const list = json.optionalObjects('partition-specs');
  if (formatVersion > 1 || (list !== undefined && list.length > 0))
    return (list ?? json.objects('partition-specs')).map(parsePartitionSpec);
  return [{ specId: 0, fields: parsePartitionFields(json.objects('partition-spec')) }];
}

/** Some writers spell "none" as -1. */
function parseCurrentSnapshotId(json: JsonFields, snapshots: readonly Snapshot[]): bigint | undefined {
  const id = json.optionalLong('current-snapshot-id');
  if (id === undefined || id === -1n) return undefined;
  if (!snapshots.some((snapshot) => snapshot.snapshotId === id))
    throw json.corrupt(`has the current snapshot ${id}, which is not among its snapshots`);
  return id;
}

function parseReferences(
  json: JsonFields,
  current: bigint | undefined,
): ReadonlyMap<string, SnapshotReference> {
  const refs = new Map(json.objectMap('refs').map(([name, ref]) => [name, parseReference(ref)] as const));
  if (current !== undefined && !refs.has('main')) refs.set('main', { snapshotId: current, type: 'branch' });
  return refs;
}

function highestPartitionId(specs: readonly PartitionSpec[]): number {
  return specs.reduce(
    (highest, spec) => spec.fields.reduce((id, field) => Math.max(id, field.fieldId), highest),
    999,
  );
}

function checkReferences(metadata: TableMetadata, json: JsonFields): void {
  if (!metadata.schemas.some((schema) => schema.schemaId === metadata.currentSchemaId))
    throw json.corrupt(`has the current schema ${metadata.currentSchemaId}, which is not among its schemas`);
  if (!metadata.partitionSpecs.some((spec) => spec.specId === metadata.defaultSpecId))
    throw json.corrupt(
      `has the default partition spec ${metadata.defaultSpecId}, which is not among its specs`,
    );
}
