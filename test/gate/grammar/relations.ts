/** What may stand in FROM. */
import { catalogTables, quoteName } from '../world.js';
import { callOf } from './expressions.js';
import { type Column, deeper, type Grammar, isHostile, type Relation, type Scope } from './grammar.js';
import { writtenText } from './literals.js';
import type { Signature } from './signatures.js';
import { foreignTables, hostileTexts, textLiteral } from './words.js';

type Form = (grammar: Grammar, scope: Scope) => Relation;

export function relation(grammar: Grammar, scope: Scope): Relation {
  const { draw } = grammar;
  if (isHostile(grammar)) return draw.pick(hostileForms)(grammar, deeper(scope));
  if (scope.commons.length > 0 && draw.chance(0.3)) return commonTable(grammar, scope);
  if (scope.depth <= 0 || draw.chance(0.4)) return catalogTable(grammar);
  return draw.pick(plainForms)(grammar, deeper(scope));
}

function catalogTable({ draw, next }: Grammar): Relation {
  const { schema, table, columns } = draw.pick(catalogTables);
  const isPlain = /^\w+$/.test(table);
  const last =
    isPlain && draw.chance(0.8) ? (draw.chance(0.1) ? table.toUpperCase() : table) : quoteName(table);
  const name =
    schema === 's' && draw.chance(0.6)
      ? last
      : `${draw.chance(0.4) ? 'lake.' : ''}${quoteName(schema)}.${last}`;
  const alias = `t${next()}`;
  const point = draw.chance(0.03)
    ? ` AT (${draw.pick(['VERSION => 1', 'TIMESTAMP => now() - INTERVAL 1 DAY', "TIMESTAMP => TIMESTAMP '2025-01-01'", "VERSION => 'vault/notes.csv'"])})`
    : '';
  const sample = draw.chance(0.05)
    ? draw.pick([' TABLESAMPLE 50%', ' TABLESAMPLE reservoir(3 ROWS)', ' TABLESAMPLE system(10 PERCENT)'])
    : '';
  return {
    sql: `${name} ${draw.chance(0.5) ? 'AS ' : ''}${alias}${point}${sample}`,
    columns: columns.map(([column, kind]) => ({ sql: `${alias}.${quoteName(column)}`, kind })),
  };
}

function commonTable({ draw, next }: Grammar, { commons }: Scope): Relation {
  const { sql, columns } = draw.pick(commons);
  const alias = `t${next()}`;
  return {
    sql: `${sql} AS ${alias}`,
    columns: columns.map((column) => ({ ...column, sql: `${alias}.${column.sql}` })),
  };
}

function aliased({ next }: Grammar, sql: string, columns: readonly Column[]): Relation {
  const alias = `t${next()}`;
  return {
    sql: `${sql} AS ${alias}(${columns.map((column) => column.sql).join(', ')})`,
    columns: columns.map((column) => ({ ...column, sql: `${alias}.${column.sql}` })),
  };
}

const joins = ['JOIN', 'LEFT JOIN', 'FULL JOIN', 'SEMI JOIN', 'ANTI JOIN', 'RIGHT JOIN'];

function join(grammar: Grammar, scope: Scope): Relation {
  const { draw } = grammar;
  const left = grammar.relation(scope);
  const lateral = draw.chance(0.2);
  const right = grammar.relation(
    lateral ? { ...scope, columns: [...left.columns, ...scope.columns] } : scope,
  );
  const columns = [...left.columns, ...right.columns];
  const form = draw.between(0, 7);
  if (form === 0) return { sql: `${left.sql}, ${right.sql}`, columns };
  if (form === 1) return { sql: `${left.sql} CROSS JOIN ${right.sql}`, columns };
  if (form === 2) return { sql: `${left.sql} POSITIONAL JOIN ${right.sql}`, columns };
  if (form === 3) return { sql: `${left.sql} NATURAL JOIN ${right.sql}`, columns };
  if (form === 4) {
    const [a, b] = [leafOf(grammar, left), leafOf(grammar, right)];
    return { sql: `${left.sql} ASOF JOIN ${right.sql} ON ${a} >= ${b}`, columns };
  }
  const on = grammar.expression('boolean', { ...scope, columns });
  const type = draw.pick(joins);
  const isOneSided = type === 'SEMI JOIN' || type === 'ANTI JOIN';
  return { sql: `(${left.sql} ${type} ${right.sql} ON ${on})`, columns: isOneSided ? left.columns : columns };
}

function leafOf({ draw }: Grammar, { columns }: Relation): string {
  const numbers = columns.filter(({ kind }) => kind === 'integer' || kind === 'number');
  return numbers.length === 0 ? '1' : draw.pick(numbers).sql;
}

const plainForms: readonly Form[] = [
  join,
  join,
  join,
  catalogTable,
  (grammar, scope) => {
    const isLateral = grammar.draw.chance(0.3);
    const inner = grammar.relation(scope);
    const columns = isLateral ? [...inner.columns, ...scope.columns] : inner.columns;
    const select = `SELECT ${grammar.expression('integer', { ...scope, columns })}, ${grammar.expression('text', { ...scope, columns })} FROM ${inner.sql}`;
    return aliased(grammar, `${isLateral ? 'LATERAL ' : ''}(${select})`, [
      { sql: 'a', kind: 'integer' },
      { sql: 'b', kind: 'text' },
    ]);
  },
  (grammar, scope) => {
    const row = () =>
      `(${grammar.expression('integer', { ...scope, columns: [] })}, ${grammar.expression('text', { ...scope, columns: [] })})`;
    return aliased(grammar, `(VALUES ${grammar.draw.list(1, 3, row)})`, [
      { sql: 'a', kind: 'integer' },
      { sql: 'b', kind: 'text' },
    ]);
  },
  (grammar) => aliased(grammar, `range(${grammar.draw.between(0, 6)})`, [{ sql: 'n', kind: 'integer' }]),
  (grammar, scope) =>
    aliased(grammar, `unnest(${grammar.expression('list', { ...scope, columns: [] })})`, [
      { sql: 'u', kind: 'any' },
    ]),
  (grammar) =>
    aliased(
      grammar,
      `generate_series(1, ${grammar.expression('integer', { depth: 0, columns: [], commons: [] })} % 9)`,
      [{ sql: 'n', kind: 'integer' }],
    ),
  (grammar) => ({
    sql: `json_each('{"a": [1, 2], "b": "vault/notes.csv"}') AS e${grammar.next()}`,
    columns: [{ sql: 'value', kind: 'json' }],
  }),
  (grammar, scope) => ({
    sql: `json_tree(${grammar.expression('json', { ...scope, columns: [] })}) AS e${grammar.next()}`,
    columns: [{ sql: 'fullkey', kind: 'text' }],
  }),
  (grammar) => ({ sql: `repeat_row(1, 'x', num_rows := 3) AS r${grammar.next()}`, columns: [] }),
  (grammar) => ({
    sql: `(SUMMARIZE ${catalogTable(grammar).sql.split(' ')[0] ?? ''}) AS s${grammar.next()}`,
    columns: [{ sql: 'column_name', kind: 'text' }],
  }),
  (grammar) => ({
    sql: `(PIVOT orders ON customer IN ('c0', 'vault/notes.csv') USING sum(price) GROUP BY paid) AS p${grammar.next()}`,
    columns: [{ sql: 'c0', kind: 'number' }],
  }),
  (grammar) => ({
    sql: `(UNPIVOT orders ON id, price INTO NAME n VALUE v) AS p${grammar.next()}`,
    columns: [{ sql: 'n', kind: 'text' }],
  }),
  (grammar) => ({
    sql: `(UNPIVOT (SELECT id, price FROM orders) ON COLUMNS(*)) AS p${grammar.next()}`,
    columns: [{ sql: 'name', kind: 'text' }],
  }),
  (grammar, scope) =>
    aliased(grammar, `(FROM (${grammar.query(scope)}) SELECT count(*))`, [{ sql: 'n', kind: 'integer' }]),
  (grammar, scope) =>
    aliased(
      grammar,
      `(SELECT sum(a) FROM (SELECT ${grammar.expression('integer', { ...scope, columns: [] })} AS a))`,
      [{ sql: 'n', kind: 'number' }],
    ),
];

const hostileForms: readonly Form[] = [
  (grammar) => bare(grammar, writtenText(grammar.draw, grammar.draw.pick(hostileTexts))),
  (grammar) => bare(grammar, grammar.draw.pick(foreignTables)),
  (grammar) => bare(grammar, grammar.draw.pick(foreignTables)),
  (grammar, scope) => bare(grammar, tableCall(grammar, grammar.draw.pick(grammar.signatures.tables), scope)),
  (grammar, scope) => bare(grammar, tableCall(grammar, grammar.draw.pick(grammar.signatures.tables), scope)),
  (grammar, scope) => bare(grammar, callOf(grammar, grammar.draw.pick(grammar.signatures.scalars), scope)),
  ({ draw, next }) => {
    const text = textLiteral(draw.pick(hostileTexts));
    const function_ = draw.pick([
      'read_csv',
      'read_text',
      'query',
      'query_table',
      'glob',
      'read_parquet',
      'parquet_metadata',
      'system.main.read_csv',
      '"read_csv"',
      'READ_TEXT',
      'sniff_csv',
    ]);
    const argument = draw.pick([
      text,
      `[${text}]`,
      `(SELECT ${text})`,
      `${text}, filename := true`,
      `getvariable('secret_variable')`,
      `?`,
    ]);
    return { sql: `${function_}(${argument}) AS h${next()}`, columns: [{ sql: 'a', kind: 'text' }] };
  },
  ({ draw, next }) => ({
    sql: `(${draw.pick(['DESCRIBE', 'SHOW', 'SUMMARIZE', 'SHOW ALL TABLES --', 'TABLE'])} ${draw.pick(foreignTables)}) AS h${next()}`,
    columns: [],
  }),
  ({ draw, next }) => ({ sql: `(FROM ${draw.pick(foreignTables)} SELECT *) h${next()}`, columns: [] }),
  ({ draw, next }) => ({
    sql: `(PIVOT ${draw.pick(foreignTables)} ON a IN (strongbox.main.mood)) h${next()}`,
    columns: [],
  }),
  ({ draw, next }) => ({
    sql: `(UNPIVOT ${draw.pick(foreignTables)} ON COLUMNS(*)) h${next()}`,
    columns: [],
  }),
  ({ draw, next }) => ({
    sql: `(${draw.pick(['INSERT INTO strongbox.main.notes VALUES (1)', "COPY orders TO 'vault/o.csv'", 'PRAGMA database_list', 'CALL pragma_version()', 'DELETE FROM strongbox.main.notes', 'SET threads = 1', 'EXPLAIN SELECT 1', 'SHOW TABLES', 'SHOW DATABASES', 'DESCRIBE', "EXECUTE p('x')"])}) h${next()}`,
    columns: [],
  }),
];

function bare({ next }: Grammar, sql: string): Relation {
  return { sql: `${sql} AS h${next()}`, columns: [{ sql: 'a', kind: 'text' }] };
}

function tableCall(grammar: Grammar, { name, takes, named }: Signature, scope: Scope): string {
  const { draw } = grammar;
  const inner = { ...deeper(scope), depth: Math.min(scope.depth, 1) };
  const given = takes.map((kind) =>
    kind === 'text' || draw.chance(0.3)
      ? textLiteral(draw.pick(hostileTexts))
      : grammar.expression(kind, inner),
  );
  if (named.length > 0 && draw.chance(0.4))
    given.push(
      `${draw.pick(named)} ${draw.pick([':=', '='])} ${grammar.expression(draw.pick(['boolean', 'text', 'integer']), inner)}`,
    );
  return `${draw.pick(['', '', '', 'system.main.', 'main.', 'pg_catalog.', 'strongbox.main.'])}${name}(${given.join(', ')})`;
}
