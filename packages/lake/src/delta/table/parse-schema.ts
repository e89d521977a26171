/** Schemas in Delta's JSON (protocol, "Schema Serialization Format") as columns in the vocabulary of the lake. */
import { QueryError } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { parseJson } from '../../iceberg/spec/lossless-json.js';
import type { IcebergType, NestedField, PrimitiveType } from '../../iceberg/spec/types.js';
import type { ColumnMappingMode } from './check-protocol.js';
import { checkTypeChanges } from './type-changes.js';

export interface DeltaSchema {
  readonly columns: readonly NestedField[];
  /** Names that the fields have in data files and in the log, by id: those of columns and of fields of structs. */
  readonly physicalNames: ReadonlyMap<number, string>;
  /** Of fields that are in no list or map: where their statistics stand. */
  readonly physicalPaths: ReadonlyMap<number, readonly string[]>;
  /** Fields whose type was changed: statistics of older files are in the older type. */
  readonly changedTypes: ReadonlySet<number>;
}

/** Deeper types are taken for damage: reading them recursively could exhaust the stack. */
const maxTypeDepth = 100;
const idKey = 'delta.columnMapping.id';
const nameKey = 'delta.columnMapping.physicalName';

interface Parsing {
  readonly mode: ColumnMappingMode;
  readonly source: string;
  lastId: number;
  readonly usedIds: Set<number>;
  readonly physicalNames: Map<number, string>;
  readonly physicalPaths: Map<number, readonly string[]>;
  readonly changedTypes: Set<number>;
}

/**
 * Ids are those of the column mapping, where there is one, else they are given out in the order of the schema. Throws
 * DATA_CORRUPT naming `source`, UNSUPPORTED_TABLE_FEATURE for a change of type that is not read.
 */
export function parseDeltaSchema(text: string, mode: ColumnMappingMode, metadataSource: string): DeltaSchema {
  const source = `${metadataSource}: schemaString`;
  const json = new JsonFields(parseJson(text, source), source);
  if (json.string('type') !== 'struct') throw json.corrupt('is not a struct');
  const parsing: Parsing = {
    mode,
    source,
    lastId: 0,
    usedIds: new Set(),
    physicalNames: new Map(),
    physicalPaths: new Map(),
    changedTypes: new Set(),
  };
  // Ids of list elements, keys and values are made up: above those that the schema gives.
  if (mode !== 'none') parsing.lastId = largestId(json, 0);
  const columns = parseFields(json, parsing, [], 0);
  if (columns.length === 0) throw json.corrupt('has no columns');
  const { physicalNames, physicalPaths, changedTypes } = parsing;
  return { columns, physicalNames, physicalPaths, changedTypes };
}

/** `path` is `undefined` inside lists and maps. */
function parseFields(
  json: JsonFields,
  parsing: Parsing,
  path: readonly string[] | undefined,
  depth: number,
): readonly NestedField[] {
  const names = new Set<string>();
  const physicalNames = new Set<string>();
  const fields: NestedField[] = [];
  for (const field of json.objects('fields')) {
    const name = field.string('name');
    if (names.has(name.toLowerCase())) throw field.corrupt(`has the name ${name} of another field`);
    names.add(name.toLowerCase());
    if (isVoid(field)) continue; // Readers leave columns without a type out.
    const metadata = field.optionalObject('metadata');
    const physicalName = parsing.mode === 'none' ? name : metadata?.optionalString(nameKey);
    if (physicalName === undefined) throw field.corrupt(`has no ${nameKey}`);
    if (physicalNames.has(physicalName))
      throw field.corrupt(`has the physical name ${physicalName} of another field`);
    physicalNames.add(physicalName);
    const id = parsing.mode === 'none' ? nextId(parsing) : givenId(field, metadata, parsing);
    const fieldPath = path && [...path, physicalName];
    parsing.physicalNames.set(id, physicalName);
    if (fieldPath !== undefined) parsing.physicalPaths.set(id, fieldPath);
    if (metadata !== undefined && checkTypeChanges(metadata, name)) parsing.changedTypes.add(id);
    const type = parseType(field, 'type', parsing, fieldPath, depth);
    const doc = metadata?.get('comment');
    fields.push({
      id,
      name,
      required: field.optionalBoolean('nullable') === false,
      type,
      ...(typeof doc === 'string' && { doc }),
    });
  }
  return fields;
}

function isVoid(field: JsonFields): boolean {
  const type = field.get('type');
  return type === 'void' || type === 'null';
}

function nextId(parsing: Parsing): number {
  parsing.lastId += 1;
  return parsing.lastId;
}

function givenId(field: JsonFields, metadata: JsonFields | undefined, { usedIds }: Parsing): number {
  const id = metadata?.optionalInteger(idKey);
  if (id === undefined || id < 0 || id >= 2 ** 31) throw field.corrupt(`has no ${idKey}`);
  if (usedIds.has(id)) throw field.corrupt(`has the ${idKey} ${id} of another field`);
  usedIds.add(id);
  return id;
}

function largestId(json: JsonFields, depth: number): number {
  if (depth > maxTypeDepth) throw json.corrupt(`is nested deeper than ${maxTypeDepth} levels`);
  let largest = 0;
  for (const field of json.optionalObjects('fields') ?? []) {
    const own = field.optionalObject('metadata')?.optionalInteger(idKey) ?? 0;
    largest = Math.max(largest, own, largestIn(field, 'type', depth));
  }
  for (const key of ['elementType', 'keyType', 'valueType'])
    largest = Math.max(largest, largestIn(json, key, depth));
  return largest;
}

function largestIn(owner: JsonFields, key: string, depth: number): number {
  const type = owner.get(key);
  return type === undefined || typeof type === 'string' ? 0 : largestId(owner.object(key), depth + 1);
}

function parseType(
  owner: JsonFields,
  key: string,
  parsing: Parsing,
  path: readonly string[] | undefined,
  depth: number,
): IcebergType {
  if (depth > maxTypeDepth) throw owner.corrupt(`is nested deeper than ${maxTypeDepth} levels`);
  const value = owner.get(key);
  if (typeof value === 'string') return parsePrimitive(value);
  const json = owner.object(key);
  const kind = json.string('type');
  switch (kind) {
    case 'struct':
      return { kind, fields: parseFields(json, parsing, path, depth + 1) };
    case 'array':
      return {
        kind: 'list',
        elementId: nextId(parsing),
        elementRequired: json.optionalBoolean('containsNull') === false,
        element: parseType(json, 'elementType', parsing, undefined, depth + 1),
      };
    case 'map':
      return {
        kind,
        keyId: nextId(parsing),
        key: parseType(json, 'keyType', parsing, undefined, depth + 1),
        valueId: nextId(parsing),
        valueRequired: json.optionalBoolean('valueContainsNull') === false,
        value: parseType(json, 'valueType', parsing, undefined, depth + 1),
      };
    default:
      return { kind: 'unsupported', text: kind };
  }
}

const primitives: ReadonlyMap<string, PrimitiveType> = new Map([
  ['string', { kind: 'string' }],
  ['long', { kind: 'long' }],
  ['integer', { kind: 'int' }],
  ['short', { kind: 'int' }],
  ['byte', { kind: 'int' }],
  ['float', { kind: 'float' }],
  ['double', { kind: 'double' }],
  ['boolean', { kind: 'boolean' }],
  ['binary', { kind: 'binary' }],
  ['date', { kind: 'date' }],
  ['timestamp', { kind: 'timestamptz' }],
  ['timestamp_ntz', { kind: 'timestamp' }],
  ['decimal', { kind: 'decimal', precision: 10, scale: 0 }],
]);

/** A type that is not known is kept by its text: it is refused where a column of it is read. */
function parsePrimitive(text: string): PrimitiveType {
  const known = primitives.get(text);
  if (known !== undefined) return known;
  if (/^(?:var)?char\(\d+\)$/.test(text)) return { kind: 'string' };
  const [, precision, scale] = /^decimal\(\s*(\d+)\s*,\s*(-?\d+)\s*\)$/.exec(text) ?? [];
  const decimal = { kind: 'decimal', precision: Number(precision), scale: Number(scale) } as const;
  const isValid =
    decimal.precision >= 1 &&
    decimal.precision <= 38 &&
    decimal.scale >= 0 &&
    decimal.scale <= decimal.precision;
  return isValid ? decimal : { kind: 'unsupported', text };
}

/** Columns by the names of `partitionColumns`. Throws DATA_CORRUPT for one that the schema does not have. */
export function partitionFields(
  columns: readonly NestedField[],
  names: readonly string[],
  source: string,
): readonly NestedField[] {
  return names.map((name) => {
    const field = columns.find((column) => column.name === name);
    if (field !== undefined) return field;
    throw new QueryError(
      'DATA_CORRUPT',
      `${source}: partitionColumns has ${name}, which is no column of the schema.`,
    );
  });
}
