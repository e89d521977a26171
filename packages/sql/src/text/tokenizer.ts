import { QueryError } from '@svc/base';
import { type TokenKind, TokenList, tokenKinds } from './token-list.js';

/**
 * Splits SQL text the way DuckDB's scanner does: '' strings, E'' strings with backslashes, "" identifiers, dollar
 * quotes, nested block comments, line comments (ended by \n or \r), parameters (?, ?1, $1, $name). Comments and white
 * space are dropped. One pass; every character is looked at a bounded number of times.
 */

/**
 * Deepest allowed nesting of ( [ {. DuckDB refuses expressions deeper than max_expression_depth = 1000, and every
 * bracket that holds an expression costs it at least one level, so no statement that it takes is lost but one with more
 * than a thousand redundant parentheses. Its parser is never shown anything deeper.
 */
export const maxBracketDepth = 1_000;

const wordStart =
  /[A-Za-z_\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff]/;
const word =
  /[A-Za-z_\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff][A-Za-z0-9_$\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff]*/y;
const number =
  /0[xX][0-9a-fA-F_]+|0[bB][01_]+|0[oO][0-7_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][-+]?\d[\d_]*)?/y;
const dollarTag =
  /\$(?:[A-Za-z_\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff][A-Za-z0-9_\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff]*)?\$/y;
const dollarParameter =
  /\$(?:\d+|[A-Za-z_\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff][A-Za-z0-9_$\u0080-\u009f\u00a1-\u1fff\u200c-\u202e\u2030-\u205e\u2061-\u2fff\u3001-\ufefe\uff00-\uffff]*)/y;
const questionParameter = /\?\d*/y;
/** DuckDB treats these as blanks outside of quotes, besides ASCII white space; every other character above ASCII is a letter. */
const unicodeSpace = /[\u00a0\u2000-\u200b\u202f\u205f\u2060\u3000\ufeff]/;
const operatorCharacters = '+-*/<>=~!@#%^&|`:';
const commentEdge = /\/\*|\*\//g;
const lineEnd = /[\n\r]/g;
const stringStop = /['\\]/g;

const closers: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}' };

/** Throws SYNTAX_ERROR with the position (1-based line and column), STATEMENT_TOO_LARGE when nested too deeply. */
export function tokenize(sql: string): TokenList {
  const bad = sql.search(/[\0\p{Cs}]/u);
  if (bad >= 0) {
    const what = sql.charCodeAt(bad) === 0 ? 'a NUL character' : 'half of a surrogate pair';
    throw syntaxError(sql, bad, `the text contains ${what}`);
  }
  const tokens = new TokenList(sql);
  const open: number[] = [];
  let at = 0;
  while (at < sql.length) {
    const end = skipBlank(sql, at);
    if (end > at) {
      at = end;
      continue;
    }
    const next = readToken(sql, at, tokens);
    trackBrackets(sql, at, next, open);
    at = next;
  }
  const unclosed = open[0];
  if (unclosed !== undefined) throw syntaxError(sql, unclosed, `"${sql.charAt(unclosed)}" is never closed`);
  return tokens;
}

/** A SYNTAX_ERROR that says where: line and column count from 1, columns in characters. */
export function syntaxError(sql: string, at: number, problem: string): QueryError {
  const before = sql.slice(0, at);
  const lineStart = Math.max(before.lastIndexOf('\n'), before.lastIndexOf('\r')) + 1;
  const line = before.split(/\r\n|\n|\r/).length;
  const near = [...sql.slice(at, at + 40)]
    .slice(0, 20)
    .join('')
    .replace(/\p{Cc}/gu, ' ')
    .replace(/\p{Cs}/gu, '\ufffd');
  return new QueryError(
    'SYNTAX_ERROR',
    `Syntax error at line ${line}, column ${at - lineStart + 1}${near === '' ? '' : ` near "${near}"`}: ${problem}.`,
  );
}

function skipBlank(sql: string, at: number): number {
  const code = sql.charCodeAt(at);
  if (code <= 0x20 || (code >= 0x80 && unicodeSpace.test(sql.charAt(at)))) return at + 1;
  if (code === 0x2d && sql.charCodeAt(at + 1) === 0x2d) {
    lineEnd.lastIndex = at;
    return lineEnd.exec(sql) === null ? sql.length : lineEnd.lastIndex;
  }
  if (code === 0x2f && sql.charCodeAt(at + 1) === 0x2a) return endOfBlockComment(sql, at);
  return at;
}

function endOfBlockComment(sql: string, start: number): number {
  let depth = 0;
  commentEdge.lastIndex = start;
  for (;;) {
    const edge = commentEdge.exec(sql);
    if (edge === null) throw syntaxError(sql, start, 'the comment is never closed');
    depth += edge[0] === '/*' ? 1 : -1;
    if (depth === 0) return commentEdge.lastIndex;
  }
}

function readToken(sql: string, at: number, tokens: TokenList): number {
  const character = sql.charAt(at);
  const add = (kind: TokenKind, end: number): number => {
    tokens.push(kind, at, end);
    return end;
  };
  if (wordStart.test(character)) {
    if ((character === 'e' || character === 'E') && sql.charAt(at + 1) === "'")
      return add(tokenKinds.string, endOfEscapeString(sql, at + 1));
    return add(tokenKinds.word, endOf(word, sql, at));
  }
  if (isDigit(character) || (character === '.' && isDigit(sql.charAt(at + 1))))
    return add(tokenKinds.number, endOf(number, sql, at));
  if (character === "'") return add(tokenKinds.string, endOfQuoted(sql, at, "'", 'string'));
  if (character === '"') return add(tokenKinds.quoted, endOfQuoted(sql, at, '"', 'quoted identifier'));
  if (character === '$') return readDollar(sql, at, add);
  if (character === '?') return add(tokenKinds.parameter, endOf(questionParameter, sql, at));
  if ('()[]{},;.'.includes(character)) return add(tokenKinds.punctuation, at + 1);
  if (operatorCharacters.includes(character)) return add(tokenKinds.operator, endOfOperator(sql, at));
  throw syntaxError(sql, at, 'this character cannot start anything');
}

function readDollar(sql: string, at: number, add: (kind: TokenKind, end: number) => number): number {
  dollarTag.lastIndex = at;
  const tag = dollarTag.exec(sql)?.[0];
  if (tag !== undefined) {
    const close = sql.indexOf(tag, at + tag.length);
    if (close < 0) throw syntaxError(sql, at, `the dollar-quoted string has no closing ${tag}`);
    return add(tokenKinds.string, close + tag.length);
  }
  dollarParameter.lastIndex = at;
  if (dollarParameter.test(sql)) return add(tokenKinds.parameter, dollarParameter.lastIndex);
  throw syntaxError(sql, at, '"$" starts neither a parameter nor a dollar-quoted string');
}

function endOf(pattern: RegExp, sql: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(sql) ? pattern.lastIndex : at + 1;
}

function endOfQuoted(sql: string, start: number, delimiter: string, what: string): number {
  let at = start + 1;
  for (;;) {
    const close = sql.indexOf(delimiter, at);
    if (close < 0) throw syntaxError(sql, start, `the ${what} is never closed`);
    if (sql.charAt(close + 1) !== delimiter) return close + 1;
    at = close + 2;
  }
}

function endOfEscapeString(sql: string, start: number): number {
  stringStop.lastIndex = start + 1;
  for (;;) {
    const stop = stringStop.exec(sql);
    if (stop === null) throw syntaxError(sql, start, 'the string is never closed');
    if (stop[0] === '\\') stringStop.lastIndex++;
    else if (sql.charAt(stringStop.lastIndex) === "'") stringStop.lastIndex++;
    else return stringStop.lastIndex;
  }
}

/** The longest run of operator characters that does not run into a comment. */
function endOfOperator(sql: string, start: number): number {
  let at = start + 1;
  while (at < sql.length && operatorCharacters.includes(sql.charAt(at))) {
    const pair = sql.slice(at, at + 2);
    if (pair === '--' || pair === '/*') break;
    at++;
  }
  return at;
}

function isDigit(character: string): boolean {
  return character >= '0' && character <= '9';
}

function trackBrackets(sql: string, at: number, end: number, open: number[]): void {
  if (end !== at + 1) return;
  const character = sql.charAt(at);
  if (Object.hasOwn(closers, character)) {
    if (open.length >= maxBracketDepth)
      throw new QueryError(
        'STATEMENT_TOO_LARGE',
        `The statement nests brackets deeper than ${maxBracketDepth} levels; flatten it.`,
      );
    open.push(at);
  } else if (character === ')' || character === ']' || character === '}') {
    const opener = open.pop();
    if (opener === undefined) throw syntaxError(sql, at, `"${character}" closes nothing`);
    if (closers[sql.charAt(opener)] !== character)
      throw syntaxError(sql, at, `"${character}" does not close "${sql.charAt(opener)}"`);
  }
}
