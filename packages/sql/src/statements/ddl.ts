import type { Cursor } from './cursor.js';
import { seesQuery } from './query.js';
import { notAllowed, unsupported } from './refusals.js';
import type { RefusedStatement, StatementType } from './statement.js';

const policyObjects: ReadonlySet<string> = new Set(['POLICY', 'ROLE', 'ROW FILTER', 'COLUMN MASK']);

/** CREATE, DROP and ALTER: recognised and named, none is run by this version. */
export function classifyCreate(cursor: Cursor): RefusedStatement {
  cursor.expect('CREATE');
  cursor.accept('OR', 'REPLACE');
  const temporary = cursor.accept('TEMP') || cursor.accept('TEMPORARY');
  const object = objectWords(cursor);
  if (object === 'TABLE') {
    // The metrics know no plain CREATE TABLE: it counts as ctas, the only type that makes a table.
    const feature = hasQueryBehindAs(cursor) ? 'CREATE TABLE AS' : 'CREATE TABLE';
    return unsupported('ctas', temporary ? feature.replace('TABLE', 'TEMPORARY TABLE') : feature);
  }
  if (object === 'VIEW' || object === 'MATERIALIZED VIEW')
    return unsupported('create_view', `CREATE ${object}`);
  if (object === 'SCHEMA') return unsupported('create_schema', 'CREATE SCHEMA');
  return policyOrNotAllowed('CREATE', object);
}

export function classifyDrop(cursor: Cursor): RefusedStatement {
  cursor.expect('DROP');
  const object = objectWords(cursor);
  if (object === 'TABLE' || object === 'VIEW' || object === 'MATERIALIZED VIEW' || object === 'SCHEMA')
    return unsupported('drop', `DROP ${object}`);
  return policyOrNotAllowed('DROP', object);
}

export function classifyAlter(cursor: Cursor): RefusedStatement {
  cursor.expect('ALTER');
  const object = objectWords(cursor);
  if (object === 'TABLE' || object === 'VIEW' || object === 'SCHEMA')
    return unsupported('utility', `ALTER ${object}`);
  return policyOrNotAllowed('ALTER', object);
}

function policyOrNotAllowed(verb: string, object: string): RefusedStatement {
  const type: StatementType = 'policy';
  return policyObjects.has(object)
    ? unsupported(type, `${verb} ${object}`)
    : notAllowed(`${verb} ${object}`.trim());
}

/** The kind of object that the verb names, one or two words. */
function objectWords(cursor: Cursor): string {
  for (const pair of ['MATERIALIZED VIEW', 'ROW FILTER', 'COLUMN MASK'])
    if (cursor.sees(...pair.split(' '))) return pair;
  return cursor.words(1);
}

/** `… AS query` outside of brackets. */
function hasQueryBehindAs(cursor: Cursor): boolean {
  const { tokens } = cursor;
  let depth = 0;
  for (; !cursor.atEnd; cursor.index++) {
    if (cursor.sees('(')) depth++;
    else if (cursor.sees(')')) depth--;
    else if (depth === 0 && tokens.is(cursor.index, 'AS')) {
      cursor.index++;
      return seesQuery(cursor);
    }
  }
  return false;
}
