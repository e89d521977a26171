import type { Cursor } from './cursor.js';
import { parseQuery, seesQuery } from './query.js';
import { unsupported } from './refusals.js';
import type { Statement } from './statement.js';

const optionNames: ReadonlySet<string> = new Set([
  'FORMAT',
  'ANALYZE',
  'VERBOSE',
  'TYPE',
  'COSTS',
  'BUFFERS',
]);

/** EXPLAIN [ANALYZE] query. */
export function parseExplain(cursor: Cursor): Statement {
  cursor.expect('EXPLAIN');
  const analyze = cursor.accept('ANALYZE') || cursor.accept('ANALYSE');
  if (cursor.sees('(') && optionNames.has(cursor.tokens.text(cursor.index + 1).toUpperCase()))
    return unsupported('utility', 'EXPLAIN with options');
  if (cursor.atEnd) throw cursor.error('expected a query to explain');
  if (!seesQuery(cursor)) return unsupported('utility', `EXPLAIN ${cursor.words(1)}`);
  const query = parseQuery(cursor);
  return query.kind === 'query'
    ? { kind: 'explain', statementType: 'utility', analyze, sql: query.sql }
    : unsupported('utility', 'EXPLAIN of a statement that writes');
}
