import { parseEmbeddedQuery } from './create-table.js';
import type { Cursor } from './cursor.js';
import { unsupported } from './refusals.js';
import type { Statement } from './statement.js';

/** `INSERT INTO [TABLE] name [(columns)] [BY NAME | BY POSITION] query`; VALUES is a query. */
export function parseInsert(cursor: Cursor): Statement {
  cursor.expect('INSERT');
  if (cursor.sees('OVERWRITE')) return unsupported('insert', 'INSERT OVERWRITE');
  if (cursor.sees('OR')) return unsupported('insert', 'INSERT OR REPLACE or IGNORE');
  cursor.expect('INTO');
  if (cursor.tokens.is(cursor.index, 'TABLE') && !cursor.tokens.is(cursor.index + 1, '.'))
    cursor.accept('TABLE');
  const name = cursor.name('a table', 3);
  const columns = seesColumnList(cursor) ? parseColumnList(cursor) : undefined;
  const byName = cursor.accept('BY', 'NAME');
  if (!byName) cursor.accept('BY', 'POSITION');
  if (byName && columns !== undefined)
    throw cursor.error('BY NAME takes the names from the query: leave the list of columns out');
  if (byName && cursor.sees('VALUES'))
    throw cursor.error('BY NAME takes a query whose columns have names, and those of VALUES have none');
  if (cursor.sees('DEFAULT', 'VALUES')) return unsupported('insert', 'INSERT … DEFAULT VALUES');
  const clause = clauseBehindQuery(cursor);
  if (clause !== undefined) return unsupported('insert', `INSERT … ${clause}`);
  const query = parseEmbeddedQuery(cursor);
  return { kind: 'insert', statementType: 'insert', name, columns, byName, query };
}

/** Clauses that stand behind the query, outside of all brackets. */
function clauseBehindQuery({ tokens, index }: Cursor): 'RETURNING' | 'ON CONFLICT' | undefined {
  // Rows may be a million tokens, and hardly ever have these words.
  if (!/returning|conflict/i.test(tokens.sql)) return undefined;
  let depth = 0;
  for (let at = index; at < tokens.count; at++) {
    if (tokens.is(at, '(')) depth++;
    else if (tokens.is(at, ')')) depth--;
    if (depth !== 0) continue;
    if (tokens.is(at, 'RETURNING')) return 'RETURNING';
    const isConflict = tokens.is(at, 'ON') && tokens.is(at + 1, 'CONFLICT');
    if (isConflict && (tokens.is(at + 2, '(') || tokens.is(at + 2, 'DO'))) return 'ON CONFLICT';
  }
  return undefined;
}

/** A bracket opens the columns, or a query in brackets. */
function seesColumnList(cursor: Cursor): boolean {
  if (!cursor.sees('(')) return false;
  const { tokens, index } = cursor;
  return tokens.is(index + 2, ',') || tokens.is(index + 2, ')');
}

function parseColumnList(cursor: Cursor): readonly string[] {
  const columns: string[] = [];
  cursor.expect('(');
  do {
    const name = cursor.identifier('a column');
    if (columns.some((column) => column.toLowerCase() === name.toLowerCase()))
      throw cursor.error(`the column "${name}" is there twice`);
    columns.push(name);
  } while (cursor.accept(','));
  cursor.expect(')');
  return columns;
}
