/**
 * JSON of logs: by JavaScript's own parser where no number can lose digits in it, else by the lossless one, which took 25
 * times as long for a commit of 100,000 files with statistics.
 */
import { isJsonNumber, type JsonValue, jsonNumber, parseJson } from '../../iceberg/spec/lossless-json.js';

/** A double holds every number of 15 characters or fewer exactly as it is written. */
const longNumber = /[:[,]\s*-?\d[\d.eE+-]{15,}/;
/** The same for a line of a log, where JSON inside of texts has its quotes escaped. */
const longNumberOfLine = /(?<!\\)"\s*:\s*-?\d[\d.eE+-]{15,}/;

/**
 * Numbers are doubles, or where one could lose digits JSON numbers of the lossless parser: see `numberText`. Throws for
 * what is no JSON.
 */
export function parseStatisticsText(text: string, source: string): unknown {
  return longNumber.test(text) ? parseJson(text, source) : JSON.parse(text);
}

/** The digits of a number of such a text; `undefined` when it is none. */
export function numberText(value: unknown): string | undefined {
  if (typeof value === 'number') return String(value);
  return isJsonNumber(value) ? value.value : undefined;
}

/** Numbers that are values of keys keep their value to the last digit (those in lists may not), but not their spelling. */
export function parseLogLine(line: Uint8Array, source: string): JsonValue {
  const { buffer, byteOffset, byteLength } = line;
  const text = Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
  // What is no UTF-8 gets a replacement character here: the other parser says what is wrong.
  if (text.includes('\uFFFD') || longNumberOfLine.test(text)) return parseJson(line, source);
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return parseJson(line, source); // For its message.
  }
  return toJsonValue(parsed, line, source);
}

class Unbounded extends Error {}

function toJsonValue(parsed: unknown, line: Uint8Array, source: string): JsonValue {
  try {
    return convert(parsed);
  } catch (error) {
    if (error instanceof Unbounded || error instanceof RangeError) return parseJson(line, source);
    throw error;
  }
}

function convert(value: unknown): JsonValue {
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new Unbounded();
    return jsonNumber(value);
  }
  if (typeof value === 'string' || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, convert(inner)]));
}
