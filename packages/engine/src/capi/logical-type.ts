/** Logical types by handle: ownership, children, and their SQL text. */
import type { DuckDbFunctions } from './functions.js';
import { type Address, readText } from './memory.js';

/** Values of `duckdb_type`. */
export const duckDbType = {
  invalid: 0,
  varchar: 17,
  decimal: 19,
  enum: 23,
  list: 24,
  struct: 25,
  map: 26,
  union: 28,
  bit: 29,
  timeTz: 30,
  uhugeint: 32,
  array: 33,
  bignum: 35,
  sqlNull: 36,
  variant: 41,
} as const;

/** SQL names of the types without parameters, by `duckdb_type`. */
const plainNames: ReadonlyMap<number, string> = new Map([
  [1, 'BOOLEAN'],
  [2, 'TINYINT'],
  [3, 'SMALLINT'],
  [4, 'INTEGER'],
  [5, 'BIGINT'],
  [6, 'UTINYINT'],
  [7, 'USMALLINT'],
  [8, 'UINTEGER'],
  [9, 'UBIGINT'],
  [10, 'FLOAT'],
  [11, 'DOUBLE'],
  [12, 'TIMESTAMP'],
  [13, 'DATE'],
  [14, 'TIME'],
  [15, 'INTERVAL'],
  [16, 'HUGEINT'],
  [17, 'VARCHAR'],
  [18, 'BLOB'],
  [20, 'TIMESTAMP_S'],
  [21, 'TIMESTAMP_MS'],
  [22, 'TIMESTAMP_NS'],
  [27, 'UUID'],
  [29, 'BIT'],
  [30, 'TIMETZ'],
  [31, 'TIMESTAMPTZ'],
  [32, 'UHUGEINT'],
  [35, 'BIGNUM'],
  [36, 'NULL'],
  [39, 'TIME_NS'],
  [40, 'GEOMETRY'],
  [41, 'VARIANT'],
]);

interface ChildType {
  readonly name: string;
  readonly type: Address;
}

/** Calls `use` with a type that the callee answered, and destroys it. */
export function withType<T>(functions: DuckDbFunctions, type: Address, use: (type: Address) => T): T {
  try {
    return use(type);
  } finally {
    if (type !== 0) functions.destroyLogicalType([type]);
  }
}

/** Text that the engine allocated for us; frees it. The empty text for a null pointer. */
export function takeText(functions: DuckDbFunctions, text: Address): string {
  if (text === 0) return '';
  try {
    return readText(text);
  } finally {
    functions.free(text);
  }
}

/** A name between double quotes. */
export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** A text between single quotes. */
export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Whether the type or a type inside it satisfies the predicate. */
export function anyType(
  functions: DuckDbFunctions,
  type: Address,
  predicate: (id: number) => boolean,
): boolean {
  if (predicate(functions.typeId(type))) return true;
  return mapChildren(functions, type, (child) => anyType(functions, child.type, predicate)).some(Boolean);
}

/** The type as SQL, with some leaves replaced by other types. Throws RangeError on a type unknown here. */
export function typeText(
  functions: DuckDbFunctions,
  type: Address,
  replace: (id: number) => string | undefined,
): string {
  const id = functions.typeId(type);
  const replaced = replace(id);
  if (replaced !== undefined) return replaced;
  const children = mapChildren(functions, type, (child) => ({
    name: quoteName(child.name),
    text: typeText(functions, child.type, replace),
  }));
  const texts = children.map((child) => child.text);
  const members = children.map((child) => `${child.name} ${child.text}`).join(', ');
  switch (id) {
    case duckDbType.list:
      return `${texts[0]}[]`;
    case duckDbType.array:
      return `${texts[0]}[${functions.arraySize(type)}]`;
    case duckDbType.map:
      return `MAP(${texts.join(', ')})`;
    case duckDbType.struct:
      return `STRUCT(${members})`;
    case duckDbType.union:
      return `UNION(${members})`;
    case duckDbType.decimal:
      return `DECIMAL(${functions.decimalWidth(type)}, ${functions.decimalScale(type)})`;
    case duckDbType.enum:
      return `ENUM(${enumValues(functions, type).map(quoteText).join(', ')})`;
    default: {
      const alias = takeText(functions, functions.typeAlias(type));
      const name = alias === '' ? plainNames.get(id) : alias;
      if (name === undefined) throw new RangeError(`DuckDB type ${id} has no SQL name here`);
      return name;
    }
  }
}

function enumValues(functions: DuckDbFunctions, type: Address): string[] {
  const size = functions.enumSize(type);
  return Array.from({ length: size }, (_, index) => takeText(functions, functions.enumValue(type, index)));
}

function mapChildren<T>(
  functions: DuckDbFunctions,
  type: Address,
  use: (child: ChildType) => T,
): readonly T[] {
  const one = (name: string, child: Address) => withType(functions, child, () => use({ name, type: child }));
  switch (functions.typeId(type)) {
    case duckDbType.list:
      return [one('', functions.listChildType(type))];
    case duckDbType.array:
      return [one('', functions.arrayChildType(type))];
    case duckDbType.map:
      return [one('key', functions.mapKeyType(type)), one('value', functions.mapValueType(type))];
    case duckDbType.struct:
      return Array.from({ length: functions.structChildCount(type) }, (_, index) =>
        one(
          takeText(functions, functions.structChildName(type, index)),
          functions.structChildType(type, index),
        ),
      );
    case duckDbType.union:
      return Array.from({ length: functions.unionMemberCount(type) }, (_, index) =>
        one(
          takeText(functions, functions.unionMemberName(type, index)),
          functions.unionMemberType(type, index),
        ),
      );
    default:
      return [];
  }
}
