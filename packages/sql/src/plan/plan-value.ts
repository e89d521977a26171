import { isJsonObject, JsonNumber, type JsonValue } from '../json/lossless.js';
import { integerTypeNames, type LogicalType, readLogicalType } from './logical-type.js';
import { PlanNotUnderstood, PlanReader } from './plan-reader.js';

/** An exact constant; the forms are those of `Literal` in scan-request.ts. */
export type ScalarValue = boolean | bigint | number | string | Uint8Array;

/** A constant of a plan. */
export type PlanValue =
  | { readonly kind: 'null'; readonly type: LogicalType }
  | { readonly kind: 'scalar'; readonly type: LogicalType; readonly value: ScalarValue }
  /** Months, days and microseconds, not comparable part by part. */
  | {
      readonly kind: 'interval';
      readonly type: LogicalType;
      readonly months: bigint;
      readonly days: bigint;
      readonly micros: bigint;
    }
  /** LIST, ARRAY, STRUCT: one child per element or field. */
  | { readonly kind: 'nested'; readonly type: LogicalType; readonly children: readonly PlanValue[] };

const integerTypes: ReadonlySet<string> = new Set([
  ...integerTypeNames,
  'HUGEINT',
  'UHUGEINT',
  'DECIMAL',
  'DATE',
  'TIME',
  'TIME_NS',
  'TIME WITH TIME ZONE',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
]);

/** Throws PlanNotUnderstood for types whose constants this package cannot carry exactly. */
export function readPlanValue(json: JsonValue | undefined): PlanValue {
  const reader = new PlanReader(json, 'constant');
  const type = readLogicalType(reader.value('type'));
  const isNull = reader.flag('is_null');
  const value = reader.value('value');
  reader.end();
  if (isNull) return { kind: 'null', type };
  if (type.id === 'INTERVAL') return readInterval(type, value);
  if (type.kind === 'list' || type.kind === 'array' || type.kind === 'struct') return readNested(type, value);
  return { kind: 'scalar', type, value: readScalar(type, value) };
}

function readScalar(type: LogicalType, value: JsonValue | undefined): ScalarValue {
  if (integerTypes.has(type.id)) return readInteger(type.id, value);
  if (type.id === 'BOOLEAN' && typeof value === 'boolean') return value;
  if (type.id === 'VARCHAR' && typeof value === 'string') return value;
  if (type.id === 'BLOB' && typeof value === 'string') return readBlob(value);
  if (type.id === 'UUID') return readUuid(readInteger(type.id, value));
  if (type.id === 'DOUBLE' && value instanceof JsonNumber) return readFloat(value.text);
  // Printed with more digits than a FLOAT has; rounding gives the very value back.
  if (type.id === 'FLOAT' && value instanceof JsonNumber) return Math.fround(readFloat(value.text));
  throw new PlanNotUnderstood(`a constant of type ${type.id}`);
}

/** 128-bit integers come in two halves, the upper one signed. */
function readInteger(id: string, value: JsonValue | undefined): bigint {
  if (value instanceof JsonNumber && /^-?\d+$/.test(value.text)) return BigInt(value.text);
  if (isJsonObject(value)) {
    const halves = new PlanReader(value, id);
    const number = (halves.integer('upper') << 64n) + halves.integer('lower');
    halves.end();
    return number;
  }
  throw new PlanNotUnderstood(`an integer of type ${id}`);
}

function readFloat(text: string): number {
  return /^nan$/i.test(text)
    ? Number.NaN
    : /inf/i.test(text)
      ? (text.startsWith('-') ? -1 : 1) * Infinity
      : Number(text);
}

/** Printable ASCII stands for itself, every other byte is \xHH. */
function readBlob(text: string): Uint8Array {
  const bytes: number[] = [];
  for (const part of text.matchAll(/\\x([0-9A-Fa-f]{2})|([\s\S])/g)) {
    const [, hex, plain] = part;
    const byte = hex === undefined ? (plain ?? '').charCodeAt(0) : Number.parseInt(hex, 16);
    if (byte > 0x7f && hex === undefined) throw new PlanNotUnderstood('a blob constant that is not escaped');
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** The engine keeps a UUID as a 128-bit integer with its first bit flipped, so that it sorts as a signed one. */
function readUuid(number: bigint): Uint8Array {
  const bytes = new Uint8Array(16);
  let rest = BigInt.asUintN(128, number) ^ (1n << 127n);
  for (let index = 15; index >= 0; index--) {
    bytes[index] = Number(rest & 0xffn);
    rest >>= 8n;
  }
  return bytes;
}

function readInterval(type: LogicalType, value: JsonValue | undefined): PlanValue {
  const parts = new PlanReader(value, 'INTERVAL');
  const interval = {
    kind: 'interval' as const,
    type,
    months: parts.integer('months'),
    days: parts.integer('days'),
    micros: parts.integer('micros'),
  };
  parts.end();
  return interval;
}

function readNested(type: LogicalType, value: JsonValue | undefined): PlanValue {
  const reader = new PlanReader(value, type.id);
  const children = reader.list('children').map(readPlanValue);
  reader.end();
  return { kind: 'nested', type, children };
}
