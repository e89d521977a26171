/** Avro schemas as files carry them, with the attributes that Iceberg adds (specification, Appendix A). */
import { AvroError } from './avro-error.js';

export type AvroType =
  | AvroPrimitive
  | { readonly kind: 'fixed'; readonly size: number; readonly logical?: AvroLogical }
  | { readonly kind: 'enum'; readonly symbols: readonly string[] }
  | { readonly kind: 'array'; readonly items: AvroType; readonly logical?: AvroLogical }
  | { readonly kind: 'map'; readonly values: AvroType }
  | { readonly kind: 'union'; readonly branches: readonly AvroType[] }
  | AvroRecord;

interface AvroPrimitive {
  readonly kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string';
  readonly logical?: AvroLogical;
}

/** What the values mean (Avro specification, "Logical Types"), as it stands in the schema. */
export interface AvroLogical {
  readonly name: string;
  readonly precision: number;
  readonly scale: number;
  /** Iceberg's; false where it is not said. */
  readonly isAdjustedToUtc: boolean;
}

export interface AvroRecord {
  readonly kind: 'record';
  readonly fields: readonly AvroField[];
}

export interface AvroField {
  readonly name: string;
  /** Iceberg's field id; a few writers leave it out, then the name decides. */
  readonly fieldId: number | undefined;
  readonly type: AvroType;
}

const maxDepth = 50;
/** All types of one schema together; a manifest of a table with a thousand partition fields stays below. */
const maxTypes = 20_000;

interface NamedType {
  readonly type: AvroType;
  readonly weight: number;
}

interface ParseState {
  readonly named: Map<string, NamedType>;
  /** Types so far, those behind a name counted each time: otherwise a short schema could describe an endless record. */
  types: number;
}

interface AvroJson {
  readonly type?: unknown;
  readonly name?: unknown;
  readonly namespace?: unknown;
  readonly items?: unknown;
  readonly values?: unknown;
  readonly fields?: unknown;
  readonly size?: unknown;
  readonly symbols?: unknown;
  readonly logicalType?: unknown;
  readonly precision?: unknown;
  readonly scale?: unknown;
  readonly 'adjust-to-utc'?: unknown;
  readonly 'field-id'?: unknown;
}

/** Parses the text of `avro.schema`. Throws an AvroError when it is not a schema, or a recursive one. */
export function parseAvroSchema(text: string): AvroType {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw new AvroError('its schema is not valid JSON');
  }
  return parseType(json, { named: new Map(), types: 0 }, 0);
}

function parseType(json: unknown, state: ParseState, depth: number): AvroType {
  grow(state, 1);
  if (depth > maxDepth) throw new AvroError('its schema is too deep');
  if (typeof json === 'string') return parseName(json, state);
  if (Array.isArray(json))
    return { kind: 'union', branches: json.map((branch) => parseType(branch, state, depth + 1)) };
  if (!isObject(json)) throw new AvroError('its schema has a type that is neither text nor object nor list');
  const typesBefore = state.types;
  switch (json.type) {
    case 'record': {
      const type = { kind: 'record', fields: parseFields(json.fields, state, depth) } as const;
      return remember(json, state, type, state.types - typesBefore);
    }
    case 'array':
      return { kind: 'array', items: parseItem(json.items, state, depth), ...parseLogical(json) };
    case 'map':
      return { kind: 'map', values: parseType(json.values, state, depth + 1) };
    case 'enum':
      return remember(json, state, { kind: 'enum', symbols: parseSymbols(json.symbols) }, 1);
    case 'fixed': {
      if (!isCount(json.size)) throw new AvroError('its schema has a fixed type without a size');
      return remember(json, state, { kind: 'fixed', size: json.size, ...parseLogical(json) }, 1);
    }
    default: {
      const type = parseType(json.type, state, depth + 1);
      // Of a named type its own definition says what it means.
      return isPrimitive(type) ? { kind: type.kind, ...parseLogical(json) } : type;
    }
  }
}

function isPrimitive(type: AvroType): type is AvroPrimitive {
  return !['fixed', 'enum', 'array', 'map', 'union', 'record'].includes(type.kind);
}

function parseLogical(json: AvroJson): { readonly logical?: AvroLogical } {
  if (typeof json.logicalType !== 'string') return {};
  const logical = {
    name: json.logicalType,
    precision: typeof json.precision === 'number' ? json.precision : 0,
    scale: typeof json.scale === 'number' ? json.scale : 0,
    isAdjustedToUtc: json['adjust-to-utc'] === true,
  };
  return { logical };
}

function parseSymbols(json: unknown): readonly string[] {
  return Array.isArray(json) ? json.filter((symbol) => typeof symbol === 'string') : [];
}

function parseFields(json: unknown, state: ParseState, depth: number): readonly AvroField[] {
  if (!Array.isArray(json)) throw new AvroError('its schema has a record without fields');
  return json.map((field: unknown) => {
    if (!isObject(field) || typeof field.name !== 'string')
      throw new AvroError('its schema has a field without a name');
    const id = field['field-id'];
    return {
      name: field.name,
      fieldId: isCount(id) ? id : undefined,
      type: parseType(field.type, state, depth + 1),
    };
  });
}

/** Of 31 bits: lengths and field ids. */
function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31;
}

/** An item of no bytes would make the length of a list unbounded by the data. */
function parseItem(json: unknown, state: ParseState, depth: number): AvroType {
  const item = parseType(json, state, depth + 1);
  if (!hasBytes(item)) throw new AvroError('its schema has a list of items without content');
  return item;
}

/** True when every value of the type takes at least one byte. */
export function hasBytes(type: AvroType): boolean {
  switch (type.kind) {
    case 'null':
      return false;
    case 'fixed':
      return type.size > 0;
    case 'record':
      return type.fields.some((field) => hasBytes(field.type));
    default:
      return true;
  }
}

/** A named type may be referred to by its name, or by its full name with the namespace, after its definition. */
function remember(json: AvroJson, state: ParseState, type: AvroType, weight: number): AvroType {
  if (typeof json.name === 'string') {
    state.named.set(json.name, { type, weight });
    if (typeof json.namespace === 'string')
      state.named.set(`${json.namespace}.${json.name}`, { type, weight });
  }
  return type;
}

function parseName(name: string, state: ParseState): AvroType {
  const named = state.named.get(name);
  if (named !== undefined) {
    grow(state, named.weight);
    return named.type;
  }
  switch (name) {
    case 'null':
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'bytes':
    case 'string':
      return { kind: name };
    default:
      throw new AvroError(`its schema refers to the unknown type ${JSON.stringify(name.slice(0, 60))}`);
  }
}

function grow(state: ParseState, types: number): void {
  state.types += types;
  if (state.types > maxTypes) throw new AvroError('its schema is too large');
}

function isObject(value: unknown): value is AvroJson {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
