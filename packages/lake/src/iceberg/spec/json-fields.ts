import { QueryError } from '@svc/base';
import {
  clip,
  isJsonNumber,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  printJson,
} from './lossless-json.js';

/**
 * Typed access to the fields of one JSON object. Whatever does not have the right type is DATA_CORRUPT, naming the
 * source (a file) and the path inside it. A null counts as absent.
 */
export class JsonFields {
  readonly json: JsonObject;
  private readonly source: string;
  private readonly path: string;

  constructor(value: JsonValue | undefined, source: string, path = '') {
    this.source = source;
    this.path = path;
    if (!isJsonObject(value)) throw this.wrong('', 'an object', value);
    this.json = value;
  }

  has(key: string): boolean {
    return this.get(key) !== undefined;
  }

  get(key: string): JsonValue | undefined {
    return Object.hasOwn(this.json, key) ? (this.json[key] ?? undefined) : undefined;
  }

  string(key: string): string {
    return this.optionalString(key) ?? this.missing(key, 'a string');
  }

  optionalString(key: string): string | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'string') return value;
    throw this.wrong(key, 'a string', value);
  }

  optionalBoolean(key: string): boolean | undefined {
    const value = this.get(key);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.wrong(key, 'true or false', value);
  }

  /** An integer that a double holds exactly. */
  integer(key: string): number {
    return this.optionalInteger(key) ?? this.missing(key, 'an integer');
  }

  optionalInteger(key: string): number | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : this.toInteger(value, key);
  }

  long(key: string): bigint {
    return this.optionalLong(key) ?? this.missing(key, 'an integer');
  }

  optionalLong(key: string): bigint | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : this.toLong(value, key);
  }

  integers(key: string): readonly number[] | undefined {
    return this.items(key)?.map((item, index) => this.toInteger(item, `${key}[${index}]`));
  }

  longs(key: string): readonly bigint[] | undefined {
    return this.items(key)?.map((item, index) => this.toLong(item, `${key}[${index}]`));
  }

  strings(key: string): readonly string[] | undefined {
    return this.items(key)?.map((item, index) => {
      if (typeof item !== 'string') throw this.wrong(`${key}[${index}]`, 'a string', item);
      return item;
    });
  }

  /** A list of lists of strings. */
  lists(key: string): readonly (readonly string[])[] {
    const items = this.items(key) ?? this.missing(key, 'a list');
    return items.map((item, index) => {
      const isList = Array.isArray(item) && item.every((part) => typeof part === 'string');
      if (!isList) throw this.wrong(`${key}[${index}]`, 'a list of strings', item);
      return item as readonly string[];
    });
  }

  object(key: string): JsonFields {
    return this.optionalObject(key) ?? this.missing(key, 'an object');
  }

  optionalObject(key: string): JsonFields | undefined {
    const value = this.get(key);
    return value === undefined ? undefined : new JsonFields(value, this.source, this.child(key));
  }

  objects(key: string): readonly JsonFields[] {
    return this.optionalObjects(key) ?? this.missing(key, 'a list');
  }

  optionalObjects(key: string): readonly JsonFields[] | undefined {
    return this.items(key)?.map(
      (item, index) => new JsonFields(item, this.source, `${this.child(key)}[${index}]`),
    );
  }

  /** The entries of an object whose values are strings; numbers and booleans are taken by their text. */
  stringMap(key: string): ReadonlyMap<string, string> {
    const map = new Map<string, string>();
    for (const [name, value] of Object.entries(this.optionalObject(key)?.json ?? {})) {
      if (value === null) continue;
      if (typeof value === 'string') map.set(name, value);
      else if (typeof value === 'boolean' || isJsonNumber(value)) map.set(name, value.toString());
      else throw this.wrong(`${key}.${name}`, 'a string', value);
    }
    return map;
  }

  /** The values of an object of objects, with their keys. */
  objectMap(key: string): readonly (readonly [string, JsonFields])[] {
    const inner = this.optionalObject(key);
    return Object.keys(inner?.json ?? {}).map((name) => [name, (inner as JsonFields).object(name)] as const);
  }

  /** An error about this object: `problem` completes "<file>: <path> …". */
  corrupt(problem: string): QueryError {
    return new QueryError(
      'DATA_CORRUPT',
      `${this.source}: ${this.path === '' ? 'it' : this.path} ${problem}.`,
    );
  }

  private items(key: string): readonly JsonValue[] | undefined {
    const value = this.get(key);
    if (value === undefined || Array.isArray(value)) return value as readonly JsonValue[] | undefined;
    throw this.wrong(key, 'a list', value);
  }

  private toInteger(value: JsonValue, key: string): number {
    const number = Number(this.toLong(value, key));
    if (!Number.isSafeInteger(number)) throw this.wrong(key, 'an integer below 2^53', value);
    return number;
  }

  private toLong(value: JsonValue, key: string): bigint {
    if (!isJsonNumber(value) || !/^-?\d{1,19}$/.test(value.value))
      throw this.wrong(key, 'a 64-bit integer', value);
    const long = BigInt(value.value);
    if (BigInt.asIntN(64, long) !== long) throw this.wrong(key, 'a 64-bit integer', value);
    return long;
  }

  private missing(key: string, expected: string): never {
    throw this.wrong(key, expected, undefined);
  }

  private wrong(key: string, expected: string, found: JsonValue | undefined): QueryError {
    const what = this.child(key);
    const is = found === undefined ? 'it is missing' : `it is ${clip(printJson(found), 60)}`;
    return new QueryError(
      'DATA_CORRUPT',
      `${this.source}: ${what === '' ? 'the content' : what} must be ${expected}; ${is}.`,
    );
  }

  private child(key: string): string {
    return this.path === '' || key === '' ? `${this.path}${key}` : `${this.path}.${key}`;
  }
}
