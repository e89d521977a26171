/** Literals in Iceberg's JSON form of single values (table specification, appendix D) as SQL. What does not have the form exactly is not guessed at. */
import { type IcebergType, isJsonNumber, type JsonValue } from '@svc/lake';
import { quoteString } from '@svc/sql';
import { NotUnderstood } from './not-understood.js';

const whole = /^-?\d{1,19}$/;
const floating = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const date = String.raw`\d{4}-\d{2}-\d{2}`;
const time = String.raw`\d{2}:\d{2}:\d{2}`;
const micros = String.raw`(?:\.\d{1,6})?`;

/** Of types that are a text with a form, as the engine casts it. */
const texts: Readonly<Record<string, readonly [form: RegExp, type: string]>> = {
  date: [new RegExp(`^${date}$`), 'DATE'],
  time: [new RegExp(`^${time}${micros}$`), 'TIME'],
  timestamp: [new RegExp(`^${date}T${time}${micros}$`), 'TIMESTAMP'],
  timestamptz: [new RegExp(`^${date}T${time}${micros}\\+00:00$`), 'TIMESTAMPTZ'],
  timestamp_ns: [new RegExp(`^${date}T${time}(?:\\.\\d{1,9})?$`), 'TIMESTAMP_NS'],
  uuid: [/^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, 'UUID'],
};

/** Throws NotUnderstood naming the type. */
export function literalSql(value: JsonValue, type: IcebergType): string {
  const sql = literalOfType(value, type);
  if (sql === undefined) throw new NotUnderstood(`a literal for a column of type ${type.kind}`);
  return sql;
}

function literalOfType(value: JsonValue, type: IcebergType): string | undefined {
  const number = isJsonNumber(value) ? value.value : undefined;
  switch (type.kind) {
    case 'boolean':
      return typeof value === 'boolean' ? String(value).toUpperCase() : undefined;
    case 'int':
    case 'long':
      return number !== undefined && whole.test(number) ? `CAST('${number}' AS BIGINT)` : undefined;
    case 'float':
    case 'double': {
      const engineType = type.kind === 'float' ? 'FLOAT' : 'DOUBLE';
      return number !== undefined && floating.test(number) ? `CAST('${number}' AS ${engineType})` : undefined;
    }
    case 'decimal':
      return decimalSql(number ?? value, type);
    case 'string':
      return typeof value === 'string' ? quoteString(value) : undefined;
    case 'binary':
    case 'fixed':
      return typeof value === 'string' && /^(?:[0-9a-fA-F]{2})*$/.test(value)
        ? `unhex('${value}')`
        : undefined;
  }
  const [form, engineType] = texts[type.kind] ?? [];
  return typeof value === 'string' && form?.test(value) === true
    ? `CAST('${value}' AS ${engineType})`
    : undefined;
}

/** One with more digits behind the point would be rounded, and mean another value. */
function decimalSql(
  value: JsonValue,
  { precision, scale }: { readonly precision: number; readonly scale: number },
): string | undefined {
  const parts = typeof value === 'string' ? /^-?(\d+)(?:\.(\d+))?$/.exec(value) : null;
  if (parts === null || (parts[2] ?? '').length > scale) return undefined;
  if ((parts[1] ?? '').replace(/^0+/, '').length > precision - scale) return undefined;
  return `CAST('${value}' AS DECIMAL(${precision}, ${scale}))`;
}
