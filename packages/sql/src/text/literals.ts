import { type TokenList, tokenKinds } from './token-list.js';

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** The text that a string token stands for, or undefined when the token is not a string. */
export function stringValue(tokens: TokenList, index: number): string | undefined {
  if (tokens.kind(index) !== tokenKinds.string) return undefined;
  const text = tokens.text(index);
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  if (text.startsWith('$')) {
    const tagLength = text.indexOf('$', 1) + 1;
    return text.slice(tagLength, -tagLength);
  }
  const escapeSequence =
    /\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|([\s\S]))|''/g;
  return text.slice(2, -1).replace(escapeSequence, (whole, ...groups: (string | undefined)[]) => {
    const [hex, short, long, octal, other] = groups;
    if (whole === "''") return "'";
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8));
    const code = hex ?? short ?? long;
    if (code !== undefined) {
      const point = Number.parseInt(code, 16);
      return point <= 0x10ffff ? String.fromCodePoint(point) : '\ufffd';
    }
    return escapes[other ?? ''] ?? other ?? '';
  });
}

/** The name that a word or quoted token stands for (case kept as written), or undefined. */
export function identifierValue(tokens: TokenList, index: number): string | undefined {
  const kind = tokens.kind(index);
  if (kind === tokenKinds.word) return tokens.text(index);
  if (kind === tokenKinds.quoted) return tokens.text(index).slice(1, -1).replaceAll('""', '"');
  return undefined;
}

/** A name as a quoted identifier. */
export function quoteIdentifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Text as a string literal; with a NUL in it, which the text of a statement cannot have, as an expression. */
export function quoteString(text: string): string {
  const parts = text.split('\0').map((part) => `'${part.replaceAll("'", "''")}'`);
  return parts.length === 1 ? parts.join() : `(${parts.join(' || chr(0) || ')})`;
}
