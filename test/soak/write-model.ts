/** What a table is after statements of which the last one may have been cut off. */
import assert from 'node:assert/strict';
import type { SeededRandom } from './seeded-random.js';

export type WriteStatement = { readonly sql: string; readonly batch: number; readonly rowCount: number } & (
  | { readonly kind: 'insert' | 'replace' }
  | { readonly kind: 'create'; readonly table: string }
);

/** What is in the tables: rows of each batch that was inserted, and the batch that the replaced table has. */
export interface Written {
  readonly inserted: ReadonlyMap<number, number>;
  readonly replaced: readonly [batch: number, rowCount: number];
}

export const setUp = [
  'CREATE SCHEMA w',
  "CREATE TABLE w.t (batch BIGINT, i BIGINT) TBLPROPERTIES ('write.metadata.delete-after-commit.enabled' = true, 'write.metadata.previous-versions-max' = 10)",
  "CREATE TABLE w.r TBLPROPERTIES ('write.metadata.delete-after-commit.enabled' = true, 'write.metadata.previous-versions-max' = 10) AS SELECT 0 AS batch, 0 AS i",
];

export const nothingWritten: Written = { inserted: new Map(), replaced: [0, 1] };

/** Rows are `batch, 0`, `batch, 1`, … */
export function randomWrite(batch: number, random: SeededRandom): WriteStatement {
  const rowCount = random.between(1, 200);
  const query = `SELECT ${batch} AS batch, i FROM range(${rowCount}) r(i)`;
  const chance = random.next();
  if (chance < 0.6) return { kind: 'insert', sql: `INSERT INTO w.t ${query}`, batch, rowCount };
  if (chance < 0.8)
    return { kind: 'replace', sql: `CREATE OR REPLACE TABLE w.r AS ${query}`, batch, rowCount };
  const table = `w.c${batch}`;
  const sql = `CREATE TABLE IF NOT EXISTS ${table} PARTITIONED BY (truncate(50, i)) AS ${query}`;
  return { kind: 'create', sql, table, batch, rowCount };
}

export function after(written: Written, statements: readonly WriteStatement[]): Written {
  const inserted = new Map(written.inserted);
  let { replaced } = written;
  for (const { kind, batch, rowCount } of statements) {
    if (kind === 'insert') inserted.set(batch, rowCount);
    if (kind === 'replace') replaced = [batch, rowCount];
  }
  return { inserted, replaced };
}

/** Statements that read all of it, and the tables that `created` made, which are then dropped. */
export function readingStatements(created: readonly WriteStatement[]): readonly string[] {
  const tables = created.flatMap((each) => (each.kind === 'create' ? [each] : []));
  return [
    "SELECT 'inserted' AS what, batch, count(*) AS n, count(DISTINCT i) AS d, max(i) + 1 AS m FROM w.t GROUP BY batch",
    "SELECT 'replaced' AS what, batch, count(*) AS n, count(DISTINCT i) AS d, max(i) + 1 AS m FROM w.r GROUP BY batch",
    ...tables.flatMap(({ sql, table, batch }) => [
      // A table that was cut off is there as a whole, or can be made.
      sql,
      `SELECT 'created' AS what, ${batch} AS batch, count(*) AS n, count(DISTINCT i) AS d, max(i) + 1 AS m FROM ${table}`,
      `DROP TABLE ${table} PURGE`,
    ]),
    'SHOW TABLES IN w',
  ];
}

interface Line {
  readonly what?: string;
  readonly batch: number;
  readonly n: number;
  readonly d: number;
  readonly m: number;
}

/** What the answers to `readingStatements` say. Throws when a batch is there in part or twice, or a table is left. */
export function readWritten(lines: readonly string[], created: readonly WriteStatement[]): Written {
  const read = lines.map((line) => JSON.parse(line) as Line);
  const rowsOf = (what: string) => {
    const batches = new Map<number, number>();
    for (const { batch, n, d, m } of read.filter((line) => line.what === what)) {
      assert.deepEqual([d, m], [n, n], `batch ${batch} is there in part or twice`);
      batches.set(batch, n);
    }
    return batches;
  };
  const wanted = created.flatMap(({ kind, batch, rowCount }) =>
    kind === 'create' ? [[batch, rowCount] as const] : [],
  );
  assert.deepEqual(rowsOf('created'), new Map(wanted));
  const tables = lines.filter((line) => line.startsWith('{"table_name"'));
  assert.deepEqual(tables, ['{"table_name":"r"}', '{"table_name":"t"}']);
  const [replaced, ...others] = rowsOf('replaced');
  assert.ok(replaced !== undefined && others.length === 0);
  return { inserted: rowsOf('inserted'), replaced };
}
