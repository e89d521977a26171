import { parseClauses, parseEmbeddedQuery, parseNewName } from './create-table.js';
import type { Cursor } from './cursor.js';
import type { CreateView } from './ddl-statements.js';

/**
 * `CREATE [OR REPLACE] VIEW [IF NOT EXISTS] name [(column [COMMENT text], …)] [COMMENT text] [TBLPROPERTIES (…)] AS query`, from
 * behind VIEW.
 */
export function parseCreateView(cursor: Cursor, orReplace: boolean): CreateView {
  const named = parseNewName(cursor, 'a view', 3, orReplace);
  const columns = cursor.sees('(') ? parseViewColumns(cursor) : [];
  const { comment, properties } = parseClauses(cursor);
  cursor.expect('AS');
  const query = parseEmbeddedQuery(cursor);
  return {
    kind: 'create-view',
    statementType: 'create_view',
    ...named,
    orReplace,
    columns,
    properties,
    comment,
    query,
  };
}

function parseViewColumns(cursor: Cursor): CreateView['columns'] {
  const columns: { name: string; comment: string | undefined }[] = [];
  cursor.expect('(');
  do {
    const name = cursor.identifier('a column');
    if (columns.some((column) => column.name.toLowerCase() === name.toLowerCase()))
      throw cursor.error(`the column "${name}" is there twice`);
    columns.push({ name, comment: cursor.accept('COMMENT') ? cursor.string('the comment') : undefined });
  } while (cursor.accept(','));
  cursor.expect(')');
  return columns;
}
