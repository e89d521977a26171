import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AvroFile } from '../avro/container-reader.js';
import { AvroEncoder } from '../avro/encoder.js';
import { parseAvroSchema } from '../avro/schema.js';
import { readManifestList } from './manifest-list.js';

const summary = `{"type":"record","name":"s","fields":[{"name":"contains_null","type":"boolean","field-id":509}]}`;
const schema = parseAvroSchema(`{"type":"record","name":"manifest_file","fields":[
  {"name":"manifest_path","type":"string","field-id":500},
  {"name":"partitions","type":{"type":"array","items":${summary}},"field-id":507}]}`);

/** So many manifests, each with so many partition summaries. */
function listOf(manifests: number, summaries: number): AvroFile {
  const encoder = new AvroEncoder();
  encoder.text('m.avro');
  encoder.list(Array.from({ length: summaries }), () => encoder.integer(0n));
  const record = encoder.finish();
  const records = Buffer.alloc(manifests * record.length, record);
  return { source: 's3://lake/snap-1.avro', metadata: new Map(), schema, recordCount: manifests, records };
}

test('a list of thousands of manifests is read', () => {
  const manifests = readManifestList(listOf(5000, 3));
  assert.equal(manifests.length, 5000);
  assert.deepEqual([manifests[4999]?.location, manifests[4999]?.partitions?.length], ['m.avro', 3]);
});

test('more manifests or summaries than any table has are refused, naming the list', () => {
  const refused = { code: 'UNSUPPORTED_TABLE_FEATURE', message: /s3:\/\/lake\/snap-1\.avro has more than/ };
  assert.throws(() => readManifestList(listOf(200_001, 0)), refused);
  assert.throws(() => readManifestList(listOf(2100, 1000)), refused);
  assert.throws(() => readManifestList(listOf(1, 1001)), {
    code: 'DATA_CORRUPT',
    message: /s3:\/\/lake\/snap-1\.avro .* a list has more than 1000 items/,
  });
});
