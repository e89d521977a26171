import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { encodeBinaryValue } from '../iceberg/spec/binary-value.js';
import type { NestedField, Schema } from '../iceberg/spec/types.js';
import { createFileStore } from '../storage/file-store.js';
import { describeDataFile } from './describe-data-file.js';
import { inspectParquet } from './inspect-parquet.js';

const store = createFileStore();

async function rows(properties: Record<string, string> = {}, counts = {}) {
  const location = pathOf('rows.parquet');
  const { fields } = await inspectParquet(store, location);
  const schema: Schema = { schemaId: 0, fields, identifierFieldIds: [] };
  const options = { store, schema, properties: new Map(Object.entries(properties)) };
  return describeDataFile({ location, partition: [], counts }, options);
}

test('counts, sizes, bounds and split offsets of a file with field ids', async () => {
  const { metrics, sizeBytes } = await rows();
  assert.equal(metrics.recordCount, 400);
  assert.ok(sizeBytes > 0);
  assert.deepEqual([...metrics.columnSizes.keys()].sort(), [1, 2, 3, 4, 6, 7, 9]);
  assert.deepEqual(metrics.valueCounts.get(2), 400);
  assert.deepEqual(metrics.nullValueCounts.get(2), 58);
  assert.deepEqual(metrics.lowerBounds.get(1), encodeBinaryValue({ kind: 'long' }, 0n));
  assert.deepEqual(metrics.upperBounds.get(1), encodeBinaryValue({ kind: 'long' }, 399n));
  assert.deepEqual(
    Buffer.from(metrics.upperBounds.get(3) ?? []),
    Buffer.from(encodeBinaryValue({ kind: 'decimal', precision: 9, scale: 2 }, 8975n)),
  );
  assert.equal(metrics.splitOffsets.length, 8);
  assert.equal(metrics.splitOffsets[0], 4);
});

test('a field inside a struct has metrics; an element of a list only its size', async () => {
  const { metrics } = await rows();
  assert.equal(Buffer.from(metrics.upperBounds.get(6) ?? []).toString(), 'city-4');
  assert.equal(metrics.nullValueCounts.get(7), 37);
  assert.equal(metrics.valueCounts.has(9), false);
  assert.equal(metrics.lowerBounds.has(9), false);
});

test('keeps what the metrics modes of table and columns say', async () => {
  const { metrics } = await rows({
    'write.metadata.metrics.default': 'counts',
    'write.metadata.metrics.column.name': 'truncate(3)',
    'write.metadata.metrics.column.place.city': 'full',
    'write.metadata.metrics.column.day': 'none',
    'write.metadata.metrics.column.price': 'not a mode',
  });
  assert.deepEqual([...metrics.lowerBounds.keys()], [2, 6]);
  assert.equal(Buffer.from(metrics.lowerBounds.get(2) ?? []).toString(), 'nam');
  assert.equal(Buffer.from(metrics.upperBounds.get(2) ?? []).toString(), 'nan');
  assert.deepEqual([...metrics.valueCounts.keys()], [1, 2, 3, 6, 7]);
  assert.ok(metrics.columnSizes.has(4));
});

test('without a default of its own only the first columns have metrics', async () => {
  const { metrics } = await rows({ 'write.metadata.metrics.max-inferred-column-defaults': '2' });
  assert.deepEqual([...metrics.valueCounts.keys()], [1, 2]);
});

test('what only the writer knows fills what the footer does not say', async () => {
  const location = pathOf('types.parquet');
  const { fields, metrics } = await inspectParquet(store, location);
  const idOf = (name: string) => fields.find((field: NestedField) => field.name === name)?.id ?? 0;
  assert.equal(metrics.nanValueCounts.size, 0, 'this footer counts no NaN');
  assert.deepEqual(metrics.lowerBounds.get(idOf('d')), encodeBinaryValue({ kind: 'double' }, -0));
  assert.deepEqual(metrics.upperBounds.get(idOf('d')), encodeBinaryValue({ kind: 'double' }, Infinity));
  assert.equal(metrics.lowerBounds.has(idOf('uid')), false, 'readers do not agree on the order of these');
  assert.ok(metrics.lowerBounds.has(idOf('fixed')));
  const { metrics: counted } = await rows({}, { nullValueCounts: new Map([[2, 1]]) });
  assert.equal(counted.nullValueCounts.get(2), 58, 'the footer is believed first');
});

test('a file without the field ids of the table, or with nulls where there must be none, is refused', async () => {
  const describe = (name: string, fields: readonly NestedField[]) =>
    describeDataFile(
      { location: pathOf(name), partition: [] },
      { store, schema: { schemaId: 0, fields, identifierFieldIds: [] }, properties: new Map() },
    );
  const { fields } = await inspectParquet(store, pathOf('rows.parquet'));
  await assert.rejects(describe('types.parquet', fields), /Column "flag" of .* has no field id/);
  await assert.rejects(
    describe('rows.parquet', fields.slice(1)),
    /"id" of .* has the field id 1, which is no/,
  );
  const required = fields.map((field) => ({ ...field, required: true }));
  await assert.rejects(describe('rows.parquet', required), {
    code: 'EVALUATION_ERROR',
    message: 'Column "name" must not be null, but 58 of the new rows have no value for it.',
  });
});

function pathOf(name: string): string {
  return fileURLToPath(new URL(`../../testdata/parquet/${name}`, import.meta.url));
}
