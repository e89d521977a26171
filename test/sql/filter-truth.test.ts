import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import {
  type Literal,
  type PlanNode,
  planSettingStatements,
  readPlan,
  type ScanFilter,
  scanFilterSql,
  scanRequests,
  stubScan,
} from '@svc/sql';
import { pick, randomFrom } from '../random.js';
import { openDuckDbParser, quoteText } from './duckdb-parser.js';

/**
 * The one promise of a scan filter: it is true for every row that the statement keeps. Random predicates are planned on
 * an empty stub, their scan filters are printed back as SQL, and the engine looks for a row that one keeps and the other
 * does not, among values that are likely to break it.
 */

const columns =
  'i INTEGER, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(9,2), s VARCHAR, dt DATE, ts TIMESTAMP, bo BOOLEAN, st STRUCT(x INTEGER)';
const values: Readonly<Record<string, readonly string[]>> = {
  i: ['NULL', '-3', '0', '3', '4', '2147483647'],
  b: ['NULL', '-3', '3', '9007199254740993', '9223372036854775807'],
  d: ['NULL', "'nan'::DOUBLE", "'infinity'::DOUBLE", '-0.0', '0.0', '3.5', '3'],
  f: ['NULL', "'nan'::FLOAT", "'-infinity'::FLOAT", '0.1', '3', '3.5'],
  dc: ['NULL', '-3.01', '0.00', '3.00', '3.01', '3.50'],
  s: ['NULL', "''", "'a'", "'ab'", "'abc'", "'b'", "'é'", "'3'"],
  dt: ['NULL', "DATE '1969-12-31'", "DATE '1970-01-01'", "DATE '2020-01-01'", "'infinity'::DATE"],
  ts: [
    'NULL',
    "TIMESTAMP '1969-12-31 23:59:59.999999'",
    "TIMESTAMP '2020-01-01'",
    "TIMESTAMP '2020-01-01 10:00:00'",
  ],
  bo: ['NULL', 'true', 'false'],
  'st.x': ['NULL', '-3', '3'],
};
/** Ways to look at a column, with the columns whose constants go with it. */
const views: readonly (readonly [expression: string, constants: string])[] = [
  ['i', 'i'],
  ['i', 'dc'],
  ['i', 'd'],
  ['i::BIGINT', 'b'],
  ['i::DOUBLE', 'd'],
  ['i::DECIMAL(12,1)', 'dc'],
  ['b', 'b'],
  ['b::DOUBLE', 'd'],
  ['b', 'dc'],
  ['d', 'd'],
  ['d', 'i'],
  ['f', 'f'],
  ['f', 'd'],
  ['f::DOUBLE', 'd'],
  ['dc', 'dc'],
  ['dc::DECIMAL(12,3)', 'dc'],
  ['dc::DOUBLE', 'd'],
  ['dc::INTEGER', 'i'],
  ['s', 's'],
  ['lower(s)', 's'],
  ['dt', 'dt'],
  ['dt::TIMESTAMP', 'ts'],
  ['ts', 'ts'],
  ['ts::DATE', 'dt'],
  ['bo', 'bo'],
  ['st.x', 'st.x'],
  ["date_trunc('day', ts)", 'ts'],
  ['coalesce(i, 3)', 'i'],
  ['i + 1', 'i'],
  ['-i', 'i'],
];

const seed = 20_260_101;
const parser = openDuckDbParser();
const folder = mkdtempSync(path.join(tmpdir(), 'svc-sql-'));

before(() => {
  const stub = path.join(folder, 'stub.parquet');
  parser.execute(`CREATE TABLE data (${columns})`);
  parser.execute(`COPY data TO ${quoteText(stub)} (FORMAT parquet)`);
  parser.execute(`CREATE VIEW t AS SELECT * FROM ${stubScan(stub, 1_000_000n)}`);
  for (const statement of planSettingStatements) parser.execute(statement);
  const random = randomFrom(seed);
  const row = () => Object.values(values).map((choices) => pick(choices, random));
  const rows = Array.from({ length: 400 }, row).map((cells) => {
    const x = cells.pop();
    return `(${cells.join(', ')}, ${x === 'NULL' && random() < 0.5 ? 'NULL' : `{'x': ${x}}`})`;
  });
  parser.execute(`INSERT INTO data VALUES ${rows.join(', ')}`);
});

after(() => {
  parser.close();
  rmSync(folder, { recursive: true, force: true });
});

test(`scan filters hold for every row that a statement keeps (seed ${seed})`, () => {
  const random = randomFrom(seed);
  let [known, gatherable] = [0, 0];
  for (let round = 0; round < 1_500; round++) {
    const predicate = randomPredicate(3, random);
    const sql = `SELECT count(*) FROM t WHERE ${predicate}`;
    const plan = planOf(sql);
    const filters = (plan && scanRequests(plan)[0]?.request.filters) ?? [];
    if (filters.length === 0) continue;
    known++;
    const printed = filters.map(printFilter).join(' AND ');
    parser.query(`SELECT count(*)::VARCHAR FROM data WHERE ${printed}`);
    const lost = `SELECT count(*)::VARCHAR FROM data WHERE (${predicate}) AND (${printed}) IS NOT TRUE`;
    assert.equal(countOrError(lost), '0', `${predicate}\n  became ${printed}`);
    const gathered = filters.flatMap((filter) => scanFilterSql(filter) ?? []).join(' AND ');
    if (gathered === '') continue;
    gatherable++;
    const left = `SELECT count(*)::VARCHAR FROM data WHERE (${predicate}) AND (${gathered}) IS NOT TRUE`;
    assert.equal(countOrError(left), '0', `${predicate}\n  became ${gathered}`);
  }
  assert.ok(known > 300, `only ${known} predicates gave a filter`);
  assert.ok(gatherable > 200, `only ${gatherable} filters can be said in SQL`);
});

test(`rejections hold for every row that a statement does not keep (seed ${seed})`, () => {
  const random = randomFrom(seed);
  let known = 0;
  for (let round = 0; round < 1_500; round++) {
    const predicate = randomPredicate(2, random);
    const plan = planOf(`SELECT count(*) FROM t WHERE ${predicate}`);
    const use = plan && scanRequests(plan)[0]?.request.use;
    if (use === undefined) continue;
    assert.deepEqual(use.rows, { kind: 'extremes', columns: [] });
    known++;
    const missed = `SELECT count(*)::VARCHAR FROM data
      WHERE (${predicate}) IS NOT TRUE AND (${printFilter(use.rejected)}) IS NOT TRUE`;
    assert.equal(countOrError(missed), '0', `${predicate}\n  is rejected by ${printFilter(use.rejected)}`);
  }
  assert.ok(known > 200, `only ${known} predicates gave a rejection`);
});

function planOf(sql: string): PlanNode | undefined {
  const plan = parser.query(`SELECT json_serialize_plan(${quoteText(sql)}::VARCHAR, optimize := true)`);
  return plan.startsWith('{"error":true') ? undefined : readPlan(plan);
}

/** A predicate may fail on a value (a cast out of range); then there is no result to lose rows of. */
function countOrError(sql: string): string {
  try {
    return parser.query(sql);
  } catch {
    return '0';
  }
}

function randomPredicate(depth: number, random: () => number): string {
  const part = () => randomPredicate(depth - 1, random);
  const kind = depth === 0 ? 9 : Math.floor(random() * 10);
  if (kind < 2) return `(${part()} AND ${part()})`;
  if (kind < 4) return `(${part()} OR ${part()})`;
  if (kind < 5) return `NOT (${part()})`;
  return randomComparison(random);
}

function randomComparison(random: () => number): string {
  const [expression, constants] = pick(views, random);
  const constant = () => pick(values[constants] ?? ['NULL'], random);
  const operator = pick(
    ['=', '<>', '<', '<=', '>', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'],
    random,
  );
  const forms = [
    () => `${expression} ${operator} ${constant()}`,
    () => `${expression} ${operator} ${constant()}`,
    () => `${constant()} ${operator} ${expression}`,
    () => `${expression} BETWEEN ${constant()} AND ${constant()}`,
    () => `${expression} IN (${constant()}, ${constant()})`,
    () => `${expression} NOT IN (${constant()}, ${constant()})`,
    () => `${expression} IS NULL`,
    () => `${expression} IS NOT NULL`,
    () => `s LIKE ${pick(["'a%'", "'%b'", "'a_c%'", "'é%'", "'%'"], random)}`,
    () => pick(['bo', 'NOT bo', 'bo IS TRUE', 'bo IS NOT FALSE', 'st IS NULL'], random),
  ];
  return pick(forms, random)();
}

function printFilter(filter: ScanFilter): string {
  switch (filter.kind) {
    case 'compare':
      return `(${printColumn(filter.column)} ${filter.operator} ${printLiteral(filter.literal)})`;
    case 'in':
      return `(${printColumn(filter.column)} IN (${filter.literals.map(printLiteral).join(', ')}))`;
    case 'starts-with':
      return `starts_with(${printColumn(filter.column)}, ${quoteText(filter.prefix)})`;
    case 'is-null':
      return `(${printColumn(filter.column)} IS NULL)`;
    case 'is-not-null':
      return `(${printColumn(filter.column)} IS NOT NULL)`;
    case 'and':
    case 'or':
      if (filter.filters.length === 0) return String(filter.kind === 'and');
      return `(${filter.filters.map(printFilter).join(` ${filter.kind} `)})`;
  }
}

function printColumn(column: readonly string[]): string {
  return column.join('.');
}

function printLiteral({ type, value }: Literal): string {
  if (type === 'DATE' && value === 2_147_483_647n) return "'infinity'::DATE";
  if (typeof value === 'bigint' && type === 'DATE') return `(DATE '1970-01-01' + ${value}::INTEGER)`;
  if (typeof value === 'bigint' && type === 'TIMESTAMP') return `make_timestamp(${value})`;
  if (typeof value === 'bigint' && type.startsWith('DECIMAL'))
    return `(${value}::DECIMAL(18,0) / 100)::${type}`;
  return `CAST(${quoteText(String(value))} AS ${type})`;
}
