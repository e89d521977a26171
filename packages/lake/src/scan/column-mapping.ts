/**
 * Makes a table's columns from a data file's: renamed, reordered, added, dropped and promoted since the file was
 * written (table specification, "Schema Evolution" and "Column Projection"). Depends on the file's schema only, so
 * files of one schema share it.
 */
import { QueryError } from '@svc/base';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import { lastUpdatedField, rowIdField } from '../iceberg/spec/row-lineage.js';
import { isPrimitive, printType } from '../iceberg/spec/type-text.js';
import type { IcebergType, ListType, MapType, NestedField, StructType } from '../iceberg/spec/types.js';
import { type FileField, type FileType, fileFields } from '../parquet/file-type.js';
import type { ParquetLeaf, ParquetSchema } from '../parquet/schema.js';
import { displayLocation } from '../storage/display-location.js';
import { fieldsById, innerMapping, type MatchedField, type NameMapping } from './field-matching.js';
import { plainJson } from './plain-json.js';
import { readConversion } from './read-conversion.js';
import type { ColumnSource } from './table-scan.js';

export interface MappingRequest {
  /** The table's columns. */
  readonly fields: readonly NestedField[];
  /** Ids of the columns to read; all others are NULL. */
  readonly wanted: ReadonlySet<number>;
  /** Values of identity partition fields by source id: they stand in for columns that the file lacks. */
  readonly partitionValues: ReadonlyMap<number, JsonValue>;
}

export interface ColumnMapping {
  /** One for each of the table's columns. */
  readonly sources: readonly ColumnSource[];
  /** Top-level names of the physical columns that the sources read. */
  readonly columnNames: readonly string[];
  /** The file's columns of primitive fields (also inside structs); `null`: NULL in all rows. Unlisted: unknown. */
  readonly leaves: ReadonlyMap<number, ParquetLeaf | null>;
}

/** A file's schema with its top-level columns by the table's field ids. */
export interface MatchedFile {
  readonly schema: ParquetSchema;
  readonly inFile: ReadonlyMap<number, MatchedField>;
  /** Whether there is anything to tell the columns' ids by. */
  readonly hasIds: boolean;
}

export function matchFile(schema: ParquetSchema, nameMapping: NameMapping | undefined): MatchedFile {
  return {
    schema,
    inFile: fieldsById(fileFields(schema.root), nameMapping),
    hasIds: schema.hasFieldIds || nameMapping !== undefined,
  };
}

/**
 * Throws UNSUPPORTED_TABLE_FEATURE for a file that has neither field ids nor a name mapping (its columns would have to
 * be guessed), and DATA_CORRUPT when a column cannot have the table's type. `location` is for messages.
 */
export function mapColumns(request: MappingRequest, file: MatchedFile, location: string): ColumnMapping {
  const { fields, wanted, partitionValues } = request;
  const { schema, inFile } = file;
  if (!file.hasIds && wanted.size > 0) throw noIdsError(location);
  const columnNames = new Set<string>();
  const leaves = new Map<number, ParquetLeaf | null>();
  const sources = fields.map((field): ColumnSource => {
    const matched = inFile.get(field.id);
    const standIn = matched === undefined ? partitionValues.get(field.id) : undefined;
    if (standIn === undefined) collectLeaves(field, matched, leaves);
    if (!wanted.has(field.id)) return { kind: 'constant', value: null, type: field.type };
    if (standIn !== undefined) return { kind: 'constant', value: plainJson(standIn), type: field.type };
    if (matched === undefined) return inherited(field, undefined) ?? missing(field);
    columnNames.add(matched.field.name);
    const source = mapField(field.type, matched, matched.field.name, { location, path: field.name });
    return inherited(field, source) ?? source;
  });
  checkNames(columnNames, schema, location);
  return { sources, columnNames: [...columnNames].sort(), leaves };
}

/** For messages. */
interface Place {
  readonly location: string;
  readonly path: string;
}

function mapField(type: IcebergType, matched: MatchedField, name: string, place: Place): ColumnSource {
  const fileType = matched.field.type;
  switch (type.kind) {
    case 'struct':
      if (fileType.kind !== 'struct') throw mismatch(type, fileType, place);
      return mapStruct(type, fileType.fields, matched.mapping, name, place);
    case 'list':
      if (fileType.kind !== 'list') throw mismatch(type, fileType, place);
      return mapList(type, fileType.element, matched.mapping, name, place);
    case 'map':
      if (fileType.kind !== 'map') throw mismatch(type, fileType, place);
      return mapMap(type, fileType, matched.mapping, name, place);
    case 'unsupported':
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `Column ${place.path} has the type ${type.text}, which this version does not read.`,
      );
    default: {
      const conversion = fileType.kind === 'primitive' ? readConversion(type, fileType.leaf) : undefined;
      if (conversion === undefined) throw mismatch(type, fileType, place);
      return { kind: 'column', name, ...conversion, type };
    }
  }
}

function mapStruct(
  type: StructType,
  fileFieldsOfStruct: readonly FileField[],
  mapping: NameMapping | undefined,
  name: string,
  place: Place,
): ColumnSource {
  checkStructNames(fileFieldsOfStruct, place);
  const inFile = fieldsById(fileFieldsOfStruct, mapping);
  const fields = type.fields.map((field) => {
    const matched = inFile.get(field.id);
    const source =
      matched === undefined
        ? missing(field)
        : mapField(field.type, matched, matched.field.name, inside(place, field.name));
    return { name: field.name, source };
  });
  const isSame =
    fields.length === fileFieldsOfStruct.length &&
    fields.every(({ name: wanted, source }, index) => {
      const there = fileFieldsOfStruct[index]?.name;
      return isExactly(source) && source.kind === 'column' && source.name === wanted && there === wanted;
    });
  return isSame ? { kind: 'column', name, isExactType: true, type } : { kind: 'struct', name, fields, type };
}

function mapList(
  type: ListType,
  elementInFile: FileField,
  mapping: NameMapping | undefined,
  name: string,
  place: Place,
): ColumnSource {
  const matched = { field: elementInFile, mapping: innerMapping(mapping, 'element') };
  const element = mapField(type.element, matched, 'element', inside(place, 'element'));
  if (isExactly(element)) return { kind: 'column', name, isExactType: true, type };
  return { kind: 'list', name, element, type };
}

function mapMap(
  type: MapType,
  inFile: Extract<FileType, { kind: 'map' }>,
  mapping: NameMapping | undefined,
  name: string,
  place: Place,
): ColumnSource {
  const keyMatch = { field: inFile.key, mapping: innerMapping(mapping, 'key') };
  const valueMatch = { field: inFile.value, mapping: innerMapping(mapping, 'value') };
  const key = mapField(type.key, keyMatch, 'key', inside(place, 'key'));
  const value = mapField(type.value, valueMatch, 'value', inside(place, 'value'));
  if (isExactly(key) && isExactly(value)) return { kind: 'column', name, isExactType: true, type };
  return { kind: 'map', name, key, value, type };
}

function inherited({ id, type }: NestedField, stored: ColumnSource | undefined): ColumnSource | undefined {
  if (id === rowIdField.id) return { kind: 'row-id', stored, type };
  return id === lastUpdatedField.id ? { kind: 'sequence-number', stored, type } : undefined;
}

function isExactly(source: ColumnSource): boolean {
  return source.kind === 'column' && source.isExactType;
}

function missing(field: NestedField): ColumnSource {
  return { kind: 'constant', value: plainJson(field.initialDefault ?? null), type: field.type };
}

/** Only through structs: what is inside lists and maps has no one value per row. */
function collectLeaves(
  field: NestedField,
  matched: MatchedField | undefined,
  into: Map<number, ParquetLeaf | null>,
): void {
  if (matched === undefined) {
    if (field.initialDefault === undefined) collectNulls(field, into);
    return;
  }
  const inFile = matched.field.type;
  if (field.type.kind === 'struct' && inFile.kind === 'struct') {
    const byId = fieldsById(inFile.fields, matched.mapping);
    for (const inner of field.type.fields) collectLeaves(inner, byId.get(inner.id), into);
  } else if (isPrimitive(field.type) && inFile.kind === 'primitive') into.set(field.id, inFile.leaf);
}

function collectNulls(field: NestedField, into: Map<number, null | ParquetLeaf>): void {
  if (field.type.kind === 'struct')
    for (const inner of field.type.fields) collectLeaves(inner, undefined, into);
  else into.set(field.id, null);
}

function inside({ location, path }: Place, name: string): Place {
  return { location, path: `${path}.${name}` };
}

/** The engine tells names apart without regard to case and would silently rename one of two such columns. */
function checkNames(needed: ReadonlySet<string>, schema: ParquetSchema, location: string): void {
  const counts = new Map<string, number>();
  for (const { name } of schema.root.children)
    counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  for (const name of needed) if ((counts.get(name.toLowerCase()) ?? 0) > 1) throw ambiguous(name, location);
}

function checkStructNames(fields: readonly FileField[], { location, path }: Place): void {
  const seen = new Set<string>();
  for (const { name } of fields) {
    if (seen.has(name.toLowerCase())) throw ambiguous(`${path}.${name}`, location);
    seen.add(name.toLowerCase());
  }
}

function ambiguous(name: string, location: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The data file ${displayLocation(location)} has more than one column named ${name}, apart from upper and lower case.`,
  );
}

function noIdsError(location: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `The data file ${displayLocation(location)} has no field ids, and the table has no property schema.name-mapping.default that would say which column is which.`,
  );
}

function mismatch(type: IcebergType, fileType: FileType, { location, path }: Place): QueryError {
  if (fileType.kind === 'unreadable')
    return new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `Column ${path} of the data file ${displayLocation(location)} is a ${type.kind} in a layout that cannot be read.`,
    );
  const found = fileType.kind === 'primitive' ? describeLeaf(fileType.leaf) : `a ${fileType.kind}`;
  return new QueryError(
    'DATA_CORRUPT',
    `Column ${path} is ${printType(type)} in the table, but ${found} in the data file ${displayLocation(location)}.`,
  );
}

function describeLeaf({ physical, logical }: ParquetLeaf): string {
  return logical === undefined ? physical : `${physical} (${logical.kind})`;
}
