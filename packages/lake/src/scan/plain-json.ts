import { isJsonNumber, type JsonValue } from '../iceberg/spec/lossless-json.js';

/** A JSON value as plain data, in which numbers are their text. */
export function plainJson(value: JsonValue): unknown {
  if (isJsonNumber(value)) return value.value;
  if (Array.isArray(value)) return value.map(plainJson);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainJson(inner)]));
}
