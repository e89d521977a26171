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
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const words = [
  ['null', null],
  ['false', false],
  ['true', true],
] as const;
/** What may follow a value or stand between tokens; anything below a space counts as white. */
const space = 0x20;
const numberToken = /-?(?:\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|Infinity|NaN|nan|inf)/y;

function malformed(at: number): QueryError {
  return new QueryError('INTERNAL_ERROR', `The engine answered malformed JSON at offset ${at}.`);
}

/** Reads tokens of a JSON text, one after the other. */
class JsonScanner {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** Steps over white space and answers the character there; NaN at the end. */
  peek(): number {
    while (this.text.charCodeAt(this.at) <= space) this.at++;
    return this.text.charCodeAt(this.at);
  }

  /** `"key":` */
  key(): string {
    if (this.peek() !== quote) throw malformed(this.at);
    const key = this.string();
    if (this.peek() !== colon) throw malformed(this.at);
    this.at++;
    return key;
  }

  string(): string {
    const { text } = this;
    const start = this.at + 1;
    let end = text.indexOf('"', start);
    if (end < 0) throw malformed(start);
    const plain = text.slice(start, end);
    if (!plain.includes('\\')) {
      this.at = end + 1;
      return plain;
    }
    for (end = start; text.charCodeAt(end) !== quote; end++) {
      if (text.charCodeAt(end) === backslash) end++;
      if (end >= text.length) throw malformed(start);
    }
    this.at = end + 1;
    return unescapeString(text.slice(start - 1, end + 1), start);
  }

  scalar(): JsonValue {
    if (this.text.charCodeAt(this.at) === quote) return this.string();
    for (const [word, value] of words)
      if (this.text.startsWith(word, this.at)) {
        this.at += word.length;
        return value;
      }
    numberToken.lastIndex = this.at;
    const match = numberToken.exec(this.text);
    if (match === null) throw malformed(this.at);
    this.at += match[0].length;
    return new JsonNumber(match[0]);
  }
}

/**
 * Parses without recursion. Throws INTERNAL_ERROR on malformed text (the engine wrote it, so it is never the user's
 * fault) and STATEMENT_TOO_LARGE when it is nested too deeply.
 */
export function parseJson(text: string): JsonValue {
  const scanner = new JsonScanner(text);
  const stack: { readonly container: Container; readonly key: string }[] = [];
  let container: Container | undefined;
  let key = '';
  for (;;) {
    const code = scanner.peek();
    let value: JsonValue;
    if (code === openBrace || code === openBracket) {
      scanner.at++;
      const opened: Container = code === openBrace ? {} : [];
      if (scanner.peek() !== closerOf(opened)) {
        if (container !== undefined) stack.push({ container, key });
        if (stack.length >= maxDepth)
          throw new QueryError('STATEMENT_TOO_LARGE', 'The statement is nested too deeply.');
        container = opened;
        if (code === openBrace) key = scanner.key();
        continue;
      }
      scanner.at++;
      value = opened;
    } else value = scanner.scalar();

    // Put the finished value into its container; a container that ends here is itself such a value.
    for (;;) {
      const after = scanner.peek();
      if (container === undefined) {
        if (scanner.at < text.length) throw malformed(scanner.at);
        return value;
      }
      put(container, key, value);
      scanner.at++;
      if (after === comma) {
        if (!Array.isArray(container)) key = scanner.key();
        break;
      }
      if (after !== closerOf(container)) throw malformed(scanner.at - 1);
      value = container;
      const outer = stack.pop();
      container = outer?.container;
      key = outer?.key ?? '';
    }
  }
}

function closerOf(container: Container): number {
  return Array.isArray(container) ? closeBracket : closeBrace;
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
