import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  createFileStore,
  createFileSystemCatalog,
  createMetadataFiles,
  inspectParquet,
  type LoadedTable,
  planScan,
  registerParquetTable,
  stageScan,
  type TableScan,
} from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import { distantStore, type EngineScope, withEngine } from './engine-scope.js';

/** Sorted, shuffled, skewed, null and not-a-number columns; DuckDB writes bloom filters for those with a dictionary. */
const content = `
  SELECT i AS sorted, (i * 7919) % 20000 AS shuffled, i // 2048 + (i % 8) * 100 AS grouped,
    CASE WHEN i % 10 > 0 THEN 'k' || lpad((i // 50)::VARCHAR, 4, '0') END AS text,
    (i - 10000)::DECIMAL(18, 3) / 8 AS amount,
    DATE '2020-01-01' + (i // 100)::INTEGER AS day,
    CASE WHEN i % 4096 = 7 THEN 'NaN'::DOUBLE ELSE i / 3 END AS ratio,
    CASE WHEN i < 4096 THEN NULL ELSE i % 3 END AS partly
  FROM range(20000) r(i) ORDER BY i`;

interface Case {
  readonly sql: string;
  readonly filter: ScanFilter;
}

test('planned and staged scans have every row that a filter keeps', () =>
  withEngine(async (scope) => {
    const original = join(scope.lease.inputDirectory, 'original.parquet');
    await scope.lease.execute([`COPY (${content}) TO '${original}' (FORMAT parquet, ROW_GROUP_SIZE 2048)`]);
    const table = await register(scope, original);
    let prunedByStatistics = 0;
    let prunedByBloom = 0;
    for (const { sql, filter } of cases()) {
      const scan = await plan(scope, table, filter);
      prunedByStatistics += scan.counts.rowGroupsPrunedByStatistics;
      prunedByBloom += scan.counts.rowGroupsPrunedByBloom;
      const { groups } = await stageScan(scan, {
        ...scope,
        store: table.store,
        directory: scope.lease.inputDirectory,
      });
      const paths = groups.flatMap((group) => group.paths).map((path) => `'${path}'`);
      const aggregate = (source: string) =>
        scope.text(`SELECT (count(*), sum(sorted))::VARCHAR FROM ${source} WHERE ${sql}`);
      const expected = await aggregate(`read_parquet('${original}')`);
      if (paths.length === 0) assert.equal(expected, '(0, NULL)', sql);
      else assert.equal(await aggregate(`read_parquet([${paths.join()}])`), expected, sql);
    }
    assert.ok(prunedByStatistics > 100, `${prunedByStatistics} row groups pruned by statistics`);
    assert.ok(prunedByBloom > 20, `${prunedByBloom} row groups pruned by bloom filters`);
  }));

async function register({ folder }: EngineScope, location: string): Promise<LoadedTable> {
  const file = await inspectParquet(createFileStore(), location);
  const identifier = { namespace: ['s'], name: 't' };
  await registerParquetTable({ root: join(folder, 'warehouse'), identifier, file });
  const store = distantStore();
  const files = createMetadataFiles(1 << 24);
  return createFileSystemCatalog({ root: join(folder, 'warehouse'), store, files }).loadTable(identifier);
}

function plan({ footers }: EngineScope, table: LoadedTable, filter: ScanFilter): Promise<TableScan> {
  const options = { tableName: 'c.s.t', footers, manifests: createMetadataFiles(1 << 24) };
  return planScan(table, { kind: 'current' }, { columns: undefined, filters: [filter] }, options);
}

function cases(): readonly Case[] {
  const made: Case[] = [];
  const add = (
    column: string,
    type: string,
    values: readonly (readonly [string, bigint | string | number])[],
  ) => {
    for (const [text, value] of values) {
      for (const operator of ['=', '<>', '<', '<=', '>', '>='] as const)
        made.push({
          sql: `${column} ${operator} ${text}`,
          filter: { kind: 'compare', column: [column], operator, literal: { type, value } },
        });
    }
    const literals = values.map(([, value]) => ({ type, value }));
    made.push({
      sql: `${column} IN (${values.map(([text]) => text).join(', ')})`,
      filter: { kind: 'in', column: [column], literals },
    });
  };
  add('sorted', 'BIGINT', [
    ['-1', -1n],
    ['2047', 2047n],
    ['2048', 2048n],
    ['19999', 19999n],
    ['20000', 20000n],
  ]);
  add('shuffled', 'BIGINT', [
    ['5', 5n],
    ['19999', 19999n],
  ]);
  add('grouped', 'BIGINT', [
    ['3', 3n],
    ['104', 104n],
    ['709', 709n],
    ['50', 50n],
  ]);
  add('text', 'VARCHAR', [
    ["'k0000'", 'k0000'],
    ["'k0399'", 'k0399'],
    ["'k02'", 'k02'],
    ["'z'", 'z'],
  ]);
  add('amount', 'DECIMAL(18,3)', [
    ['0.125', 125n],
    ['-1250', -1_250_000n],
    ['1249.875', 1_249_875n],
  ]);
  add('day', 'DATE', [
    ["DATE '2020-01-01'", 18262n],
    ["DATE '2020-05-01'", 18383n],
    ["DATE '2021-01-01'", 18628n],
  ]);
  add('ratio', 'DOUBLE', [
    ['100.0', 100],
    ['6666', 6666],
    ["'NaN'::DOUBLE", Number.NaN],
    ["'inf'::DOUBLE", Number.POSITIVE_INFINITY],
  ]);
  for (const column of ['sorted', 'text', 'partly', 'ratio']) {
    made.push({ sql: `${column} IS NULL`, filter: { kind: 'is-null', column: [column] } });
    made.push({ sql: `${column} IS NOT NULL`, filter: { kind: 'is-not-null', column: [column] } });
  }
  made.push({
    sql: "starts_with(text, 'k01')",
    filter: { kind: 'starts-with', column: ['text'], prefix: 'k01' },
  });
  const simple = made.slice();
  for (let index = 0; index + 1 < simple.length; index += 3) {
    const [a, b] = [simple[index], simple[(index * 5 + 1) % simple.length]];
    if (a === undefined || b === undefined) continue;
    for (const kind of ['and', 'or'] as const)
      made.push({ sql: `(${a.sql}) ${kind} (${b.sql})`, filter: { kind, filters: [a.filter, b.filter] } });
  }
  return made;
}
