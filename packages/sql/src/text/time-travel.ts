import { identifierValue } from './literals.js';
import { type TokenList, tokenKinds } from './token-list.js';
import { syntaxError } from './tokenizer.js';

/** One `FOR … AS OF …` that became an `AT (…)`. Offsets are UTF-16, in the text before and after the rewrite. */
export interface TimeTravelChange {
  readonly before: { readonly start: number; readonly end: number };
  readonly after: { readonly start: number; readonly end: number };
}

export interface TimeTravelRewrite {
  readonly sql: string;
  readonly changes: readonly TimeTravelChange[];
}

const units: Readonly<Record<string, string>> = {
  VERSION: 'VERSION',
  SYSTEM_VERSION: 'VERSION',
  TIMESTAMP: 'TIMESTAMP',
  SYSTEM_TIME: 'TIMESTAMP',
};

/** Words that continue a query behind a table, so they are never its alias. */
const clauseWords: ReadonlySet<string> = new Set(
  (
    'WHERE GROUP HAVING QUALIFY WINDOW ORDER LIMIT OFFSET FETCH FOR UNION EXCEPT INTERSECT MINUS ON USING JOIN INNER ' +
    'LEFT RIGHT FULL OUTER CROSS NATURAL POSITIONAL ASOF SEMI ANTI LATERAL TABLESAMPLE SAMPLE PIVOT UNPIVOT SELECT ' +
    'PIVOT_WIDER PIVOT_LONGER WHEN SET RETURNING AT FROM'
  ).split(' '),
);

/** Words and signs that end the point in time when they stand outside of brackets. */
const pointEnds: ReadonlySet<string> = new Set([...clauseWords, 'AS']);

/**
 * `t FOR VERSION|TIMESTAMP|SYSTEM_TIME AS OF x [AS alias]` → `t [AS alias] AT (VERSION|TIMESTAMP => x)`, which DuckDB's
 * parser takes. Works on tokens, so strings, names and comments are never touched.
 */
export function rewriteTimeTravel(tokens: TokenList): TimeTravelRewrite {
  const { sql } = tokens;
  const changes: TimeTravelChange[] = [];
  let output = '';
  let copied = 0;
  for (let index = 1; index < tokens.count; index++) {
    if (!tokens.is(index, 'FOR')) continue;
    const unit = unitAt(tokens, index);
    if (unit === undefined) continue;
    const pointStart = index + 4;
    const pointEnd = endOfPoint(tokens, pointStart);
    if (pointEnd === pointStart)
      throw syntaxError(sql, tokens.start(pointStart), `expected what FOR ${unit} AS OF refers to`);
    const aliasEnd = endOfAlias(tokens, pointEnd);
    const start = tokens.start(index);
    const end = tokens.end(aliasEnd - 1);
    const point = sql.slice(tokens.start(pointStart), tokens.end(pointEnd - 1));
    const alias = aliasEnd > pointEnd ? `${sql.slice(tokens.start(pointEnd), end)} ` : '';
    output += sql.slice(copied, start);
    // The line break keeps a line comment inside the point from swallowing the bracket.
    const replacement = `${alias}AT (${unit} => ${point}${point.includes('--') ? '\n' : ''})`;
    changes.push({
      before: { start, end },
      after: { start: output.length, end: output.length + replacement.length },
    });
    output += replacement;
    copied = end;
    index = aliasEnd - 1;
  }
  return { sql: changes.length === 0 ? sql : output + sql.slice(copied), changes };
}

function unitAt(tokens: TokenList, index: number): string | undefined {
  if (!tokens.is(index + 2, 'AS') || !tokens.is(index + 3, 'OF')) return undefined;
  const word = tokens.text(index + 1).toUpperCase();
  return tokens.kind(index + 1) === tokenKinds.word && Object.hasOwn(units, word) ? units[word] : undefined;
}

function endOfPoint(tokens: TokenList, start: number): number {
  let depth = 0;
  for (let index = start; index < tokens.count; index++) {
    const text = tokens.text(index);
    const kind = tokens.kind(index);
    if (kind === tokenKinds.punctuation) {
      if (depth === 0 && (text === ',' || text === ')')) return index;
      if (text === '(' || text === '[' || text === '{') depth++;
      else if (text === ')' || text === ']' || text === '}') depth--;
    } else if (depth === 0 && kind === tokenKinds.word && index > start) {
      const upper = text.toUpperCase();
      if (
        (upper === 'AT' || upper === 'WITH') &&
        tokens.is(index + 1, 'TIME') &&
        tokens.is(index + 2, 'ZONE')
      ) {
        index += 2;
        continue;
      }
      if (pointEnds.has(upper) || startsAlias(tokens, index)) return index;
    } else if (depth === 0 && index > start && kind === tokenKinds.quoted && startsAlias(tokens, index))
      return index;
  }
  return tokens.count;
}

/** A name right behind a finished value is an alias, except the unit of an interval and the string of a typed literal. */
function startsAlias(tokens: TokenList, index: number): boolean {
  const previous = tokens.kind(index - 1);
  if (previous === tokenKinds.operator) return false;
  if (tokens.is(index - 1, '.')) return false;
  if (previous === tokenKinds.string || previous === tokenKinds.number)
    return !tokens.is(index - 2, 'INTERVAL');
  if (previous === tokenKinds.punctuation) return tokens.is(index - 1, ')') || tokens.is(index - 1, ']');
  if (previous === tokenKinds.word) return !tokens.is(index - 1, 'INTERVAL');
  return true;
}

function endOfAlias(tokens: TokenList, start: number): number {
  let index = start;
  if (tokens.is(index, 'AS')) index++;
  else if (clauseWords.has(tokens.text(index).toUpperCase()) && tokens.kind(index) === tokenKinds.word)
    return start;
  if (identifierValue(tokens, index) === undefined) return start;
  index++;
  if (!tokens.is(index, '(')) return index;
  let depth = 0;
  for (; index < tokens.count; index++) {
    if (tokens.is(index, '(')) depth++;
    else if (tokens.is(index, ')') && --depth === 0) return index + 1;
  }
  return index;
}
