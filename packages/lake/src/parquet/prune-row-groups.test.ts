import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScanFilter } from '@svc/sql';
import { bindFilters } from '../iceberg/expressions/bind-filter.js';
import { storeWith } from './fakes/memory-store.js';
import { inferSchema } from './iceberg-schema.js';
import { type PrunedRowGroups, pruneRowGroups } from './prune-row-groups.js';
import { readFooter } from './read-footer.js';

interface Pruned extends PrunedRowGroups {
  /** Requests and bytes after the footer. */
  readonly requests: number;
  readonly bytes: number;
}

async function prune(name: string, ...filters: readonly ScanFilter[]): Promise<Pruned> {
  const store = storeWith(name);
  const footer = await readFooter(store, await store.head(name));
  const { fields, leaves } = inferSchema(footer.schema, name);
  store.forgetCounts();
  const pruned = await pruneRowGroups(footer, {
    filter: bindFilters(filters, fields),
    leafOf: (id) => leaves.get(id),
    store,
  });
  return { ...pruned, requests: store.ranges.length, bytes: store.bytesRead };
}

const compare = (
  column: string[],
  operator: '=' | '<' | '>=' | '>',
  type: string,
  value: bigint | string,
): ScanFilter => ({
  kind: 'compare',
  column,
  operator,
  literal: { type, value },
});

test('keeps the row groups whose range meets the filter, without reading anything', async () => {
  const pruned = await prune(
    'rows.parquet',
    compare(['id'], '>=', 'BIGINT', 120n),
    compare(['id'], '<', 'BIGINT', 200n),
  );
  assert.deepEqual([pruned.rowGroups, pruned.prunedByStatistics, pruned.requests], [[2, 3], 6, 0]);
});

test('prunes on decimals, dates, text and fields of structs', async () => {
  assert.deepEqual(
    (await prune('rows.parquet', compare(['price'], '>=', 'DECIMAL(9,2)', 8900n))).rowGroups,
    [7],
  );
  assert.deepEqual(
    (await prune('rows.parquet', compare(['day'], '<', 'DATE', 18_262n + 10n))).rowGroups,
    [0],
  );
  assert.deepEqual(
    (await prune('rows.parquet', { kind: 'starts-with', column: ['name'], prefix: 'name-03' })).rowGroups,
    [6, 7],
  );
  assert.deepEqual(
    (await prune('rows.parquet', compare(['place', 'zip'], '>', 'INTEGER', 360n))).rowGroups,
    [7],
  );
});

test('joins conditions by AND and OR, and keeps everything where one side is unknown', async () => {
  const first = compare(['id'], '<', 'BIGINT', 10n);
  const last = compare(['id'], '>=', 'BIGINT', 399n);
  assert.deepEqual((await prune('rows.parquet', { kind: 'or', filters: [first, last] })).rowGroups, [0, 7]);
  assert.deepEqual((await prune('rows.parquet', first, last)).rowGroups, []);
  const unknown = compare(['no such column'], '=', 'BIGINT', 1n);
  assert.equal((await prune('rows.parquet', { kind: 'or', filters: [first, unknown] })).rowGroups.length, 8);
});

test('tells columns with nulls from those without', async () => {
  assert.deepEqual((await prune('rows.parquet', { kind: 'is-null', column: ['id'] })).rowGroups, []);
  assert.equal((await prune('rows.parquet', { kind: 'is-null', column: ['name'] })).rowGroups.length, 8);
  assert.equal((await prune('rows.parquet', { kind: 'is-not-null', column: ['name'] })).rowGroups.length, 8);
});

test('asks bloom filters for an equality that the statistics leave open', async () => {
  const pruned = await prune('bloom.parquet', compare(['k'], '=', 'INTEGER', 42n));
  assert.deepEqual([pruned.rowGroups, pruned.prunedByStatistics, pruned.prunedByBloom], [[2], 0, 3]);
  assert.equal(pruned.requests, 4);
  assert.ok(pruned.bytes < 4 * 512);
  const list: ScanFilter = {
    kind: 'in',
    column: ['v'],
    literals: ['v1', 'v5', 'v7'].map((value) => ({ type: 'VARCHAR', value })),
  };
  assert.deepEqual((await prune('bloom.parquet', list)).rowGroups, [1, 3]);
});

test('reads no bloom filter for a range, nor where the statistics already decide', async () => {
  assert.equal((await prune('bloom.parquet', compare(['k'], '>', 'INTEGER', 42n))).requests, 0);
  const outside = await prune('bloom.parquet', compare(['k'], '=', 'INTEGER', 4000n));
  assert.deepEqual([outside.rowGroups, outside.prunedByStatistics, outside.requests], [[], 4, 0]);
});

test('never leaves out a row group with a matching row', async () => {
  // Row group g of the file has the values with k % 4 = g.
  for (let k = 0; k < 128; k++) {
    const { rowGroups } = await prune('bloom.parquet', compare(['k'], '=', 'INTEGER', BigInt(k)));
    assert.ok(rowGroups.includes(k % 4), `k = ${k}`);
  }
});
