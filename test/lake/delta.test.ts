/** Delta tables by delta-rs and by hand, read equal to what another reader answered for them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createFileStore, planDirectRead } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import { readDelta } from './delta-rows.js';
import { distantStore, withEngine } from './engine-scope.js';

const folder = fileURLToPath(new URL('../../../packages/lake/testdata/delta', import.meta.url));
const names = readdirSync(folder, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name);

function expectedRows(name: string): readonly string[] {
  return readFileSync(join(folder, name, 'expected.ndjson'), 'utf8')
    .trimEnd()
    .split('\n')
    .sort();
}

test('golden tables have the rows that another reader found in them, read in place and staged', () =>
  withEngine(async (scope) => {
    for (const name of names)
      for (const store of [createFileStore(), distantStore()]) {
        const { rows } = await readDelta(scope, store, join(folder, name));
        assert.deepEqual([...rows].sort(), expectedRows(name), name);
      }
  }));

const where = (column: string, operator: '<' | '>=' | '=', value: bigint): ScanFilter => ({
  kind: 'compare',
  column: [column],
  operator,
  literal: { type: 'BIGINT', value },
});

test('rows that are left after deletes are the same with and without pruned row groups', () =>
  withEngine(async (scope) => {
    const location = join(folder, 'vectors');
    let pruned = 0;
    for (const store of [createFileStore(), distantStore()])
      for (const [low, high] of [
        [0, 40],
        [110, 190],
        [250, 420],
        [590, 660],
        [1000, 2900],
        [3890, 4100],
      ] as const) {
        const filters = [where('id', '>=', BigInt(low)), where('id', '<', BigInt(high))];
        const sql = `SELECT lpad(id::VARCHAR, 9, '0') || text AS v FROM t WHERE id >= ${low} AND id < ${high}`;
        const whole = await readDelta(scope, store, location, { sql });
        const part = await readDelta(scope, store, location, {
          sql,
          request: { columns: undefined, filters },
        });
        assert.deepEqual(part.rows, whole.rows, `${low} to ${high}`);
        pruned += part.scan.counts.rowGroupsPrunedByStatistics;
      }
    assert.ok(pruned > 30, `${pruned} row groups pruned`);
  }));

test('rows are counted without those that were deleted, whatever is read of them', () =>
  withEngine(async (scope) => {
    const request = { columns: [], filters: [] };
    for (const store of [createFileStore(), distantStore()]) {
      const options = { request, sql: 'SELECT count(*) AS v FROM t' };
      const { rows, table } = await readDelta(scope, store, join(folder, 'vectors'), options);
      assert.deepEqual([rows, table.rowCount], [['579'], 579]);
    }
  }));

test('older versions have the rows that were deleted since', () =>
  withEngine(async (scope) => {
    const count = async (name: string, version: number) => {
      const sql = 'SELECT count(*) AS v FROM t';
      return (await readDelta(scope, createFileStore(), join(folder, name), { version, sql })).rows[0];
    };
    assert.equal(await count('vectors', 0), '3670');
    assert.equal(await count('vectors', 1), String(3670 - 100 - 4 - 20 - 2900));
    assert.equal(await count('grown', 0), '6');
    assert.equal(await count('grown', 1), '12');
  }));

test('nothing of a statement is computed of a deleted row', () =>
  withEngine(async (scope) => {
    const sql = `SELECT count(*) AS v FROM t WHERE 1 / (id % 3) >= 0 AND CASE WHEN id % 3 = 0 THEN error('seen') ELSE true END AND id < 100`;
    for (const store of [createFileStore(), distantStore()]) {
      const { rows } = await readDelta(scope, store, join(folder, 'vectors'), { sql });
      assert.deepEqual(rows, ['66']);
    }
  }));

test('files with deleted rows are read by the engine only', () =>
  withEngine(async (scope) => {
    const store = createFileStore();
    const { staged, scan } = await readDelta(scope, store, join(folder, 'vectors'));
    const column = scan.columns[0];
    assert.ok(column);
    const options = {
      columns: [{ index: 0, name: column.name, type: column.type }],
      files: scan.groups.flatMap((group) => group.files),
      store,
      footers: scope.footers,
    };
    const intact = staged.groups.filter((group) => group.deletions === undefined);
    assert.ok(intact.length > 0 && intact.length < staged.groups.length);
    assert.equal((await planDirectRead({ ...options, groups: intact }))?.files.length, 1);
    assert.equal(await planDirectRead({ ...options, groups: staged.groups }), undefined);
  }));
