import { parseCreateSchema, parseCreateTable } from './create-table.js';
import { parseCreateView } from './create-view.js';
import type { Cursor } from './cursor.js';
import { parseCreatePolicy, parseDropPolicy } from './policy.js';
import { notAllowed, unsupported } from './refusals.js';
import type { RefusedStatement, Statement, StatementType } from './statement.js';

const policyObjects: ReadonlySet<string> = new Set(['POLICY', 'ROLE', 'ROW FILTER', 'COLUMN MASK']);

/** CREATE TABLE, VIEW, SCHEMA and POLICY; what else can be created is recognised and named. */
export function parseCreate(cursor: Cursor): Statement {
  cursor.expect('CREATE');
  const orReplace = cursor.accept('OR', 'REPLACE');
  const isTemporary = acceptTemporary(cursor);
  const object = objectWords(cursor);
  if (object === 'MATERIALIZED VIEW') return unsupported('create_view', `CREATE ${object}`);
  if (object === 'POLICY' && !isTemporary) {
    cursor.expect(object);
    return parseCreatePolicy(cursor, orReplace);
  }
  if (object !== 'TABLE' && object !== 'VIEW' && object !== 'SCHEMA')
    return policyOrNotAllowed('CREATE', object);
  const type = object === 'TABLE' ? 'ctas' : object === 'VIEW' ? 'create_view' : 'create_schema';
  if (isTemporary) return unsupported(type, `CREATE TEMPORARY ${object}`);
  if (orReplace && object === 'SCHEMA') return unsupported(type, `CREATE OR REPLACE ${object}`);
  cursor.expect(object);
  if (object === 'TABLE') return parseCreateTable(cursor, orReplace);
  return object === 'VIEW' ? parseCreateView(cursor, orReplace) : parseCreateSchema(cursor);
}

/** The standard's LOCAL and GLOBAL too: Tableau asks with them whether there are temporary tables. */
function acceptTemporary(cursor: Cursor): boolean {
  return ['TEMP', 'TEMPORARY'].some(
    (word) => cursor.accept(word) || cursor.accept('LOCAL', word) || cursor.accept('GLOBAL', word),
  );
}

const droppable: Readonly<Record<string, 'drop-table' | 'drop-view' | 'drop-schema'>> = {
  TABLE: 'drop-table',
  VIEW: 'drop-view',
  SCHEMA: 'drop-schema',
};

/** `DROP TABLE | VIEW | SCHEMA | POLICY [IF EXISTS] name [PURGE]`. */
export function parseDrop(cursor: Cursor): Statement {
  cursor.expect('DROP');
  const object = objectWords(cursor);
  if (object === 'MATERIALIZED VIEW') return unsupported('drop', `DROP ${object}`);
  if (cursor.accept('POLICY')) return parseDropPolicy(cursor);
  const kind = Object.hasOwn(droppable, object) ? droppable[object] : undefined;
  if (kind === undefined) return policyOrNotAllowed('DROP', object);
  cursor.expect(object);
  const ifExists = cursor.accept('IF', 'EXISTS');
  const name = cursor.name(`a ${object.toLowerCase()}`, kind === 'drop-schema' ? 2 : 3);
  if (cursor.sees('CASCADE')) return unsupported('drop', `DROP ${object} … CASCADE`);
  cursor.accept('RESTRICT');
  const purge = kind === 'drop-table' && cursor.accept('PURGE');
  cursor.expectEnd();
  return { kind, statementType: 'drop', name, ifExists, purge } as Statement;
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
