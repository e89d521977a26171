/**
 * The actions that the Iceberg REST specification defines for columns, as SQL in the column's own type. NULL stays NULL, but with
 * `mask-to-fixed-value`.
 */
import type { IcebergType, NestedField } from '@svc/lake';
import { quoteIdentifier } from '@svc/sql';
import { NotUnderstood } from './not-understood.js';

/** `salt` is the statement's. Throws NotUnderstood. */
export function maskOf(action: string, field: NestedField, salt: Uint8Array): string {
  const column = quoteIdentifier(field.name);
  const sql = maskSql(action, { column, field, salt });
  if (sql !== undefined) return sql;
  const name = /^[a-z0-9-]{1,40}$/.test(action) ? `"${action}"` : 'of another name';
  throw new NotUnderstood(`the action ${name} on a column of type ${field.type.kind}`);
}

interface Masked {
  readonly column: string;
  readonly field: NestedField;
  readonly salt: Uint8Array;
}

function maskSql(action: string, masked: Masked): string | undefined {
  const { column, field, salt } = masked;
  const isString = field.type.kind === 'string';
  switch (action) {
    case 'mask-alphanum':
      return isString ? maskedText(column) : undefined;
    case 'show-first-4':
      return isString ? `(substr(${column}, 1, 4) || ${maskedText(`substr(${column}, 5)`)})` : undefined;
    case 'show-last-4':
      return isString
        ? `(CASE WHEN length(${column}) <= 4 THEN ${column} ELSE ${maskedText(`substr(${column}, 1, length(${column}) - 4)`)} || right(${column}, 4) END)`
        : undefined;
    case 'replace-with-null':
      // A catalog must not demand it of a column that has no null.
      return field.required ? undefined : 'NULL';
    case 'mask-to-fixed-value':
      return fixedValue(field.type);
    case 'truncate-to-year':
    case 'truncate-to-month':
      return truncated(column, field.type, action === 'truncate-to-year' ? 'year' : 'month');
    case 'sha-256-global':
      return hashed(column, field.type, undefined);
    case 'sha-256-query-local':
      return salt.length >= 16 ? hashed(column, field.type, salt) : undefined;
    default:
      return undefined;
  }
}

/** By code points: digits become `n`, everything else `x` but `( ) , . - @`. */
function maskedText(text: string): string {
  return `regexp_replace(regexp_replace(${text}, '[^0-9(),.@-]', 'x', 'g'), '[0-9]', 'n', 'g')`;
}

function truncated(column: string, type: IcebergType, unit: 'year' | 'month'): string | undefined {
  switch (type.kind) {
    case 'date':
      return `CAST(date_trunc('${unit}', ${column}) AS DATE)`;
    case 'timestamp':
      return `date_trunc('${unit}', ${column})`;
    case 'timestamp_ns':
      return `CAST(date_trunc('${unit}', CAST(${column} AS TIMESTAMP)) AS TIMESTAMP_NS)`;
    case 'timestamptz':
      // In UTC, whatever the session's time zone is.
      return `timezone('UTC', date_trunc('${unit}', timezone('UTC', ${column})))`;
    default:
      return undefined;
  }
}

/** SHA-256 over the salt and the bytes of the value; those of numbers need an order of bytes that SQL does not have. */
function hashed(column: string, type: IcebergType, salt: Uint8Array | undefined): string | undefined {
  if (type.kind !== 'string' && type.kind !== 'binary') return undefined;
  const bytes = type.kind === 'string' ? `encode(${column})` : column;
  const salted = salt === undefined ? bytes : `(unhex('${Buffer.from(salt).toString('hex')}') || ${bytes})`;
  return type.kind === 'string' ? `sha256(${salted})` : `unhex(sha256(${salted}))`;
}

const fixedValues: Readonly<Record<string, string>> = {
  boolean: 'FALSE',
  int: 'CAST(0 AS INTEGER)',
  long: 'CAST(0 AS BIGINT)',
  float: 'CAST(0 AS FLOAT)',
  double: 'CAST(0 AS DOUBLE)',
  string: "'XXXXXXXX'",
  date: "CAST('1970-01-01' AS DATE)",
  time: "CAST('00:00:00' AS TIME)",
  timestamp: "CAST('1970-01-01 00:00:00' AS TIMESTAMP)",
  timestamptz: "CAST('1970-01-01 00:00:00+00' AS TIMESTAMPTZ)",
  timestamp_ns: "CAST('1970-01-01 00:00:00' AS TIMESTAMP_NS)",
  uuid: "CAST('00000000-0000-0000-0000-000000000000' AS UUID)",
  binary: "unhex('')",
};

/** As the specification lists them. NULL is replaced too. */
function fixedValue(type: IcebergType): string | undefined {
  switch (type.kind) {
    case 'decimal':
      return `CAST(0 AS DECIMAL(${type.precision}, ${type.scale}))`;
    case 'fixed':
      return `unhex('${'00'.repeat(type.length)}')`;
    case 'list':
      return '[]';
    default:
      return fixedValues[type.kind];
  }
}
