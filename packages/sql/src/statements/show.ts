import type { Cursor } from './cursor.js';
import { parseShowRules } from './policy.js';
import { unsupported } from './refusals.js';
import type { LikePattern, Statement } from './statement.js';

/**
 * SHOW CATALOGS | DATABASES [LIKE p], SHOW SCHEMAS [IN|FROM catalog] [LIKE p],
 * SHOW TABLES [IN|FROM [catalog.]schema] [LIKE p], SHOW COLUMNS IN|FROM table [LIKE p], SHOW CREATE TABLE|VIEW name,
 * SHOW POLICIES|GRANTS [ON object].
 */
export function parseShow(cursor: Cursor): Statement {
  const feature = cursor.words(2);
  cursor.expect('SHOW');
  const word = cursor.accept('CATALOGS') ? 'catalog' : cursor.accept('DATABASES') ? 'database' : undefined;
  if (word !== undefined)
    return { kind: 'show-catalogs', statementType: 'show_catalogs', word, ...parseLike(cursor) };
  if (cursor.accept('SCHEMAS')) {
    const [catalog] = parseScope(cursor, 'a catalog', 1);
    const scope = catalog === undefined ? {} : { catalog };
    return { kind: 'show-schemas', statementType: 'show_schemas', ...scope, ...parseLike(cursor) };
  }
  if (cursor.accept('TABLES')) {
    const parts = parseScope(cursor, 'a schema', 2);
    const schema = parts.at(-1);
    const catalog = parts.length === 2 ? parts[0] : undefined;
    const scope = {
      ...(catalog === undefined ? {} : { catalog }),
      ...(schema === undefined ? {} : { schema }),
    };
    return { kind: 'show-tables', statementType: 'show_tables', ...scope, ...parseLike(cursor) };
  }
  if (cursor.accept('COLUMNS')) {
    if (!cursor.accept('IN') && !cursor.accept('FROM')) throw cursor.error('expected FROM and a table');
    const name = cursor.name('a table', 3);
    return { kind: 'show-columns', statementType: 'utility', name, ...parseLike(cursor) };
  }
  if (cursor.accept('POLICIES')) return parseShowRules(cursor, 'show-policies');
  if (cursor.accept('GRANTS')) return parseShowRules(cursor, 'show-grants');
  if (cursor.accept('CREATE')) return parseShowCreate(cursor);
  if (cursor.atEnd) throw cursor.error('expected CATALOGS, SCHEMAS or TABLES');
  return unsupported('utility', feature);
}

/** `SHOW CREATE TABLE | VIEW name`; either word may name either. */
function parseShowCreate(cursor: Cursor): Statement {
  if (!cursor.sees('TABLE') && !cursor.sees('VIEW'))
    return unsupported('utility', `SHOW CREATE ${cursor.words(1)}`.trim());
  cursor.index++;
  const name = cursor.name('a table or view', 3);
  cursor.expectEnd();
  return { kind: 'show-create', statementType: 'utility', name };
}

function parseScope(cursor: Cursor, what: string, maxParts: number): readonly string[] {
  return cursor.accept('IN') || cursor.accept('FROM') ? cursor.name(what, maxParts) : [];
}

function parseLike(cursor: Cursor): { readonly like?: LikePattern } {
  if (!cursor.accept('LIKE')) {
    cursor.expectEnd();
    return {};
  }
  const pattern = cursor.string('the pattern');
  const escapeCharacter = cursor.accept('ESCAPE') ? cursor.string('the escape character') : undefined;
  if (escapeCharacter !== undefined && [...escapeCharacter].length !== 1)
    throw cursor.error('the escape must be one character');
  cursor.expectEnd();
  return { like: escapeCharacter === undefined ? { pattern } : { pattern, escape: escapeCharacter } };
}
