import { QueryError } from '@svc/base';

/**
 * JSON as DuckDB writes it, with every number kept as its text: absent locations are 18446744073709551615, `10.0` is
 * not `10`, and an overflowing literal is written as a bare `Infinity`. A general lossless parser refuses the last and
 * is several times slower, so this package has its own.
 */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

export type JsonValue = null | boolean | string | JsonNumber | JsonArray | JsonObject;
export type JsonArray = readonly JsonValue[];
export interface JsonObject {
  readonly [field: string]: JsonValue;
}

/** Deeper documents are refused: everything that walks one is recursive, and DuckDB's own limits stop well before. */
const maxDepth = 5_000;

type MutableObject = Record<string, JsonValue>;
type Container = JsonValue[] | MutableObject;

const quote = 0x22;
const backslash = 0x5c;
/** What may follow a value or stand between tokens; anything below a space counts as white. */
const space = 0x20;
const numberToken = /-?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Infinity|NaN|nan|inf)/y;

function malformed(at: number): QueryError {
  return new QueryError('INTERNAL_ERROR', `The engine answered malformed JSON at offset ${at}.`);
}

/**
 * Parses without recursion. Throws INTERNAL_ERROR on malformed text (the engine wrote it, so it is never the user's
 * fault) and STATEMENT_TOO_LARGE when it is nested too deeply.
 */
export function parseJson(text: string): JsonValue {
  const stack: Container[] = [];
  const keys: string[] = [];
  let container: Container | undefined;
  let key = '';
  let at = 0;

  const skipWhite = (): void => {
    while (text.charCodeAt(at) <= space) at++;
  };

  const readString = (): string => {
    const start = at + 1;
    let end = text.indexOf('"', start);
    if (end < 0) throw malformed(start);
    const plain = text.slice(start, end);
    if (!plain.includes('\\')) {
      at = end + 1;
      return plain;
    }
    for (let scan = start; ; scan++) {
      const code = text.charCodeAt(scan);
      if (code === backslash) scan++;
      else if (code === quote) {
        end = scan;
        break;
      } else if (Number.isNaN(code)) throw malformed(start);
    }
    at = end + 1;
    return unescapeString(text.slice(start - 1, end + 1), start);
  };

  const readKey = (): void => {
    skipWhite();
    if (text.charCodeAt(at) !== quote) throw malformed(at);
    key = readString();
    skipWhite();
    if (text.charCodeAt(at) !== 0x3a) throw malformed(at);
    at++;
  };

  const readScalar = (): JsonValue => {
    const code = text.charCodeAt(at);
    if (code === quote) return readString();
    if (code === 0x74 && text.startsWith('true', at)) {
      at += 4;
      return true;
    }
    if (code === 0x66 && text.startsWith('false', at)) {
      at += 5;
      return false;
    }
    if (code === 0x6e && text.startsWith('null', at)) {
      at += 4;
      return null;
    }
    numberToken.lastIndex = at;
    const match = numberToken.exec(text);
    if (match === null) throw malformed(at);
    at += match[0].length;
    return new JsonNumber(match[0]);
  };

  for (;;) {
    skipWhite();
    const code = text.charCodeAt(at);
    let value: JsonValue | undefined;
    if (code === 0x7b || code === 0x5b) {
      at++;
      skipWhite();
      const opened: Container = code === 0x7b ? {} : [];
      if (text.charCodeAt(at) === (code === 0x7b ? 0x7d : 0x5d)) {
        at++;
        value = opened;
      } else {
        if (container !== undefined) {
          stack.push(container);
          keys.push(key);
        }
        if (stack.length >= maxDepth)
          throw new QueryError('STATEMENT_TOO_LARGE', 'The statement is nested too deeply.');
        container = opened;
        if (code === 0x7b) readKey();
        continue;
      }
    } else value = readScalar();

    // Put the finished value into its container; a container that ends here is itself such a value.
    for (;;) {
      if (container === undefined) {
        skipWhite();
        if (at < text.length) throw malformed(at);
        return value;
      }
      put(container, key, value);
      skipWhite();
      const after = text.charCodeAt(at);
      at++;
      if (after === 0x2c) {
        if (!Array.isArray(container)) readKey();
        break;
      }
      if (after !== (Array.isArray(container) ? 0x5d : 0x7d)) throw malformed(at - 1);
      value = container;
      container = stack.pop();
      key = keys.pop() ?? '';
    }
  }
}

function unescapeString(literal: string, start: number): string {
  try {
    return JSON.parse(literal) as string;
  } catch {
    throw malformed(start);
  }
}

function put(container: Container, key: string, value: JsonValue): void {
  if (Array.isArray(container)) container.push(value);
  else if (key === '__proto__')
    Object.defineProperty(container, key, { value, enumerable: true, configurable: true, writable: true });
  else container[key] = value;
}

/** Writes what `parseJson` read, numbers verbatim. */
export function stringifyJson(value: JsonValue): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === null || typeof value === 'boolean') return String(value);
  if (value instanceof JsonNumber) return value.text;
  if (Array.isArray(value)) return `[${(value as JsonArray).map(stringifyJson).join(',')}]`;
  const fields = Object.entries(value as JsonObject);
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${stringifyJson(field)}`).join(',')}}`;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

export function isJsonArray(value: JsonValue | undefined): value is JsonArray {
  return Array.isArray(value);
}
