import { QueryError } from '@svc/base';
import type { IcebergType, NestedField, PrimitiveType } from '../iceberg/spec/types.js';
import { displayLocation } from '../storage/display-location.js';
import { type FileField, type FileType, fileFields } from './file-type.js';
import type { ParquetLeaf, ParquetSchema } from './schema.js';

export interface InferredSchema {
  readonly fields: readonly NestedField[];
  readonly lastColumnId: number;
  /** Whether the ids stand in the file; otherwise a table needs a name mapping to read it. */
  readonly idsAreInFile: boolean;
  /** The file's columns by field id; without those inside lists and maps. */
  readonly leaves: ReadonlyMap<number, ParquetLeaf>;
  /** Field ids of all columns of the file by their number. */
  readonly idsOfColumns: ReadonlyMap<number, number>;
}

interface Inference {
  readonly location: string;
  readonly takesIds: boolean;
  lastId: number;
  readonly usedIds: Set<number>;
  readonly leaves: Map<number, ParquetLeaf>;
  readonly idsOfColumns: Map<number, number>;
}

/**
 * The table schema that a file's own would be. Ids are the file's where all of its fields have one, else they are
 * given out level by level. Throws UNSUPPORTED_TABLE_FEATURE naming a column of a type that tables do not have.
 */
export function inferSchema(schema: ParquetSchema, location: string): InferredSchema {
  const inference: Inference = {
    location,
    takesIds: schema.hasFieldIds,
    lastId: 0,
    usedIds: new Set(),
    leaves: new Map(),
    idsOfColumns: new Map(),
  };
  const fields = inferFields(fileFields(schema.root), inference, '', true);
  return {
    fields,
    lastColumnId: Math.max(0, ...inference.usedIds),
    idsAreInFile: schema.hasFieldIds,
    leaves: inference.leaves,
    idsOfColumns: inference.idsOfColumns,
  };
}

/** The file's columns at the top level whose values are of a table's primitive types, numbered; others are left out. */
export function flatColumns(schema: ParquetSchema): {
  readonly fields: readonly NestedField[];
  readonly leaves: ReadonlyMap<number, ParquetLeaf>;
} {
  const leaves = new Map<number, ParquetLeaf>();
  const fields = fileFields(schema.root).flatMap(({ name, isRequired, type }, index): NestedField[] => {
    const inferred = type.kind === 'primitive' ? inferPrimitive(type.leaf) : undefined;
    if (type.kind !== 'primitive' || inferred === undefined) return [];
    leaves.set(index + 1, type.leaf);
    return [{ id: index + 1, name, required: isRequired, type: inferred }];
  });
  return { fields, leaves };
}

function inferFields(
  fields: readonly FileField[],
  inference: Inference,
  prefix: string,
  isSingle: boolean,
): NestedField[] {
  const ids = fields.map((field) => nextId(field, `${prefix}${field.name}`, inference));
  return fields.map((field, index) => {
    const id = ids[index] ?? 0;
    const type = inferType(field.type, id, inference, `${prefix}${field.name}`, isSingle);
    return { id, name: field.name, required: field.isRequired, type };
  });
}

function inferType(
  type: FileType,
  id: number,
  inference: Inference,
  path: string,
  isSingle: boolean,
): IcebergType {
  switch (type.kind) {
    case 'primitive': {
      const inferred = inferPrimitive(type.leaf);
      if (inferred === undefined) throw unsupported(path, inference.location);
      if (isSingle) inference.leaves.set(id, type.leaf);
      inference.idsOfColumns.set(type.leaf.column, id);
      return inferred;
    }
    case 'struct':
      return { kind: 'struct', fields: inferFields(type.fields, inference, `${path}.`, isSingle) };
    case 'list': {
      const { element } = type;
      const elementId = nextId(element, `${path}.element`, inference);
      const inner = inferType(element.type, elementId, inference, `${path}.element`, false);
      return { kind: 'list', elementId, elementRequired: element.isRequired, element: inner };
    }
    case 'map': {
      const { key, value } = type;
      const keyId = nextId(key, `${path}.key`, inference);
      const valueId = nextId(value, `${path}.value`, inference);
      return {
        kind: 'map',
        keyId,
        key: inferType(key.type, keyId, inference, `${path}.key`, false),
        valueId,
        valueRequired: value.isRequired,
        value: inferType(value.type, valueId, inference, `${path}.value`, false),
      };
    }
    case 'unreadable':
      throw unsupported(path, inference.location);
  }
}

function nextId(field: FileField, path: string, inference: Inference): number {
  const { location, usedIds, takesIds } = inference;
  if (!takesIds) inference.lastId += 1;
  const id = takesIds ? field.fieldId : inference.lastId;
  if (id === undefined || usedIds.has(id))
    throw new QueryError(
      'UNSUPPORTED_TABLE_FEATURE',
      `${path} of ${displayLocation(location)} has ${id === undefined ? 'no field id, though other fields have one' : `the same field id (${id}) as another field`}.`,
    );
  usedIds.add(id);
  return id;
}

function inferPrimitive({ physical, logical, typeLength }: ParquetLeaf): PrimitiveType | undefined {
  if (logical?.kind === 'decimal')
    return { kind: 'decimal', precision: logical.precision, scale: logical.scale };
  switch (physical) {
    case 'BOOLEAN':
    case 'FLOAT':
    case 'DOUBLE':
      return logical === undefined
        ? { kind: physical === 'BOOLEAN' ? 'boolean' : physical === 'FLOAT' ? 'float' : 'double' }
        : undefined;
    case 'INT96':
      return { kind: 'timestamptz' };
    case 'INT32':
    case 'INT64':
      return inferInteger(physical, logical);
    case 'BYTE_ARRAY':
      if (logical === undefined) return { kind: 'binary' };
      return logical.kind === 'string' || logical.kind === 'enum' || logical.kind === 'json'
        ? { kind: 'string' }
        : undefined;
    case 'FIXED_LEN_BYTE_ARRAY':
      if (logical === undefined) return { kind: 'fixed', length: typeLength };
      return logical.kind === 'uuid' ? { kind: 'uuid' } : undefined;
  }
}

function inferInteger(
  physical: 'INT32' | 'INT64',
  logical: ParquetLeaf['logical'],
): PrimitiveType | undefined {
  if (logical === undefined) return { kind: physical === 'INT32' ? 'int' : 'long' };
  switch (logical.kind) {
    case 'integer':
      if (logical.bitWidth === 64 && !logical.isSigned) return undefined; // No type of a table is wide enough.
      return {
        kind: logical.bitWidth < 32 || (logical.bitWidth === 32 && logical.isSigned) ? 'int' : 'long',
      };
    case 'date':
      return { kind: 'date' };
    case 'time':
      return { kind: 'time' };
    case 'timestamp': {
      const suffix = logical.unit === 'nanos' ? '_ns' : '';
      return { kind: `${logical.isAdjustedToUtc ? 'timestamptz' : 'timestamp'}${suffix}` };
    }
    default:
      return undefined;
  }
}

function unsupported(path: string, location: string): QueryError {
  return new QueryError(
    'UNSUPPORTED_TABLE_FEATURE',
    `Column ${path} of ${displayLocation(location)} has a type that a table cannot have.`,
  );
}
