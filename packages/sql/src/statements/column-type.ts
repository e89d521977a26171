import { QueryError } from '@svc/base';
import type { Cursor } from './cursor.js';

/** A column's type as a statement declares it, by Iceberg's names. */
export type DeclaredType =
  | { readonly kind: DeclaredPrimitive }
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  | { readonly kind: 'fixed'; readonly length: number }
  | {
      readonly kind: 'struct';
      readonly fields: readonly { readonly name: string; readonly type: DeclaredType }[];
    }
  | { readonly kind: 'list'; readonly element: DeclaredType }
  | { readonly kind: 'map'; readonly key: DeclaredType; readonly value: DeclaredType };

export type DeclaredPrimitive =
  | 'boolean'
  | 'int'
  | 'long'
  | 'float'
  | 'double'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'timestamp_ns'
  | 'timestamptz_ns'
  | 'string'
  | 'uuid'
  | 'binary';

/** Names of one word, DuckDB's and those that people bring from elsewhere. */
const primitives: Readonly<Record<string, DeclaredPrimitive>> = {
  BOOLEAN: 'boolean',
  BOOL: 'boolean',
  LOGICAL: 'boolean',
  INTEGER: 'int',
  INT: 'int',
  INT4: 'int',
  SIGNED: 'int',
  BIGINT: 'long',
  INT8: 'long',
  LONG: 'long',
  REAL: 'float',
  FLOAT: 'float',
  FLOAT4: 'float',
  DOUBLE: 'double',
  FLOAT8: 'double',
  DATE: 'date',
  TIME: 'time',
  TIMESTAMP: 'timestamp',
  DATETIME: 'timestamp',
  TIMESTAMPTZ: 'timestamptz',
  TIMESTAMP_NS: 'timestamp_ns',
  TIMESTAMPTZ_NS: 'timestamptz_ns',
  VARCHAR: 'string',
  TEXT: 'string',
  STRING: 'string',
  CHAR: 'string',
  BPCHAR: 'string',
  UUID: 'uuid',
  BLOB: 'binary',
  BINARY: 'binary',
  VARBINARY: 'binary',
  BYTEA: 'binary',
};

/** Types of the engine that Iceberg has no type for, and what serves instead. */
const withoutCounterpart: Readonly<Record<string, string>> = {
  TINYINT: 'INTEGER',
  INT1: 'INTEGER',
  SMALLINT: 'INTEGER',
  INT2: 'INTEGER',
  SHORT: 'INTEGER',
  UTINYINT: 'INTEGER',
  USMALLINT: 'INTEGER',
  UINTEGER: 'BIGINT',
  UBIGINT: 'DECIMAL(20, 0)',
  HUGEINT: 'DECIMAL(38, 0)',
  UHUGEINT: 'DECIMAL(38, 0)',
  INTERVAL: 'BIGINT or VARCHAR',
  JSON: 'VARCHAR',
  ENUM: 'VARCHAR',
  UNION: 'STRUCT',
  BIT: 'VARCHAR',
  TIMETZ: 'TIME',
  TIMESTAMP_S: 'TIMESTAMP',
  TIMESTAMP_MS: 'TIMESTAMP',
  VARIANT: 'VARCHAR',
};

const maxDepth = 64;

/**
 * `type [length] ([] | [n])*`: DuckDB's spelling, and Spark's `ARRAY<…>`, `MAP<…, …>`, `STRUCT<name: type>`. Throws SYNTAX_ERROR,
 * and NOT_SUPPORTED naming the type that Iceberg has instead.
 */
export function parseColumnType(cursor: Cursor, depth = 0): DeclaredType {
  if (depth > maxDepth) throw cursor.error(`types are nested deeper than ${maxDepth}`);
  let type = parseBase(cursor, depth);
  while (cursor.sees('[')) {
    if (!cursor.accept('[', ']'))
      throw new QueryError(
        'NOT_SUPPORTED',
        'Arrays of a fixed length are not a type of Iceberg: use type[].',
      );
    type = { kind: 'list', element: type };
  }
  return type;
}

function parseBase(cursor: Cursor, depth: number): DeclaredType {
  const name = cursor.words(1);
  if (cursor.accept('STRUCT') || cursor.accept('ROW')) return parseStruct(cursor, depth);
  if (cursor.accept('MAP')) {
    const close = openBracket(cursor);
    const key = parseColumnType(cursor, depth + 1);
    cursor.expect(',');
    const value = parseColumnType(cursor, depth + 1);
    cursor.expect(close);
    return { kind: 'map', key, value };
  }
  if (cursor.accept('ARRAY') || cursor.accept('LIST')) {
    const close = openBracket(cursor);
    const element = parseColumnType(cursor, depth + 1);
    cursor.expect(close);
    return { kind: 'list', element };
  }
  if (cursor.accept('DECIMAL') || cursor.accept('NUMERIC') || cursor.accept('DEC'))
    return parseDecimal(cursor);
  if (cursor.accept('FIXED')) return { kind: 'fixed', length: parseLength(cursor, 'a fixed length') };
  const primitive = Object.hasOwn(primitives, name) ? primitives[name] : undefined;
  if (primitive === undefined) throw unknownType(cursor, name);
  cursor.index += 1;
  return parseModifiers(cursor, primitive);
}

/** `VARCHAR(10)`, `DOUBLE PRECISION`, `TIMESTAMP WITH TIME ZONE`. */
function parseModifiers(cursor: Cursor, primitive: DeclaredPrimitive): DeclaredType {
  if (primitive === 'double') cursor.accept('PRECISION');
  if (primitive === 'string' && cursor.sees('('))
    // As in the engine: a length is taken and means nothing.
    parseLength(cursor, 'a length');
  if (primitive !== 'timestamp' && primitive !== 'time') return { kind: primitive };
  const digits = cursor.sees('(') ? parseLength(cursor, 'a precision') : 6;
  const isNanos = primitive === 'timestamp' && digits === 9;
  if (digits !== 6 && !isNanos)
    throw new QueryError(
      'NOT_SUPPORTED',
      `A ${primitive.toUpperCase()} of ${digits} digits is not a type of Iceberg: there are 6${primitive === 'timestamp' ? ' and 9' : ''}.`,
    );
  const hasZone = cursor.accept('WITH', 'TIME', 'ZONE');
  if (!hasZone) cursor.accept('WITHOUT', 'TIME', 'ZONE');
  if (primitive === 'time') {
    if (hasZone)
      throw new QueryError('NOT_SUPPORTED', 'TIME WITH TIME ZONE is not a type of Iceberg: use TIME.');
    return { kind: 'time' };
  }
  if (isNanos) return { kind: hasZone ? 'timestamptz_ns' : 'timestamp_ns' };
  return { kind: hasZone ? 'timestamptz' : 'timestamp' };
}

function parseStruct(cursor: Cursor, depth: number): DeclaredType {
  const close = openBracket(cursor);
  const fields: { name: string; type: DeclaredType }[] = [];
  do {
    const name = cursor.identifier('a field');
    if (fields.some((field) => field.name.toLowerCase() === name.toLowerCase()))
      throw cursor.error(`the field "${name}" is there twice`);
    cursor.accept(':');
    fields.push({ name, type: parseColumnType(cursor, depth + 1) });
  } while (cursor.accept(','));
  cursor.expect(close);
  return { kind: 'struct', fields };
}

function openBracket(cursor: Cursor): ')' | '>' {
  if (cursor.accept('(')) return ')';
  if (cursor.accept('<')) return '>';
  throw cursor.error('expected ( behind the type');
}

function parseDecimal(cursor: Cursor): DeclaredType {
  // The engine's default.
  if (!cursor.accept('(')) return { kind: 'decimal', precision: 18, scale: 3 };
  const precision = cursor.integer('the precision');
  const scale = cursor.accept(',') ? cursor.integer('the scale') : 0;
  cursor.expect(')');
  if (precision < 1 || precision > 38 || scale > precision)
    throw cursor.error(
      `DECIMAL(${precision}, ${scale}) is not possible: at most 38 digits, the scale among them`,
    );
  return { kind: 'decimal', precision, scale };
}

function parseLength(cursor: Cursor, what: string): number {
  cursor.expect('(');
  const length = cursor.integer(what);
  cursor.expect(')');
  return length;
}

function unknownType(cursor: Cursor, name: string): QueryError {
  const instead = Object.hasOwn(withoutCounterpart, name) ? withoutCounterpart[name] : undefined;
  if (instead !== undefined)
    return new QueryError('NOT_SUPPORTED', `${name} is not a type of Iceberg: use ${instead}.`);
  return cursor.error('expected a type');
}
