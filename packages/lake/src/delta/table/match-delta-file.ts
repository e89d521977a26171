/** Which column of a data file is which field of a Delta table (protocol, "Column Mapping"). */
import { QueryError } from '@svc/base';
import type { IcebergType, NestedField } from '../../iceberg/spec/types.js';
import { type FileField, type FileType, fileFields } from '../../parquet/file-type.js';
import type { ParquetSchema } from '../../parquet/schema.js';
import type { MatchedFile } from '../../scan/column-mapping.js';
import { fieldsById, type MatchedField } from '../../scan/field-matching.js';
import type { DeltaTable } from './delta-table.js';

/**
 * By field id in the mapping mode `id`, else by physical name, whatever ids a file has. Partition columns are in no file:
 * their values are those of the log. Throws DATA_CORRUPT in mode `id` for a file without ids.
 */
export function matchDeltaFile(table: DeltaTable, schema: ParquetSchema, location: string): MatchedFile {
  const isById = table.mappingMode === 'id';
  if (isById && !schema.hasFieldIds)
    throw new QueryError(
      'DATA_CORRUPT',
      `The data file ${location} has no field ids, by which the Delta table ${table.location} finds its columns (delta.columnMapping.mode is id).`,
    );
  const inFile = fileFields(schema.root);
  const named = isById ? inFile : withIdsOf(table.columns, inFile, table.physicalNames);
  const byId = new Map<number, MatchedField>(fieldsById(named, undefined));
  for (const { id } of table.partitionFields) byId.delete(id);
  return { schema, inFile: byId, hasIds: true };
}

type PhysicalNames = ReadonlyMap<number, string>;

/** The file's fields under the ids of the table's fields of the same physical name; the others have none. */
function withIdsOf(
  fields: readonly NestedField[],
  inFile: readonly FileField[],
  physicalNames: PhysicalNames,
): readonly FileField[] {
  const matches = new Map<FileField, NestedField>();
  for (const field of fields) {
    const found = findByName(inFile, physicalNames.get(field.id) ?? field.name);
    if (found !== undefined) matches.set(found, field);
  }
  return inFile.map((there) => {
    const field = matches.get(there);
    if (field === undefined) return { ...there, fieldId: undefined };
    return { ...there, fieldId: field.id, type: typeWithIds(field.type, there.type, physicalNames) };
  });
}

/** Spelled exactly, or else the only one that differs in case. */
function findByName(inFile: readonly FileField[], name: string): FileField | undefined {
  const exact = inFile.find((field) => field.name === name);
  if (exact !== undefined) return exact;
  const similar = inFile.filter((field) => field.name.toLowerCase() === name.toLowerCase());
  return similar.length === 1 ? similar[0] : undefined;
}

function typeWithIds(type: IcebergType, inFile: FileType, physicalNames: PhysicalNames): FileType {
  const inner = (innerType: IcebergType, field: FileField): FileField => ({
    ...field,
    type: typeWithIds(innerType, field.type, physicalNames),
  });
  if (type.kind === 'struct' && inFile.kind === 'struct')
    return { kind: 'struct', fields: withIdsOf(type.fields, inFile.fields, physicalNames) };
  if (type.kind === 'list' && inFile.kind === 'list')
    return { kind: 'list', element: inner(type.element, inFile.element) };
  if (type.kind === 'map' && inFile.kind === 'map')
    return { kind: 'map', key: inner(type.key, inFile.key), value: inner(type.value, inFile.value) };
  return inFile;
}
