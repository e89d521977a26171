import { tokenKinds } from '../text/token-list.js';
import type { Cursor } from './cursor.js';
import { parseQuery, seesQuery } from './query.js';
import { unsupported } from './refusals.js';
import type { Statement } from './statement.js';

/** DESCRIBE | DESC [TABLE] [[catalog.]schema.]table, and DESCRIBE of a query, a file or a table at a snapshot. */
export function parseDescribe(cursor: Cursor): Statement {
  if (!cursor.accept('DESCRIBE')) cursor.expect('DESC');
  if (cursor.atEnd) return unsupported('utility', 'DESCRIBE without a table');
  if (!cursor.sees('TABLE') && seesQuery(cursor)) {
    const query = parseQuery(cursor);
    return query.kind === 'query'
      ? { kind: 'describe-query', statementType: 'utility', sql: query.sql }
      : unsupported('utility', 'DESCRIBE of a statement that writes');
  }
  cursor.accept('TABLE');
  const rest = cursor.rest();
  // A string is a file name for DuckDB: the gate decides about it, as about every other table reference.
  if (cursor.tokens.kind(cursor.index) === tokenKinds.string)
    return { kind: 'describe-query', statementType: 'utility', sql: `FROM ${rest}` };
  const name = cursor.name('a table', 3);
  return cursor.atEnd
    ? { kind: 'describe-table', statementType: 'utility', name }
    : { kind: 'describe-query', statementType: 'utility', sql: `FROM ${rest}` };
}
