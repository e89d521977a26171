/** JSON of table metadata and catalogs: numbers keep every digit, so that a rewrite changes nothing it does not mean to. */
import { QueryError } from '@svc/base';
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';

export type JsonValue = null | boolean | string | LosslessNumber | readonly JsonValue[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: JsonValue;
}

/** Parses UTF-8 JSON text. Anything wrong is DATA_CORRUPT with `source` in front. */
export function parseJson(text: string | Uint8Array, source: string): JsonValue {
  try {
    const decoded = typeof text === 'string' ? text : new TextDecoder('utf-8', { fatal: true }).decode(text);
    return parse(decoded) as JsonValue;
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is nested too deeply' : (error as Error).message;
    throw new QueryError('DATA_CORRUPT', `${source} is not valid JSON: ${clip(reason, 200)}.`, {
      cause: error,
    });
  }
}

export function printJson(value: JsonValue): string {
  return stringify(value) ?? 'null';
}

/** A number as a JSON value; integers of any size and finite floats. */
export function jsonNumber(value: number | bigint): LosslessNumber {
  return new LosslessNumber(String(value));
}

export function isJsonNumber(value: unknown): value is LosslessNumber {
  return isLosslessNumber(value);
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** Text for an error message, cut to a bearable length. */
export function clip(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`;
}
