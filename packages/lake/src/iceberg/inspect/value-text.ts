/** Bounds and partition values as text: values as the specification writes them in JSON, parts of time as dates. */
import { decodeBinaryValue } from '../spec/binary-value.js';
import { printDate, printJsonValue } from '../spec/json-value.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import type { Transform } from '../transforms/transform.js';

export function valueText(type: PrimitiveType, value: PrimitiveValue): string {
  return String(printJsonValue(type, value));
}

/** `null` when the bytes cannot be of this type. */
export function boundText(type: PrimitiveType, bound: Uint8Array): string | null {
  const value = decodeBinaryValue(type, bound);
  return value === undefined ? null : valueText(type, value);
}

/** A value that the transform made: `2024`, `2024-05`, `2024-05-01`, `2024-05-01-13`, else the value. */
export function partitionText(transform: Transform, type: PrimitiveType, value: PrimitiveValue): string {
  const number = Number(value);
  switch (transform.kind) {
    case 'year':
      return String(1970 + number);
    case 'month': {
      const [year, month] = [1970 + Math.floor(number / 12), number - Math.floor(number / 12) * 12 + 1];
      return `${year}-${String(month).padStart(2, '0')}`;
    }
    case 'day':
      return printDate(number);
    case 'hour': {
      const days = Math.floor(number / 24);
      return `${printDate(days)}-${String(number - days * 24).padStart(2, '0')}`;
    }
    default:
      return valueText(type, value);
  }
}
