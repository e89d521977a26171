/** View metadata (Iceberg view specification, format version 1). As with tables, what is not known here is kept. */
import { QueryError } from '@svc/base';
import { JsonFields } from '../spec/json-fields.js';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  jsonNumber,
  parseJson,
  printJson,
} from '../spec/lossless-json.js';
import { parseSchema, printSchema } from '../spec/schema-json.js';
import type { NestedField, Schema } from '../spec/types.js';
import { assignFieldIds, type ColumnDefinition } from '../write/column-definition.js';

/** The dialect of the SQL that this service takes. */
export const viewDialect = 'duckdb';

export interface ViewRepresentation {
  readonly sql: string;
  readonly dialect: string;
}

export interface ViewVersion {
  readonly versionId: number;
  readonly schemaId: number;
  readonly timestampMs: number;
  readonly summary: ReadonlyMap<string, string>;
  /** One per dialect; those of other types than `sql` are left out. */
  readonly representations: readonly ViewRepresentation[];
  /** What unqualified names in the SQL mean. */
  readonly defaultCatalog: string | undefined;
  readonly defaultNamespace: readonly string[];
}

export interface ViewMetadata {
  readonly viewUuid: string;
  readonly location: string;
  readonly currentVersion: ViewVersion;
  /** Of the current version. */
  readonly schema: Schema;
  readonly properties: ReadonlyMap<string, string>;
  readonly json: JsonObject;
}

export interface ViewDefinition {
  readonly columns: readonly ColumnDefinition[];
  readonly representations: readonly ViewRepresentation[];
  readonly defaultCatalog?: string;
  readonly defaultNamespace: readonly string[];
  readonly properties?: Readonly<Record<string, string>>;
  /** Further entries of the version's summary, like `engine-name`. */
  readonly summary?: Readonly<Record<string, string>>;
}

const newestFormatVersion = 1;
const historyProperty = 'version.history.num-entries';
const keptVersions = 10;

/** Throws DATA_CORRUPT naming `source`, UNSUPPORTED_TABLE_FEATURE for a later format version. */
export function parseViewMetadata(bytes: Uint8Array, source: string): ViewMetadata {
  return viewMetadataOf(parseJson(bytes, source), source);
}

export function printViewMetadata(metadata: ViewMetadata): string {
  return printJson(metadata.json);
}

/** The SQL of a dialect, whose name is compared without regard to case. */
export function sqlOfView(metadata: ViewMetadata, dialect: string): string | undefined {
  const wanted = dialect.toLowerCase();
  return metadata.currentVersion.representations.find((each) => each.dialect.toLowerCase() === wanted)?.sql;
}

export function newViewMetadata(
  definition: ViewDefinition,
  place: { readonly viewUuid: string; readonly location: string },
  nowMs: number,
): ViewMetadata {
  const fields = checkedFields(definition);
  const json: JsonObject = {
    'view-uuid': place.viewUuid,
    'format-version': jsonNumber(newestFormatVersion),
    location: place.location,
    'current-version-id': jsonNumber(1),
    schemas: [printSchema({ schemaId: 0, fields, identifierFieldIds: [] })],
    versions: [printVersion(definition, 1, 0, nowMs)],
    'version-log': [printLogEntry(1, nowMs)],
    properties: definition.properties ?? {},
  };
  return viewMetadataOf(json, 'The view');
}

/**
 * The view with a new current version; its properties are added to those it has. Of the versions before, the property
 * `version.history.num-entries` (10) says how many are kept.
 */
export function replaceViewVersion(
  metadata: ViewMetadata,
  definition: ViewDefinition,
  nowMs: number,
): ViewMetadata {
  const schemas = objectsIn(metadata.json, 'schemas');
  const versions = objectsIn(metadata.json, 'versions');
  const fields = { fields: checkedFields(definition), identifierFieldIds: [] };
  const printed = printJson(printSchema({ schemaId: 0, ...fields }));
  const same = schemas.find((each) => printJson({ ...each, 'schema-id': jsonNumber(0) }) === printed);
  const schemaId = same === undefined ? highest(schemas, 'schema-id') + 1 : Number(String(same['schema-id']));
  const versionId = highest(versions, 'version-id') + 1;
  const timestampMs = Math.max(nowMs, metadata.currentVersion.timestampMs);
  const properties = { ...Object.fromEntries(metadata.properties), ...definition.properties };
  const kept = Number(/^[1-9]\d{0,8}$/.exec(properties[historyProperty] ?? '')?.[0] ?? keptVersions);
  const allVersions = [...versions, printVersion(definition, versionId, schemaId, timestampMs)].slice(-kept);
  const json: JsonObject = {
    ...metadata.json,
    'current-version-id': jsonNumber(versionId),
    schemas: same === undefined ? [...schemas, printSchema({ schemaId, ...fields })] : schemas,
    versions: allVersions,
    'version-log': keptLog(
      [...objectsIn(metadata.json, 'version-log'), printLogEntry(versionId, timestampMs)],
      allVersions,
    ),
    properties,
  };
  return viewMetadataOf(json, 'The view');
}

/** The same as `parseViewMetadata`, of JSON that is parsed already. */
export function viewMetadataOf(value: JsonValue, source: string): ViewMetadata {
  const json = new JsonFields(value, source);
  const formatVersion = json.integer('format-version');
  const viewUuid = json.string('view-uuid');
  if (formatVersion !== newestFormatVersion)
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `${source} is a view of format version ${formatVersion}; version ${newestFormatVersion} is read.`,
    );
  const currentId = json.integer('current-version-id');
  const currentVersion = json
    .objects('versions')
    .map(parseVersion)
    .find((version) => version.versionId === currentId);
  if (currentVersion === undefined)
    throw json.corrupt(`has the current version ${currentId}, which is not among its versions`);
  const schema = json
    .objects('schemas')
    .map((each) => parseSchema(each, 0))
    .find((each) => each.schemaId === currentVersion.schemaId);
  if (schema === undefined)
    throw json.corrupt(`has the schema ${currentVersion.schemaId}, which is not among its schemas`);
  return {
    viewUuid,
    location: json.string('location'),
    currentVersion,
    schema,
    properties: json.stringMap('properties'),
    json: json.json,
  };
}

function parseVersion(json: JsonFields): ViewVersion {
  return {
    versionId: json.integer('version-id'),
    schemaId: json.integer('schema-id'),
    timestampMs: json.integer('timestamp-ms'),
    summary: json.stringMap('summary'),
    representations: json
      .objects('representations')
      .filter((each) => each.string('type') === 'sql')
      .map((each) => ({ sql: each.string('sql'), dialect: each.string('dialect') })),
    defaultCatalog: json.optionalString('default-catalog'),
    defaultNamespace: json.strings('default-namespace') ?? [],
  };
}

function printVersion(
  definition: ViewDefinition,
  versionId: number,
  schemaId: number,
  timestampMs: number,
): JsonObject {
  const { defaultCatalog, defaultNamespace, representations, summary } = definition;
  return {
    'version-id': jsonNumber(versionId),
    'schema-id': jsonNumber(schemaId),
    'timestamp-ms': jsonNumber(timestampMs),
    summary: summary ?? {},
    representations: representations.map(({ sql, dialect }) => ({ type: 'sql', sql, dialect })),
    ...(defaultCatalog !== undefined && { 'default-catalog': defaultCatalog }),
    'default-namespace': defaultNamespace,
  };
}

function printLogEntry(versionId: number, timestampMs: number): JsonObject {
  return { 'timestamp-ms': jsonNumber(timestampMs), 'version-id': jsonNumber(versionId) };
}

/** What was current when can be told as far back as the versions are kept. */
function keptLog(log: readonly JsonObject[], versions: readonly JsonObject[]): readonly JsonObject[] {
  const ids = new Set(versions.map((each) => String(each['version-id'])));
  return log.slice(log.findLastIndex((entry) => !ids.has(String(entry['version-id']))) + 1);
}

/** A view may have the types of every format version. */
function checkedFields({ representations, columns }: ViewDefinition): readonly NestedField[] {
  const dialects = new Set(representations.map((each) => each.dialect.toLowerCase()));
  if (representations.length === 0 || dialects.size < representations.length)
    throw new QueryError('INVALID_ARGUMENT', 'A view needs SQL, and only one text for each dialect.');
  return assignFieldIds(columns, 3).fields;
}

function objectsIn(json: JsonObject, key: string): readonly JsonObject[] {
  const list = json[key];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function highest(objects: readonly JsonObject[], key: string): number {
  return objects.reduce((most, each) => Math.max(most, Number(String(each[key]))), 0);
}
