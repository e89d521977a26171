import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  executionSettings,
  inlineParameters,
  joinKeys,
  PlanNotUnderstood,
  planSettingStatements,
  readPlan,
  type ScanFilter,
  scanRequests,
  stubScan,
} from '@svc/sql';
import { checkDataFile } from './data-file.js';
import { openDuckDbParser, quoteText } from './duckdb-parser.js';

const root = path.resolve(import.meta.dirname, '../../..');
const testdata = path.join(root, 'packages/sql/testdata');
const tpch = path.join(root, 'bench/tpch/queries');

/** Columns of the stubs by table; `t` has one of every type that lake tables have. */
const tables: Readonly<Record<string, readonly [columns: string, rowCount: bigint]>> = {
  t: [
    `i INTEGER, b BIGINT, d DOUBLE, f FLOAT, dc DECIMAL(15,2), big DECIMAL(30,4), s VARCHAR, dt DATE, ts TIMESTAMP,
     tz TIMESTAMPTZ, tn TIMESTAMP_NS, ti TIME, bo BOOLEAN, bl BLOB, u UUID,
     st STRUCT(x INTEGER, y STRUCT(z VARCHAR, w INTEGER)), l INTEGER[], m MAP(VARCHAR, INTEGER)`,
    6_000_000n,
  ],
  small: ['i INTEGER, b BIGINT, s VARCHAR, ts TIMESTAMP', 500n],
  lineitem: [
    `l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INTEGER, l_quantity DECIMAL(15,2),
     l_extendedprice DECIMAL(15,2), l_discount DECIMAL(15,2), l_tax DECIMAL(15,2), l_returnflag VARCHAR,
     l_linestatus VARCHAR, l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct VARCHAR,
     l_shipmode VARCHAR, l_comment VARCHAR`,
    6_001_215n,
  ],
  orders: [
    `o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus VARCHAR, o_totalprice DECIMAL(15,2), o_orderdate DATE,
     o_orderpriority VARCHAR, o_clerk VARCHAR, o_shippriority INTEGER, o_comment VARCHAR`,
    1_500_000n,
  ],
  customer: [
    `c_custkey BIGINT, c_name VARCHAR, c_address VARCHAR, c_nationkey INTEGER, c_phone VARCHAR,
     c_acctbal DECIMAL(15,2), c_mktsegment VARCHAR, c_comment VARCHAR`,
    150_000n,
  ],
  part: [
    `p_partkey BIGINT, p_name VARCHAR, p_mfgr VARCHAR, p_brand VARCHAR, p_type VARCHAR, p_size INTEGER,
     p_container VARCHAR, p_retailprice DECIMAL(15,2), p_comment VARCHAR`,
    200_000n,
  ],
  partsupp: [
    'ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INTEGER, ps_supplycost DECIMAL(15,2), ps_comment VARCHAR',
    800_000n,
  ],
  supplier: [
    `s_suppkey BIGINT, s_name VARCHAR, s_address VARCHAR, s_nationkey INTEGER, s_phone VARCHAR,
     s_acctbal DECIMAL(15,2), s_comment VARCHAR`,
    10_000n,
  ],
  nation: ['n_nationkey INTEGER, n_name VARCHAR, n_regionkey INTEGER, n_comment VARCHAR', 25n],
  region: ['r_regionkey INTEGER, r_name VARCHAR, r_comment VARCHAR', 5n],
};

const parser = openDuckDbParser();
const folder = mkdtempSync(path.join(tmpdir(), 'svc-sql-'));

before(() => {
  for (const [name, [columns, rowCount]] of Object.entries(tables)) {
    const file = path.join(folder, `${name}.parquet`);
    parser.execute(`CREATE TABLE ${name} (${columns})`);
    parser.execute(`COPY ${name} TO ${quoteText(file)} (FORMAT parquet)`);
    parser.execute(`DROP TABLE ${name}`);
    parser.execute(`CREATE VIEW ${name} AS SELECT * FROM ${stubScan(file, rowCount)}`);
  }
  for (const statement of planSettingStatements) parser.execute(statement);
});

after(() => {
  parser.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('scan requests', () => {
  test('have the columns and filters of testdata/scans.txt', () => {
    assert.deepEqual(checkDataFile(path.join(testdata, 'scans.txt'), printScans), []);
  });

  test('have filters on parameters once their values are inlined', () => {
    const sql = inlineParameters(
      'select i from t where i = ? and s = ?',
      new Map([
        ['1', '7'],
        ['2', "'x'"],
      ]),
    );
    assert.equal(printScans(sql), 't [i s] where i = 7::INTEGER and s = x::VARCHAR');
  });

  test('may be narrowed by the keys of testdata/join-keys.txt', () => {
    assert.deepEqual(checkDataFile(path.join(testdata, 'join-keys.txt'), printKeys), []);
  });

  test('have the columns and filters of the TPC-H statements', () => {
    const different = checkDataFile(path.join(testdata, 'tpch-scans.txt'), (file) =>
      printScans(readFileSync(path.join(tpch, file), 'utf8')),
    );
    assert.deepEqual(different, []);
  });
});

describe('the settings of a statement', () => {
  const few = '(SELECT * FROM orders ORDER BY o_orderkey LIMIT 10) o';
  for (const [sql, isCautious] of [
    [`SELECT * FROM ${few} JOIN customer ON o_custkey = c_custkey`, true],
    [`SELECT * FROM customer WHERE c_custkey IN (SELECT o_custkey FROM ${few})`, true],
    [
      'SELECT * FROM customer JOIN (SELECT DISTINCT ON (o_custkey) * FROM orders) o ON o_custkey = c_custkey',
      true,
    ],
    [
      'SELECT * FROM (SELECT * FROM orders USING SAMPLE 10 ROWS) o JOIN customer ON o_custkey = c_custkey',
      true,
    ],
    ['SELECT * FROM orders JOIN customer ON o_custkey = c_custkey ORDER BY o_orderkey LIMIT 10', false],
    ['SELECT * FROM customer JOIN (SELECT DISTINCT o_custkey FROM orders) o ON o_custkey = c_custkey', false],
  ] as const)
    test(`${isCautious ? 'are' : 'are not'} cautious: ${sql}`, () => {
      assert.equal(executionSettings(readPlan(planOf(sql))).length, isCautious ? 1 : 0);
    });
});

function printKeys(sql: string): string {
  const name = (stubFile: string) => path.basename(stubFile, '.parquet');
  const found = joinKeys(readPlan(planOf(sql)));
  if (found.length === 0) return 'no keys';
  return found
    .map(
      ({ target, source }) =>
        `${name(target.stubFile)}.${target.name} in ${name(source.stubFile)}.${source.name}`,
    )
    .sort()
    .join('\n');
}

function planOf(sql: string): string {
  return parser.query(`SELECT json_serialize_plan(${quoteText(sql)}::VARCHAR, optimize := true)`);
}

function printScans(sql: string): string {
  try {
    const scans = scanRequests(readPlan(planOf(sql)));
    if (scans.length === 0) return 'no scans';
    return scans
      .map(({ stubFile, request }) => {
        const columns = (request.columns ?? []).map((column) => column.join('.')).join(' ');
        const filters = request.filters.map(printFilter).join(' and ');
        return `${path.basename(stubFile, '.parquet')} [${columns}]${filters === '' ? '' : ` where ${filters}`}`;
      })
      .join('\n');
  } catch (caught) {
    if (caught instanceof PlanNotUnderstood) return `not understood: ${caught.message}`;
    throw caught;
  }
}

function printFilter(filter: ScanFilter): string {
  switch (filter.kind) {
    case 'compare':
      return `${filter.column.join('.')} ${filter.operator} ${printLiteral(filter.literal)}`;
    case 'in':
      return `${filter.column.join('.')} in (${filter.literals.map(printLiteral).join(', ')})`;
    case 'starts-with':
      return `${filter.column.join('.')} starts with ${filter.prefix}`;
    case 'is-null':
    case 'is-not-null':
      return `${filter.column.join('.')} ${filter.kind.replaceAll('-', ' ')}`;
    case 'and':
    case 'or':
      return `(${filter.filters.map(printFilter).join(` ${filter.kind} `)})`;
  }
}

/** `5::INTEGER`, a bigint as 5n where the type leaves it open. */
function printLiteral({ type, value }: { readonly type: string; readonly value: unknown }): string {
  const text = value instanceof Uint8Array ? `x${Buffer.from(value).toString('hex')}` : String(value);
  return `${text}::${type}`;
}
