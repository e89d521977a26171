import { quoteString } from '@svc/sql';
import { type DataType, DateUnit, RecordBatchReader, TimeUnit, Type, util, type Vector } from 'apache-arrow';

/**
 * The bound values as SQL literals by parameter identifier, for planning only: with them a filter on a parameter can
 * prune. Undefined when a value has a type that is not written here; the statement is then planned without any.
 */
export function parameterLiterals(
  parameters: Uint8Array,
  identifiers: readonly string[],
): ReadonlyMap<string, string> | undefined {
  const batch = RecordBatchReader.from(parameters).next().value;
  if (batch === undefined || batch === null) return undefined;
  const literals = new Map<string, string>();
  for (const [index, identifier] of identifiers.entries()) {
    const column = batch.getChildAt(index);
    const literal = column === null ? undefined : literalOf(column);
    if (literal === undefined) return undefined;
    literals.set(identifier, literal);
  }
  return literals;
}

const timestampTypes: Readonly<Record<TimeUnit, string>> = {
  [TimeUnit.SECOND]: 'make_timestamp_ms(1000 * ',
  [TimeUnit.MILLISECOND]: 'make_timestamp_ms(',
  [TimeUnit.MICROSECOND]: 'make_timestamp(',
  [TimeUnit.NANOSECOND]: 'make_timestamp_ns(',
};

function literalOf(column: Vector<DataType>): string | undefined {
  const { type } = column;
  const value: unknown = column.get(0);
  if (value === null) return 'NULL';
  switch (type.typeId) {
    case Type.Bool:
      return value === true ? 'true' : 'false';
    case Type.Int:
      return typeof value === 'number' || typeof value === 'bigint' ? String(value) : undefined;
    case Type.Float:
      return typeof value === 'number' ? `CAST('${value}' AS DOUBLE)` : undefined;
    case Type.Utf8:
    case Type.LargeUtf8:
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
  const name = timestampTypes[type.unit as TimeUnit];
  const local = `${name}${raw})`;
  return 'timezone' in type && type.timezone ? `(${local} AT TIME ZONE 'UTC')` : local;
}

function decimalLiteral(type: DataType, value: unknown): string | undefined {
  if (!('scale' in type) || typeof type.scale !== 'number' || !(value instanceof Uint32Array))
    return undefined;
  const unscaled = util.bigNumToBigInt(util.BN.decimal(value));
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(type.scale + 1, '0');
  const point = digits.length - type.scale;
  const text = type.scale === 0 ? digits : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${unscaled < 0n ? '-' : ''}${text}`;
}
