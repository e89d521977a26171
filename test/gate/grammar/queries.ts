/** Queries of every shape, each over what `relations.ts` brings into scope. */
import { commonNames } from '../world.js';
import { callOf } from './expressions.js';
import { deeper, type Grammar, isHostile, type Relation, type Scope } from './grammar.js';
import type { Kind } from './signatures.js';

const kinds: readonly Kind[] = [
  'integer',
  'number',
  'text',
  'boolean',
  'date',
  'timestamp',
  'list',
  'struct',
  'map',
  'json',
  'any',
];

export function query(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  const inner = deeper(scope);
  if (scope.depth > 1 && draw.chance(0.15)) return withCommons(grammar, inner);
  if (scope.depth > 1 && draw.chance(0.08)) return recursive(grammar, inner);
  if (scope.depth > 0 && draw.chance(0.1)) return setOperation(grammar, inner);
  const form = draw.between(0, 11);
  if (form === 0) return `FROM ${grammar.relation(inner).sql}`;
  if (form === 1) return `VALUES (${draw.list(1, 3, () => grammar.expression(draw.pick(kinds), inner))})`;
  if (form === 2) return aggregate(grammar, inner);
  if (form === 3) return stars(grammar, inner);
  if (form === 4) return `TABLE orders`;
  return select(grammar, inner);
}

function select(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  const from = draw.chance(0.85) ? grammar.relation(scope) : undefined;
  const inner = { ...scope, columns: [...(from?.columns ?? []), ...scope.columns] };
  const list = draw.list(
    1,
    3,
    (index) => `${grammar.expression(draw.pick(kinds), inner)}${draw.chance(0.3) ? ` AS c${index}` : ''}`,
  );
  const clauses = [
    draw.chance(0.35) ? ` WHERE ${grammar.expression('boolean', inner)}` : '',
    draw.chance(0.05)
      ? ` QUALIFY row_number() OVER (ORDER BY ${grammar.expression('integer', inner)}) < 3`
      : '',
    draw.chance(0.2)
      ? ` ORDER BY ${draw.pick(['1', 'ALL', grammar.expression('integer', inner), '#1 DESC NULLS LAST'])}`
      : '',
    draw.chance(0.2)
      ? ` LIMIT ${draw.pick(['3', '50%', '(SELECT 2)', grammar.expression('integer', { ...scope, columns: [], depth: 0 })])}`
      : '',
  ].join('');
  const distinct = draw.chance(0.1)
    ? draw.pick(['DISTINCT ', `DISTINCT ON (${grammar.expression('integer', inner)}) `])
    : '';
  if (from === undefined) return `SELECT ${distinct}${list}${clauses}`;
  return draw.chance(0.12)
    ? `FROM ${from.sql} SELECT ${distinct}${list}${clauses}`
    : `SELECT ${distinct}${list} FROM ${from.sql}${clauses}`;
}

function aggregate(grammar: Grammar, scope: Scope): string {
  const { draw, signatures } = grammar;
  const from = grammar.relation(scope);
  const inner = { ...scope, depth: Math.min(1, scope.depth), columns: from.columns };
  const filter = draw.chance(0.2) ? ` FILTER (${grammar.expression('boolean', { ...inner, depth: 0 })})` : '';
  const value = callOf(grammar, draw.pick(signatures.allowedAggregates), inner, filter);
  const key = grammar.expression(draw.pick(['text', 'integer', 'boolean']), inner);
  const group = draw.pick([
    'GROUP BY 1',
    `GROUP BY ${key}`,
    'GROUP BY ALL',
    `GROUP BY ROLLUP (${key})`,
    `GROUP BY CUBE (${key})`,
    `GROUP BY GROUPING SETS ((${key}), ())`,
  ]);
  return `SELECT ${key}, ${value}, count(*) FROM ${from.sql} ${group}${draw.chance(0.3) ? ' HAVING count(*) > 0' : ''}`;
}

const columnLists = [
  '*',
  'COLUMNS(*)',
  "COLUMNS('i.*')",
  "COLUMNS(c -> c <> 'x')",
  '* EXCLUDE (id)',
  '* REPLACE (1 AS id)',
  '* RENAME (id AS x)',
  "* LIKE 'c%'",
  'max(COLUMNS(*))',
  'COLUMNS(*)::VARCHAR',
  'count(DISTINCT COLUMNS(*))',
  '*COLUMNS(*)',
  'struct_pack(*COLUMNS(*))',
  'rowid',
  'filename',
];

function stars({ draw, relation: relationOf }: Grammar, scope: Scope): string {
  return `SELECT ${draw.pick(columnLists)} FROM ${relationOf(scope).sql}`;
}

function setOperation(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  const operator = draw.pick([
    'UNION',
    'UNION ALL',
    'INTERSECT',
    'EXCEPT',
    'EXCEPT ALL',
    'UNION BY NAME',
    'UNION ALL BY NAME',
  ]);
  const side = () => `(SELECT ${grammar.expression('integer', scope)}, ${grammar.expression('text', scope)})`;
  return draw.chance(0.8)
    ? `${side()} ${operator} ${side()}`
    : `(${grammar.query(scope)}) ${operator} (${grammar.query(scope)})`;
}

function withCommons(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  const commons: Relation[] = [];
  const entries = Array.from({ length: draw.between(1, 3) }, (_, index) => {
    const inner = { ...scope, columns: [], commons: [...commons, ...scope.commons] };
    const name = commonNames[index] ?? 'w0';
    const from = grammar.relation(inner);
    const visible = { ...inner, columns: from.columns };
    const body = `SELECT ${grammar.expression('integer', visible)}, ${grammar.expression('text', visible)} FROM ${from.sql}`;
    commons.push({
      sql: name,
      columns: [
        { sql: 'a', kind: 'integer' },
        { sql: 'b', kind: 'text' },
      ],
    });
    return `${name}(a, b) AS ${draw.pick(['', '', 'MATERIALIZED ', 'NOT MATERIALIZED '])}(${body})`;
  });
  const rest = { ...scope, commons: [...scope.commons, ...strayCommons(grammar), ...commons] };
  return `WITH ${draw.chance(0.2) ? 'RECURSIVE ' : ''}${entries.join(', ')} ${afterWith(grammar.query(rest))}`;
}

/** Names of common tables that are in scope elsewhere, or nowhere. */
function strayCommons(grammar: Grammar): readonly Relation[] {
  if (!isHostile(grammar)) return [];
  return commonNames.map((name) => ({
    sql: grammar.draw.pick([name, `s.${name}`, `recurring.${name}`, name.toUpperCase()]),
    columns: [],
  }));
}

function recursive(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  const name = draw.pick(commonNames);
  const isKeyed = draw.chance(0.4);
  const first = grammar.expression('text', { ...scope, columns: [], depth: 1 });
  const source = isKeyed && draw.chance(0.5) ? `recurring.${name}` : name;
  const step = `SELECT n + 1, b FROM ${source} WHERE n < ${draw.between(1, 4)}`;
  const left = draw.chance(0.1) ? `SELECT n, b FROM ${name}` : `SELECT 1, ${first}`;
  const union = isKeyed ? 'UNION' : draw.pick(['UNION', 'UNION ALL']);
  const used = {
    ...scope,
    commons: [...scope.commons, { sql: name, columns: [{ sql: 'n', kind: 'integer' as const }] }],
  };
  return `WITH RECURSIVE ${name}(n, b)${isKeyed ? ' USING KEY (n)' : ''} AS (${left} ${union} ${step}) ${draw.chance(0.6) ? `SELECT * FROM ${name}` : afterWith(grammar.query(used))}`;
}

/** One WITH follows another only in brackets. */
function afterWith(query: string): string {
  return query.startsWith('WITH') ? `(${query})` : query;
}
