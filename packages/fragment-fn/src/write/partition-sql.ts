/**
 * Partition transforms in the engine's SQL (specification, "Partition Transforms", Appendix B). They agree with
 * applyTransform of @svc/lake, by which scans are pruned.
 */
import { QueryError } from '@svc/base';
import { type PrimitiveType, type PrimitiveValue, type Transform, transformResultType } from '@svc/lake';
import { hashOfHex, hashOfLong } from './bucket-sql.js';

/**
 * SQL of the partition value of `column` as a whole number or a text: `partitionValue` reads the text of either. NULL of
 * NULL. Throws NOT_SUPPORTED when the transform is unknown or does not take the type.
 */
export function partitionSql(transform: Transform, type: PrimitiveType, column: string): string {
  const result = transformResultType(transform, type);
  if (result === undefined || type.kind === 'unsupported')
    throw new QueryError(
      'NOT_SUPPORTED',
      `Rows of a column of type ${type.kind} cannot be partitioned by ${transform.kind === 'unknown' ? transform.text : transform.kind}.`,
    );
  switch (transform.kind) {
    case 'void':
    case 'unknown':
      return 'CAST(NULL AS INTEGER)';
    case 'identity':
      return identitySql(type, column);
    case 'bucket':
      return `CAST(${hashSql(type, column)} % ${transform.buckets} AS INTEGER)`;
    case 'truncate':
      return truncateSql(type, transform.width, column);
    case 'year':
      return `CAST(year(${utc(type, column)}) - 1970 AS INTEGER)`;
    case 'month':
      return `CAST((year(${utc(type, column)}) - 1970) * 12 + month(${utc(type, column)}) - 1 AS INTEGER)`;
    case 'day':
      return type.kind === 'date'
        ? identitySql(type, column)
        : `CAST(${floorDivided(identitySql(type, column), unitsPerHour(type) * 24n)} AS INTEGER)`;
    case 'hour':
      return `CAST(${floorDivided(identitySql(type, column), unitsPerHour(type))} AS INTEGER)`;
  }
}

/**
 * Throws EVALUATION_ERROR of a partition value that its type does not have: the next multiple of a width below the
 * smallest numbers is none of them.
 */
export function assertPartitionValue(transform: Transform, type: PrimitiveType, text: string): void {
  const { kind } = transformResultType(transform, type) ?? type;
  if (kind !== 'int' && kind !== 'long') return;
  const value = BigInt(text);
  if (BigInt.asIntN(kind === 'int' ? 32 : 64, value) === value) return;
  throw new QueryError(
    'EVALUATION_ERROR',
    `A row cannot be partitioned by ${transform.kind}: its partition would be ${text}, which is no ${kind}.`,
  );
}

/** The value that the text of a `partitionSql` stands for. */
export function partitionValue(transform: Transform, type: PrimitiveType, text: string): PrimitiveValue {
  const result = transformResultType(transform, type) ?? type;
  switch (result.kind) {
    case 'boolean':
      return text === 'true';
    case 'int':
    case 'date':
      return Number(text);
    case 'float':
      return Math.fround(readFloat(text));
    case 'double':
      return readFloat(text);
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns':
    case 'decimal':
      return BigInt(text);
    case 'uuid':
      return Buffer.from(text.replaceAll('-', ''), 'hex');
    case 'binary':
    case 'fixed':
      return Buffer.from(text, 'hex');
    case 'string':
    case 'unknown':
    case 'unsupported':
      return text;
  }
}

function readFloat(text: string): number {
  if (text === 'nan' || text === '-nan') return Number.NaN;
  return Number(text.replace('inf', 'Infinity'));
}

function identitySql(type: PrimitiveType, column: string): string {
  switch (type.kind) {
    case 'int':
    case 'long':
    case 'string':
    case 'unknown':
    case 'unsupported':
      return column;
    case 'boolean':
    case 'float':
    case 'double':
    case 'uuid':
      return `CAST(${column} AS VARCHAR)`;
    case 'date':
      return `(${column} - DATE '1970-01-01')`;
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamptz_ns':
      return `epoch_us(${column})`;
    case 'timestamp_ns':
      return `epoch_ns(${column})`;
    case 'decimal':
      return unscaled(column);
    case 'binary':
    case 'fixed':
      return `hex(${column})`;
  }
}

function hashSql(type: PrimitiveType, column: string): string {
  switch (type.kind) {
    case 'int':
    case 'long':
    case 'date':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamptz_ns':
      return hashOfLong(`CAST(${identitySql(type, column)} AS BIGINT)`);
    case 'timestamp_ns':
      return hashOfLong(floorDivided(`epoch_ns(${column})`, 1000n));
    case 'decimal':
      return hashOfHex(shortestHex(unscaled(column)));
    case 'uuid':
      return hashOfHex(`replace(CAST(${column} AS VARCHAR), '-', '')`);
    default:
      // Of a text these are the digits of its UTF-8.
      return hashOfHex(`hex(${column})`);
  }
}

function truncateSql(type: PrimitiveType, width: number, column: string): string {
  switch (type.kind) {
    case 'string':
      return `substring(${column}, 1, ${width})`;
    case 'binary':
      return `substr(hex(${column}), 1, ${2 * width})`;
    case 'decimal':
      return downTo(unscaled(column), width);
    default:
      return downTo(`CAST(${column} AS HUGEINT)`, width);
  }
}

/** The next multiple of the width at or below a whole number of 128 bits. */
function downTo(value: string, width: number): string {
  return `(${value} - ((${value} % ${width}) + ${width}) % ${width})`;
}

/** Decimals of every precision fit; arithmetic on the decimal itself could leave its type. */
function unscaled(column: string): string {
  return `CAST(replace(CAST(${column} AS VARCHAR), '.', '') AS HUGEINT)`;
}

/** The hexadecimal digits of a whole number's shortest big-endian two's complement. */
function shortestHex(value: string): string {
  const digits = `printf('%016x%016x', CAST((${value} >> 64) & 18446744073709551615 AS UBIGINT), CAST(${value} & 18446744073709551615 AS UBIGINT))`;
  return `regexp_replace(${digits}, '^(?:(?:00)+([0-7])|(?:ff)+([89a-f]))', '\\1\\2')`;
}

/** The engine's division cuts towards zero. */
function floorDivided(value: string, divisor: bigint): string {
  return `(${value} // ${divisor} - CAST(${value} % ${divisor} < 0 AS BIGINT))`;
}

/** A date, or a timestamp whose parts are those in UTC. */
function utc(type: PrimitiveType, column: string): string {
  switch (type.kind) {
    case 'timestamptz':
    case 'timestamptz_ns':
      return `(${column} AT TIME ZONE 'UTC')`;
    case 'timestamp_ns':
      // The engine takes the year of the last nanoseconds of 1969 for 1970: it cuts towards zero.
      return `make_timestamp(${floorDivided(`epoch_ns(${column})`, 1000n)})`;
    default:
      return column;
  }
}

function unitsPerHour(type: PrimitiveType): bigint {
  return type.kind === 'timestamp_ns' ? 3_600_000_000_000n : 3_600_000_000n;
}
