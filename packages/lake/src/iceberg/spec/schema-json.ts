/** Schemas in their JSON form (specification, Appendix C, "Schemas"). */
import type { JsonFields } from './json-fields.js';
import { type JsonObject, type JsonValue, jsonNumber } from './lossless-json.js';
import { parsePrimitiveType, printType } from './type-text.js';
import type { IcebergType, NestedField, Schema } from './types.js';

/** Deeper types are taken for damage: reading them recursively could exhaust the stack. */
const maxTypeDepth = 100;

/** `fallbackId` is the id of a format 1 schema that does not carry one. */
export function parseSchema(json: JsonFields, fallbackId?: number): Schema {
  const fields = parseFields(json, 0);
  const ids = new Set<number>();
  collectIds(fields, ids, json);
  return {
    schemaId:
      fallbackId === undefined
        ? json.integer('schema-id')
        : (json.optionalInteger('schema-id') ?? fallbackId),
    fields,
    identifierFieldIds: json.integers('identifier-field-ids') ?? [],
  };
}

export function printSchema(schema: Schema): JsonObject {
  return {
    type: 'struct',
    'schema-id': jsonNumber(schema.schemaId),
    ...(schema.identifierFieldIds.length > 0 && {
      'identifier-field-ids': schema.identifierFieldIds.map(jsonNumber),
    }),
    fields: schema.fields.map(printField),
  };
}

function parseFields(json: JsonFields, depth: number): readonly NestedField[] {
  if (depth > maxTypeDepth) throw json.corrupt(`is nested deeper than ${maxTypeDepth} levels`);
  return json.objects('fields').map((field) => parseField(field, depth));
}

function parseField(json: JsonFields, depth: number): NestedField {
  const doc = json.optionalString('doc');
  const initialDefault = json.get('initial-default');
  const writeDefault = json.get('write-default');
  return {
    id: json.integer('id'),
    name: json.string('name'),
    required: json.optionalBoolean('required') ?? false,
    type: parseType(json, 'type', depth),
    ...(doc !== undefined && { doc }),
    ...(initialDefault !== undefined && { initialDefault }),
    ...(writeDefault !== undefined && { writeDefault }),
  };
}

function parseType(owner: JsonFields, key: string, depth: number): IcebergType {
  const value = owner.get(key);
  if (typeof value === 'string') {
    const type = parsePrimitiveType(value);
    if (type === undefined) throw owner.corrupt(`has the unknown type ${JSON.stringify(value)}`);
    return type;
  }
  const json = owner.object(key);
  const kind = json.string('type');
  switch (kind) {
    case 'struct':
      return { kind, fields: parseFields(json, depth + 1) };
    case 'list':
      return {
        kind,
        elementId: json.integer('element-id'),
        elementRequired: json.optionalBoolean('element-required') ?? false,
        element: parseInner(json, 'element', depth),
      };
    case 'map':
      return {
        kind,
        keyId: json.integer('key-id'),
        key: parseInner(json, 'key', depth),
        valueId: json.integer('value-id'),
        valueRequired: json.optionalBoolean('value-required') ?? false,
        value: parseInner(json, 'value', depth),
      };
    default:
      throw json.corrupt(`has the unknown type ${JSON.stringify(kind)}`);
  }
}

function parseInner(json: JsonFields, key: string, depth: number): IcebergType {
  if (depth > maxTypeDepth) throw json.corrupt(`is nested deeper than ${maxTypeDepth} levels`);
  return parseType(json, key, depth + 1);
}

function collectIds(fields: readonly NestedField[], ids: Set<number>, json: JsonFields): void {
  const add = (id: number): void => {
    if (ids.has(id)) throw json.corrupt(`uses the field id ${id} twice`);
    ids.add(id);
  };
  const visit = (type: IcebergType): void => {
    if (type.kind === 'struct') {
      for (const field of type.fields) {
        add(field.id);
        visit(field.type);
      }
    } else if (type.kind === 'list') {
      add(type.elementId);
      visit(type.element);
    } else if (type.kind === 'map') {
      add(type.keyId);
      add(type.valueId);
      visit(type.key);
      visit(type.value);
    }
  };
  visit({ kind: 'struct', fields });
}

function printField(field: NestedField): JsonObject {
  return {
    id: jsonNumber(field.id),
    name: field.name,
    required: field.required,
    type: printTypeJson(field.type),
    ...(field.doc !== undefined && { doc: field.doc }),
    ...(field.initialDefault !== undefined && { 'initial-default': field.initialDefault }),
    ...(field.writeDefault !== undefined && { 'write-default': field.writeDefault }),
  };
}

function printTypeJson(type: IcebergType): JsonValue {
  switch (type.kind) {
    case 'struct':
      return { type: 'struct', fields: type.fields.map(printField) };
    case 'list':
      return {
        type: 'list',
        'element-id': jsonNumber(type.elementId),
        element: printTypeJson(type.element),
        'element-required': type.elementRequired,
      };
    case 'map':
      return {
        type: 'map',
        'key-id': jsonNumber(type.keyId),
        key: printTypeJson(type.key),
        'value-id': jsonNumber(type.valueId),
        value: printTypeJson(type.value),
        'value-required': type.valueRequired,
      };
    default:
      return printType(type);
  }
}
