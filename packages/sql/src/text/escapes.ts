import { type TokenList, tokenKinds } from './token-list.js';
import { tokenize } from './tokenizer.js';

/** What a `{d '…'}` of JDBC and ODBC stands for. */
const literalTypes: Readonly<Record<string, string>> = { D: 'DATE', T: 'TIME', TS: 'TIMESTAMP' };

/** The unit of TIMESTAMPADD, and of TIMESTAMPDIFF, by its name without SQL_TSI_. */
const units: Readonly<Record<string, { readonly interval: string; readonly part: string }>> = {
  SECOND: { interval: '1 SECOND', part: 'second' },
  MINUTE: { interval: '1 MINUTE', part: 'minute' },
  HOUR: { interval: '1 HOUR', part: 'hour' },
  DAY: { interval: '1 DAY', part: 'day' },
  WEEK: { interval: '7 DAY', part: 'week' },
  MONTH: { interval: '1 MONTH', part: 'month' },
  QUARTER: { interval: '3 MONTH', part: 'quarter' },
  YEAR: { interval: '1 YEAR', part: 'year' },
};

/**
 * Functions of an escape that the engine has by another name, or not as a function. Undefined: not with these arguments, whose
 * order stays, because parameters are counted.
 */
const functions: Readonly<Record<string, (args: readonly string[]) => string | undefined>> = {
  TIMESTAMPADD: ([unit, count, moment]) => {
    const found = unitOf(unit);
    return found && count && moment ? `((${count}) * INTERVAL ${found.interval} + (${moment}))` : undefined;
  },
  TIMESTAMPDIFF: ([unit, from, to]) => {
    const found = unitOf(unit);
    return found && from && to ? `date_diff('${found.part}', ${from}, ${to})` : undefined;
  },
  CURDATE: () => 'CURRENT_DATE',
  CURTIME: () => 'CURRENT_TIME',
  CONVERT: ([value, type]) => {
    const name = /^SQL_(\w+)$/i.exec(type?.trim() ?? '')?.[1];
    return value && name ? `CAST(${value} AS ${name})` : undefined;
  },
};

function unitOf(unit: string | undefined) {
  const name =
    unit
      ?.trim()
      .toUpperCase()
      .replace(/^SQL_TSI_/, '') ?? '';
  return Object.hasOwn(units, name) ? units[name] : undefined;
}

/**
 * Takes the escapes of JDBC and ODBC out of a text: `{d '2026-01-31'}`, `{t …}`, `{ts …}`, `{fn NAME(…)}`, `{oj …}`. Drivers
 * should translate them and those of Flight SQL do not. Works on tokens, so texts, names and comments are never touched, and
 * a struct (`{d: 1}`) is none. A text that does not split into tokens is answered as it is: its error is for the parser.
 */
export function withoutEscapes(sql: string): string {
  if (!sql.includes('{')) return sql;
  let tokens: TokenList;
  try {
    tokens = tokenize(sql);
  } catch {
    return sql;
  }
  return rewritten({ tokens, closers: closersOf(tokens) }, 0, tokens.count);
}

interface Text {
  readonly tokens: TokenList;
  /** By the index of an opening bracket, the index of the one that closes it. */
  readonly closers: Int32Array;
}

/** One pass, so that a text with many brackets within one another costs no more than another. */
function closersOf(tokens: TokenList): Int32Array {
  const closers = new Int32Array(tokens.count);
  const open: number[] = [];
  for (let index = 0; index < tokens.count; index++) {
    if (isOneOf(tokens, index, '([{')) open.push(index);
    else if (isOneOf(tokens, index, ')]}')) closers[open.pop() ?? 0] = index;
  }
  return closers;
}

function isOneOf(tokens: TokenList, index: number, signs: string): boolean {
  return tokens.kind(index) === tokenKinds.punctuation && signs.includes(tokens.text(index));
}

/** The text of the tokens from `first` on and before `last`; of all of them with what is around them. */
function rewritten(text: Text, first: number, last: number): string {
  const { tokens, closers } = text;
  const isWhole = first === 0 && last === tokens.count;
  let output = '';
  let copied = isWhole ? 0 : tokens.start(first);
  for (let index = first; index < last; index++) {
    if (!tokens.is(index, '{')) continue;
    const close = closers[index] ?? index;
    const plain = escapeText(text, index, close);
    if (plain === undefined) continue;
    output += tokens.sql.slice(copied, tokens.start(index)) + plain;
    copied = tokens.end(close);
    index = close;
  }
  const end = isWhole ? tokens.sql.length : last > first ? tokens.end(last - 1) : copied;
  return output + tokens.sql.slice(copied, end);
}

/** What stands for the escape between these brackets; undefined when it is none. */
function escapeText(text: Text, open: number, close: number): string | undefined {
  const { tokens } = text;
  const name = open + 1;
  if (tokens.kind(name) !== tokenKinds.word) return undefined;
  const word = tokens.text(name).toUpperCase();
  const type = Object.hasOwn(literalTypes, word) ? literalTypes[word] : undefined;
  if (type !== undefined && tokens.kind(name + 1) === tokenKinds.string && close === name + 2)
    return `${type} ${tokens.text(name + 1)}`;
  if ((word !== 'FN' && word !== 'OJ') || tokens.kind(name + 1) !== tokenKinds.word) return undefined;
  return (
    (word === 'FN' ? functionText(text, name + 1, close) : undefined) ?? rewritten(text, name + 1, close)
  );
}

/** Undefined for a function that needs no change but in its arguments. */
function functionText(text: Text, name: number, close: number): string | undefined {
  const { tokens, closers } = text;
  const word = tokens.text(name).toUpperCase();
  const write = Object.hasOwn(functions, word) ? functions[word] : undefined;
  if (write === undefined || !tokens.is(name + 1, '(') || closers[name + 1] !== close - 1) return undefined;
  const args = argumentsOf(text, name + 1, close - 1);
  return write(args) ?? `${tokens.text(name)}(${args.join(', ')})`;
}

/** The arguments between two brackets, their own escapes taken out. */
function argumentsOf(text: Text, open: number, close: number): readonly string[] {
  const { tokens, closers } = text;
  const found: string[] = [];
  let first = open + 1;
  for (let index = first; index <= close; index++) {
    if (index < close && isOneOf(tokens, index, '([{')) index = closers[index] ?? index;
    else if (index === close || tokens.is(index, ',')) {
      found.push(rewritten(text, first, index));
      first = index + 1;
    }
  }
  return found;
}
