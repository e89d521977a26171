import { type LogicalType, printLogicalType } from '../plan/logical-type.js';
import type { PlanValue, ScalarValue } from '../plan/plan-value.js';
import { decimalText, timestampText } from '../scan/literal-text.js';
import { quoteIdentifier, quoteString } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';

/** Types whose name alone is the type, and whose values the engine casts and copies exactly. */
const plainTypes: ReadonlySet<string> = new Set([
  'BOOLEAN',
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
  'UTINYINT',
  'USMALLINT',
  'UINTEGER',
  'UBIGINT',
  'UHUGEINT',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'BLOB',
  'BIT',
  'UUID',
  'DATE',
  'TIME',
  'TIME_NS',
  'TIME WITH TIME ZONE',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
  'INTERVAL',
]);

/** The type in SQL. Throws for types that their name does not tell: enumerations, unions, collations, JSON. */
export function printType(type: LogicalType): string {
  checkType(type);
  return printLogicalType(type);
}

function checkType(type: LogicalType): void {
  switch (type.kind) {
    case 'plain':
      if (!plainTypes.has(type.id)) throw new NotPrintable(`the type ${type.id}`);
      return;
    case 'other':
      throw new NotPrintable(`a ${type.id} with details that its name does not tell`);
    case 'decimal':
      return;
    case 'list':
    case 'array':
      checkType(type.child);
      return;
    case 'map':
      checkType(type.key);
      checkType(type.value);
      return;
    case 'struct':
      if (type.fields.some((field) => field.name === '')) throw new NotPrintable('a struct without names');
      for (const field of type.fields) checkType(field.type);
  }
}

/** A constant with its exact type. */
export function printValue(value: PlanValue): string {
  if (value.kind === 'null')
    return value.type.id === 'NULL' ? 'NULL' : `CAST(NULL AS ${printType(value.type)})`;
  const type = printType(value.type);
  switch (value.kind) {
    case 'scalar':
      return printScalar(value.type, type, value.value);
    case 'interval':
      return `CAST('${value.months} months ${value.days} days ${value.micros} microseconds' AS INTERVAL)`;
    case 'nested': {
      const children = value.children.map(printValue);
      if (value.type.kind === 'struct') {
        const { fields } = value.type;
        if (fields.length !== children.length) throw new NotPrintable('a struct with missing fields');
        const pairs = fields.map((field, index) => `${quoteIdentifier(field.name)} := ${children[index]}`);
        return `struct_pack(${pairs.join(', ')})`;
      }
      return `CAST([${children.join(', ')}] AS ${type})`;
    }
  }
}

function printScalar(type: LogicalType, name: string, value: ScalarValue): string {
  const { id } = type;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (typeof value === 'string') return `CAST(${quoteString(value)} AS ${name})`;
  if (value instanceof Uint8Array) return `CAST('${bytesText(id, value)}' AS ${name})`;
  if (typeof value === 'number') {
    const text = `CAST('${floatText(value)}' AS DOUBLE)`;
    // A FLOAT is exact as a DOUBLE, and its shortest text as a DOUBLE may be read as another FLOAT.
    return id === 'FLOAT' ? `CAST(${text} AS FLOAT)` : text;
  }
  if (type.kind === 'decimal') return `CAST('${decimalText(value, type.scale)}' AS ${name})`;
  if (/^U?(?:TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT)$/.test(id)) return `CAST('${value}' AS ${name})`;
  const text = id === 'TIME' ? timeText(value) : timestampText(id, value);
  if (text === undefined) throw new NotPrintable(`a constant of type ${id} that has no plain text`);
  return `CAST('${text}' AS ${name})`;
}

function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf';
  return Object.is(value, -0) ? '-0.0' : String(value);
}

function bytesText(id: string, bytes: Uint8Array): string {
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0').toUpperCase());
  if (id === 'BLOB') return hex.map((byte) => `\\x${byte}`).join('');
  if (id !== 'UUID') throw new NotPrintable(`a constant of type ${id}`);
  return hex
    .join('')
    .toLowerCase()
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function timeText(micros: bigint): string {
  const part = (value: bigint, digits: number) => String(value).padStart(digits, '0');
  const seconds = micros / 1_000_000n;
  const clock = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((value) => part(value, 2));
  return `${clock.join(':')}.${part(micros % 1_000_000n, 6)}`;
}
