import { quoteString } from '@svc/sql';
import {
  type DataType,
  DateUnit,
  Precision,
  RecordBatchReader,
  TimeUnit,
  Type,
  util,
  type Vector,
} from 'apache-arrow';

/**
 * The bound values as SQL by parameter identifier, for planning only: with them a filter on a parameter can prune. Each
 * has the value and the type that the engine gives the bound one, or a filter of the plan could be another than the
 * one that runs; and each is an expression that no neighbour in the text can join. Undefined when a value has a type
 * that is not written here; the statement is then planned without any.
 */
export function parameterLiterals(
  parameters: Uint8Array,
  identifiers: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const literals = writableLiterals(parameters, identifiers);
  return literals.size === identifiers.length ? literals : undefined;
}

/** Those of the values that can be written. */
export function writableLiterals(
  parameters: Uint8Array,
  identifiers: readonly string[],
): ReadonlyMap<string, string> {
  const literals = new Map<string, string>();
  const batch = RecordBatchReader.from(parameters).next().value;
  if (batch === undefined || batch === null) return literals;
  for (const [index, identifier] of identifiers.entries()) {
    const column = batch.getChildAt(index);
    const literal = column === null ? undefined : literalOf(column);
    if (literal !== undefined) literals.set(identifier, ` ${literal} `);
  }
  return literals;
}

function literalOf(column: Vector<DataType>): string | undefined {
  const { type } = column;
  const value: unknown = column.get(0);
  if (value === null) return 'NULL';
  switch (type.typeId) {
    case Type.Bool:
      return value === true ? 'true' : 'false';
    case Type.Int:
      return integerLiteral(type, value);
    case Type.Float:
      return floatLiteral(type, value);
    case Type.Utf8:
    case Type.LargeUtf8:
      // The engine treats bound text like a literal: it becomes what it is compared with.
      return typeof value === 'string' ? quoteString(value) : undefined;
    case Type.Date:
      return dateLiteral(column);
    case Type.Timestamp:
      return timestampLiteral(column);
    case Type.Decimal:
      return decimalLiteral(type, value);
    default:
      return undefined;
  }
}

const integerTypes: ReadonlyMap<number, string> = new Map([
  [8, 'TINYINT'],
  [16, 'SMALLINT'],
  [32, 'INTEGER'],
  [64, 'BIGINT'],
]);

function integerLiteral(type: DataType, value: unknown): string | undefined {
  if (!('bitWidth' in type) || !('isSigned' in type)) return undefined;
  if (typeof value !== 'number' && typeof value !== 'bigint') return undefined;
  const name = integerTypes.get(Number(type.bitWidth));
  return name && `CAST('${value}' AS ${type.isSigned === true ? '' : 'U'}${name})`;
}

function floatLiteral(type: DataType, value: unknown): string | undefined {
  if (!('precision' in type) || typeof value !== 'number') return undefined;
  const text = Object.is(value, -0) ? '-0' : String(value);
  return `CAST('${text}' AS ${type.precision === Precision.DOUBLE ? 'DOUBLE' : 'FLOAT'})`;
}

/** Raw storage and not apache-arrow's own values: those are JavaScript dates and numbers, which lose digits. */
function dateLiteral(column: Vector<DataType>): string | undefined {
  const raw: unknown = column.data[0]?.values[0];
  const { type } = column;
  if (!('unit' in type)) return undefined;
  const days = type.unit === DateUnit.DAY ? Number(raw) : Math.floor(Number(raw) / 86_400_000);
  return `(DATE '1970-01-01' + INTEGER '${days}')`;
}

function timestampLiteral(column: Vector<DataType>): string | undefined {
  const raw: unknown = column.data[0]?.values[0];
  const { type } = column;
  if (typeof raw !== 'bigint' || !('unit' in type)) return undefined;
  const isZoned = 'timezone' in type && Boolean(type.timezone);
  switch (type.unit) {
    case TimeUnit.SECOND:
      return isZoned ? zoned(raw * 1_000_000n) : `CAST(make_timestamp(${raw * 1_000_000n}) AS TIMESTAMP_S)`;
    case TimeUnit.MILLISECOND:
      return isZoned ? zoned(raw * 1000n) : `CAST(make_timestamp(${raw * 1000n}) AS TIMESTAMP_MS)`;
    case TimeUnit.MICROSECOND:
      return isZoned ? zoned(raw) : `make_timestamp(${raw})`;
    case TimeUnit.NANOSECOND:
      return isZoned ? zoned(floorDivide(raw, 1000n)) : `make_timestamp_ns(${raw})`;
    default:
      return undefined;
  }
}

/** The engine has one type with zone, in microseconds. */
function zoned(micros: bigint): string {
  return `(make_timestamp(${micros}) AT TIME ZONE 'UTC')`;
}

function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}

const maxDecimalDigits = 38;

function decimalLiteral(type: DataType, value: unknown): string | undefined {
  if (!('scale' in type) || !('precision' in type) || !(value instanceof Uint32Array)) return undefined;
  const [scale, precision] = [Number(type.scale), Number(type.precision)];
  if (value.length !== 4 || scale < 0 || scale > precision || precision > maxDecimalDigits) return undefined;
  const unscaled = util.bigNumToBigInt(util.BN.decimal(value));
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  const point = digits.length - scale;
  const text = scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return `CAST('${unscaled < 0n ? '-' : ''}${text}' AS DECIMAL(${precision},${scale}))`;
}
