import { identifierValue } from '../text/literals.js';
import type { Cursor } from './cursor.js';
import { unsupported } from './refusals.js';
import type { RefusedStatement, Statement } from './statement.js';

const queryHeads: ReadonlySet<string> = new Set([
  'SELECT',
  'WITH',
  'FROM',
  'VALUES',
  'TABLE',
  'PIVOT',
  'PIVOT_WIDER',
  'PIVOT_LONGER',
  'UNPIVOT',
  'SUMMARIZE',
  '(',
]);

/** Whether a query starts here: SELECT, WITH, FROM first, VALUES, TABLE, PIVOT, UNPIVOT, SUMMARIZE, or a bracket. */
export function seesQuery(cursor: Cursor): boolean {
  return cursor.seesOneOf(queryHeads);
}

/** Takes the rest of the statement as one query, unless its WITH leads into a statement that writes. */
export function parseQuery(cursor: Cursor): Statement {
  return writeBehindWith(cursor) ?? { kind: 'query', statementType: 'query', sql: cursor.rest() };
}

/** `WITH … INSERT`: the verb stands outside of brackets, right behind the last common table expression. */
export function writeBehindWith(cursor: Cursor): RefusedStatement | undefined {
  if (!cursor.sees('WITH')) return undefined;
  const { tokens } = cursor;
  let depth = 0;
  for (let index = cursor.index; index < tokens.count; index++) {
    if (tokens.is(index, '(')) depth++;
    else if (tokens.is(index, ')')) depth--;
    if (depth !== 0 || !tokens.is(index, ')')) continue;
    const verb = identifierValue(tokens, index + 1)?.toUpperCase();
    if (verb === 'INSERT') return unsupported('insert', 'WITH … INSERT');
    if (verb === 'UPDATE') return unsupported('merge', 'WITH … UPDATE');
    if (verb === 'MERGE') return unsupported('merge', 'WITH … MERGE');
    if (verb === 'DELETE') return unsupported('delete', 'WITH … DELETE');
    if (verb === 'SELECT' || verb === 'FROM' || verb === 'VALUES' || verb === 'TABLE') return undefined;
  }
  return undefined;
}
