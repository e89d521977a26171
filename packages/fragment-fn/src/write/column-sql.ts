/**
 * What becomes of a query's column on its way into a table's: a cast to the table's type, and errors that name the
 * column, where the engine alone would only name types, or write what no reader of the table could read.
 */
import { QueryError } from '@svc/base';
import type { IcebergType, NestedField } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import { engineType } from '../views/engine-type.js';

/** Largest part of a value that a message quotes, in characters. */
const quotedLength = 100;

/**
 * SQL of the source's value in the type of the field, NULL where it has none. Of lists and the like the whole value fails
 * with one of its parts: TRY_CAST would put NULL in the place of the part.
 */
export function castSql({ type }: NestedField, source: string): string {
  const name = engineType(type);
  return isNested(type) ? `TRY(CAST(${source} AS ${name}))` : `TRY_CAST(${source} AS ${name})`;
}

/** The value of `cast`, which `castSql` made of `source`, or EVALUATION_ERROR of the row that no table may have. */
export function checkedSql(field: NestedField, source: string, cast: string): string {
  const column = `Column ${JSON.stringify(field.name)}`;
  const value = `coalesce(left(CAST(${source} AS VARCHAR), ${quotedLength}), '')`;
  const notCast = `${quoteString(`${column}: the value "`)} || ${value} || '" of type ' || typeof(${source}) || ${quoteString(` cannot be written as ${engineType(field.type)}.`)}`;
  const branches = [
    `WHEN ${source} IS NOT NULL AND ${cast} IS NULL THEN error(${notCast})`,
    ...violationsOf(field, cast, field.name, 0).map(
      ({ condition, message }) => `WHEN ${condition} THEN error(${quoteString(message)})`,
    ),
  ];
  return `CASE ${branches.join(' ')} ELSE ${cast} END`;
}

interface Violation {
  readonly condition: string;
  readonly message: string;
}

/** What may be wrong with a value of the right type; `depth` keeps lambda variables apart. */
function violationsOf(
  { type, required }: Pick<NestedField, 'type' | 'required'>,
  value: string,
  path: string,
  depth: number,
): readonly Violation[] {
  const column = `Column ${JSON.stringify(path)}`;
  const violations: Violation[] = [];
  if (required)
    violations.push({
      condition: `${value} IS NULL`,
      message: `${column} must not be null, but a row has no value for it.`,
    });
  switch (type.kind) {
    case 'date':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
      violations.push({
        condition: `NOT isfinite(${value})`,
        message: `${column}: a table's ${type.kind} cannot be infinite.`,
      });
      break;
    case 'fixed':
      violations.push({
        condition: `octet_length(${value}) <> ${type.length}`,
        message: `${column}: every value must have exactly ${type.length} bytes.`,
      });
      break;
    case 'struct':
      for (const field of type.fields) {
        const inner = violationsOf(
          field,
          `struct_extract(${value}, ${quoteString(field.name)})`,
          `${path}.${field.name}`,
          depth,
        );
        for (const { condition, message } of inner)
          violations.push({ condition: `${value} IS NOT NULL AND ${condition}`, message });
      }
      break;
    case 'list':
      violations.push(
        ...inItems(value, { type: type.element, required: type.elementRequired }, `${path}.element`, depth),
      );
      break;
    case 'map': {
      const [keys, values] = [`map_keys(${value})`, `map_values(${value})`];
      violations.push(
        ...inItems(keys, { type: type.key, required: false }, `${path}.key`, depth),
        ...inItems(values, { type: type.value, required: type.valueRequired }, `${path}.value`, depth),
      );
      break;
    }
  }
  return violations;
}

function inItems(
  list: string,
  item: Pick<NestedField, 'type' | 'required'>,
  path: string,
  depth: number,
): readonly Violation[] {
  const variable = `e${depth}`;
  return violationsOf(item, variable, path, depth + 1).map(({ condition, message }) => ({
    condition: `len(list_filter(${list}, lambda ${variable}: ${condition})) > 0`,
    message,
  }));
}

/** SQL of about how many bytes a value takes uncompressed, or a number when it is the same for all. */
export function valueBytes(type: IcebergType, value: string, depth = 0): string | number {
  switch (type.kind) {
    case 'boolean':
    case 'unknown':
    case 'unsupported':
      return 1;
    case 'int':
    case 'float':
    case 'date':
      return 4;
    case 'long':
    case 'double':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
      return 8;
    case 'decimal':
      return type.precision <= 9 ? 4 : type.precision <= 18 ? 8 : 16;
    case 'uuid':
      return 16;
    case 'fixed':
      return type.length + 4;
    case 'string':
      return `strlen(${value})`;
    case 'binary':
      return `octet_length(${value})`;
    case 'struct':
      return sumOfBytes(
        type.fields.map((field) =>
          valueBytes(field.type, `struct_extract(${value}, ${quoteString(field.name)})`, depth),
        ),
      );
    case 'list':
      return itemBytes(type.element, value, depth);
    case 'map':
      return sumOfBytes([
        itemBytes(type.key, `map_keys(${value})`, depth),
        itemBytes(type.value, `map_values(${value})`, depth),
      ]);
  }
}

function itemBytes(type: IcebergType, list: string, depth: number): string {
  const variable = `e${depth}`;
  const bytes = valueBytes(type, variable, depth + 1);
  return typeof bytes === 'number'
    ? `len(${list}) * ${bytes}`
    : `list_sum(list_transform(${list}, lambda ${variable}: ${bytes}))`;
}

export function sumOfBytes(parts: readonly (string | number)[]): string | number {
  const fixed = parts.reduce<number>((sum, part) => sum + (typeof part === 'number' ? part : 0), 0);
  const varying = parts.filter((part) => typeof part === 'string').map((part) => `coalesce(${part}, 0)`);
  return varying.length === 0 ? fixed : `(${[fixed, ...varying].join(' + ')})`;
}

/** The FIELD_IDS of COPY, of these columns and all that is in them. */
export function fieldIdsSql(fields: readonly NestedField[]): string {
  return `{${fields.map((field) => `${quoteIdentifier(field.name)}: ${idsSql(field.id, field.type)}`).join(', ')}}`;
}

function idsSql(id: number, type: IcebergType): string {
  const own = `__duckdb_field_id: ${id}`;
  switch (type.kind) {
    case 'struct':
      return `{${[own, ...type.fields.map((field) => `${quoteIdentifier(field.name)}: ${idsSql(field.id, field.type)}`)].join(', ')}}`;
    case 'list':
      return `{${own}, element: ${idsSql(type.elementId, type.element)}}`;
    case 'map':
      return `{${own}, key: ${idsSql(type.keyId, type.key)}, value: ${idsSql(type.valueId, type.value)}}`;
    default:
      return String(id);
  }
}

/**
 * Throws NOT_SUPPORTED naming a column whose values the engine cannot write as the specification wants them. `unknown`
 * stands for a column that files do not have: only as a column of its own.
 */
export function assertWritable({ name, type }: Pick<NestedField, 'name' | 'type'>, isColumn = true): void {
  switch (type.kind) {
    case 'struct':
      for (const field of type.fields)
        assertWritable({ name: `${name}.${field.name}`, type: field.type }, false);
      return;
    case 'list':
      assertWritable({ name: `${name}.element`, type: type.element }, false);
      return;
    case 'map':
      assertWritable({ name: `${name}.key`, type: type.key }, false);
      assertWritable({ name: `${name}.value`, type: type.value }, false);
      return;
    case 'unknown':
      if (isColumn) return;
      break;
    case 'timestamptz_ns':
    case 'unsupported':
      break;
    default:
      return;
  }
  throw new QueryError(
    'NOT_SUPPORTED',
    `Column ${JSON.stringify(name)} has the type ${type.kind === 'unsupported' ? type.text : type.kind}, which cannot be written.`,
  );
}

function isNested(type: IcebergType): boolean {
  return type.kind === 'struct' || type.kind === 'list' || type.kind === 'map';
}
