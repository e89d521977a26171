import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { always, type BoundFilter } from '../iceberg/expressions/bind-filter.js';
import type { DeleteFileSet } from '../iceberg/scan/assign-deletes.js';
import { queryError } from '../iceberg/testing/table-fixture.js';
import { MemoryStore } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import { inspectParquet } from '../parquet/inspect-parquet.js';
import { planDeletes } from './plan-deletes.js';

const location = 's3://t/deletes.parquet';
const bytes = readFileSync(new URL('../../testdata/parquet/rows.parquet', import.meta.url));

/** `rows.parquet` as an equality delete file by its column `id`. */
async function plan(file: Uint8Array, filter: BoundFilter = always) {
  const store = new MemoryStore();
  store.put(location, bytes);
  const { fields } = await inspectParquet(store, location);
  const nameMapping = fields.map(({ id, name }) => ({ fieldId: id, names: [name], fields: [] }));
  const id = fields.find(({ name }) => name === 'id');
  assert.ok(id);
  store.put(location, file);
  const common = {
    ...{ location, format: 'PARQUET', sizeBytes: 1, recordCount: 400, sequenceNumber: 3n },
    ...{ partition: [], partitionSpec: { spec: { specId: 0, fields: [] }, types: [] } },
  };
  const set: DeleteFileSet = {
    ...{ kind: 'equality', equalityIds: [id.id], isScoped: false },
    files: [{ ...common, kind: 'equality', equalityIds: [id.id] }],
  };
  const { sets, fileCount } = await planDeletes(
    { sets: [set], partitionOf: () => 5 },
    {
      ...{ tableName: 't', store, footers: createFooterCache({ maxBytes: 1 << 20 }), nameMapping, filter },
      schemas: [{ schemaId: 0, fields, identifierFieldIds: [] }],
      partitionValuesOf: () => new Map(),
    },
  );
  return { set: sets[0], fileCount, idField: id };
}

test('a delete file is read for the columns that it compares only', async () => {
  const { set, fileCount } = await plan(bytes);
  const [file] = set?.groups[0]?.files ?? [];
  assert.deepEqual([file?.columnNames, fileCount], [['id'], 1]);
  assert.deepEqual(file?.origin, { sequenceNumber: 3n, partition: 5, firstRowId: null });
});

test('row groups of values that the query does not want are left out', async () => {
  const { idField } = await plan(bytes);
  const below = (value: bigint): BoundFilter => ({
    ...{ kind: 'column', fieldId: idField.id, type: { kind: 'long' } },
    predicate: { kind: 'compare', operator: '<', value },
  });
  const { set } = await plan(bytes, below(1n));
  assert.equal(set?.groups[0]?.files[0]?.rowGroups?.length, 1);
  assert.deepEqual((await plan(bytes, below(-1n))).set?.groups, []);
});

test('a delete file that is cut short is named', async () => {
  const isNamed = queryError('DATA_CORRUPT', /s3:\/\/t\/deletes\.parquet/);
  await assert.rejects(plan(bytes.subarray(0, bytes.length - 20)), isNamed);
  await assert.rejects(plan(bytes.subarray(0, 3)), isNamed);
});
