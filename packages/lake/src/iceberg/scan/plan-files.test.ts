import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ScanFilter, ScanRequest } from '@svc/sql';
import { writeAvroFile } from '../avro/container-writer.js';
import { createMetadataFiles } from '../cache/metadata-files.js';
import { parseJson } from '../spec/lossless-json.js';
import type { NestedField } from '../spec/types.js';
import { createMemoryStore } from '../testing/memory-store.js';
import {
  type FixtureTable,
  fixtureSnapshotId,
  fixtureTable,
  plainFile,
  queryError,
  tableOf,
} from '../testing/table-fixture.js';
import { planFiles } from './plan-files.js';

const fields: readonly NestedField[] = [
  { id: 1, name: 'id', required: false, type: { kind: 'long' } },
  { id: 2, name: 'shape', required: false, type: { kind: 'unsupported', text: 'geometry' } },
];
const unpartitioned = { spec: { specId: 0, fields: [] }, types: [] };
const everything: ScanRequest = { columns: [['id']], filters: [] };
const sync = Buffer.alloc(16, 3);

async function plan(table: FixtureTable, request = everything) {
  return planFiles(table, { kind: 'current' }, request, { files: createMetadataFiles(1_000_000) });
}

const locationsOf = async (table: FixtureTable) => (await plan(table)).files.map((file) => file.location);

test('plans all files of a table in the order of its manifests', async () => {
  const table = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a'), plainFile('b')] },
    { files: [plainFile('c')] },
  ]);
  const { files, counts, snapshotId, schema } = await plan(table);
  assert.deepEqual(
    files.map((file) => file.location),
    ['a', 'b', 'c'],
  );
  assert.deepEqual([snapshotId, schema.schemaId], [fixtureSnapshotId, 0]);
  assert.deepEqual(
    [counts.manifestsTotal, counts.manifestsRead, counts.filesTotal, counts.bytesTotal],
    [2, 2, 3, 300],
  );
});

test('any rows are looked for in a few manifests at a time', async () => {
  const manifests = Array.from({ length: 30 }, (_none, index) => ({ files: [plainFile(`f${index}`)] }));
  const table = fixtureTable(fields, unpartitioned, manifests);
  const none: ScanFilter = { kind: 'or', filters: [] };
  const first = (rowCount: bigint, rejected: ScanFilter) =>
    plan(table, { ...everything, use: { rows: { kind: 'first', rowCount }, rejected } });
  const { files, counts } = await first(1n, none);
  assert.deepEqual([files.length, counts.manifestsRead, counts.manifestsTotal], [8, 8, 30]);
  assert.equal(counts.filesTotal, 30);
  assert.equal((await first(10n ** 12n, none)).files.length, 30);
  const unknown: ScanFilter = { kind: 'is-null', column: ['id'] };
  assert.equal((await first(1n, unknown)).files.length, 30);
});

test('a filter that can never hold opens no manifest', async () => {
  const table = fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }]);
  const nothing: ScanFilter = { kind: 'in', column: ['id'], literals: [] };
  const { files, counts } = await plan(table, { columns: [], filters: [nothing] });
  assert.deepEqual([files.length, counts.manifestsRead, counts.filesTotal], [0, 0, 1]);
  assert.deepEqual(table.store.reads, ['mem/metadata/snap.avro']);
});

test('metadata is read once, and again when the file under the name is another', async () => {
  const table = fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }]);
  const files = createMetadataFiles(1_000_000);
  const again = () => planFiles(table, { kind: 'current' }, everything, { files });
  await again();
  await again();
  assert.equal(table.store.reads.length, 2);
  const other = fixtureTable(fields, unpartitioned, [{ files: [plainFile('other name'), plainFile('x')] }]);
  for (const [name, body] of other.store.objects) table.store.objects.set(name, body);
  assert.deepEqual(
    (await again()).files.map((file) => file.location),
    ['other name', 'x'],
  );
});

test('delete files are answered beside the data files, and read only where there are any', async () => {
  const deletes = { files: [], deletes: [{ location: 'd', content: 1 }] };
  const table = fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }, deletes]);
  const { deletes: found, files, counts } = await plan(table);
  assert.deepEqual(
    [found.map(({ kind, location }) => [kind, location]), files.length],
    [[['positions', 'd']], 1],
  );
  assert.deepEqual([counts.manifestsRead, counts.filesTotal], [2, 1]);
  const alone = fixtureTable(fields, unpartitioned, [deletes]);
  assert.deepEqual((await plan(alone)).deletes, []);
  assert.deepEqual(alone.store.reads, ['mem/metadata/snap.avro']);
});

test('a manifest of deletes that have all been applied since is not read', async () => {
  const overrides = {
    content: 'deletes',
    addedFileCount: 0,
    existingFileCount: 0,
    deletedFileCount: 1,
  } as const;
  const table = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a')] },
    { files: [plainFile('d')], overrides },
  ]);
  assert.equal((await plan(table)).counts.manifestsRead, 1);
});

test('encrypted manifests are refused by name', async () => {
  const table = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a')], overrides: { keyMetadata: Uint8Array.of(1) } },
  ]);
  await assert.rejects(
    plan(table),
    queryError('UNSUPPORTED_TABLE_FEATURE', /mem\/metadata\/m0\.avro of table test\.fixture is encrypted/),
  );
});

test('a type that is not read is refused only when its column is', async () => {
  const table = fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }]);
  assert.deepEqual(await locationsOf(table), ['a']);
  for (const columns of [undefined, [['shape']]])
    await assert.rejects(
      plan(table, { columns, filters: [] }),
      queryError('UNSUPPORTED_TABLE_FEATURE', /Column shape of table test\.fixture has the type geometry/),
    );
});

test('a manifest that is missing, cut or foreign is named', async () => {
  const make = () => fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }]);
  const missing = make();
  missing.store.objects.delete('mem/metadata/m0.avro');
  await assert.rejects(plan(missing), queryError('DATA_FILE_MISSING', /m0\.avro/));
  const cut = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a')], overrides: { lengthBytes: 1_000_000 } },
  ]);
  await assert.rejects(
    plan(cut),
    queryError('DATA_CORRUPT', /m0\.avro has \d+ bytes instead of 1000000: it is cut short/),
  );
  const foreign = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a')], overrides: { specId: 7 } },
  ]);
  await assert.rejects(plan(foreign), queryError('DATA_CORRUPT', /m0\.avro refers to the partition spec 7/));
  const empty = make();
  const list = empty.store.objects.get('mem/metadata/snap.avro') ?? new Uint8Array();
  const header = Buffer.from(list).indexOf(Buffer.alloc(16, 5)) + 16;
  empty.store.objects.set('mem/metadata/snap.avro', list.subarray(0, header));
  await assert.rejects(
    plan(empty),
    queryError('DATA_CORRUPT', /snap\.avro is empty, but its snapshot has data files/),
  );
});

test('reads a table of format 1: no manifest list, no counts, its own entries', async () => {
  const store = createMemoryStore();
  store.objects.set('m.avro', version1Manifest());
  const table = tableOf(
    JSON.stringify({
      'format-version': 1,
      location: 'mem',
      'last-updated-ms': 1,
      'last-column-id': 1,
      schema: { type: 'struct', fields: [{ id: 1, name: 'id', required: false, type: 'long' }] },
      'partition-spec': [],
      'current-snapshot-id': 5,
      snapshots: [{ 'snapshot-id': 5, 'timestamp-ms': 1, manifests: ['m.avro'] }],
    }),
    store,
  );
  const { files, counts } = await plan(table);
  assert.deepEqual(
    files.map(({ location, sequenceNumber }) => [location, sequenceNumber]),
    [
      ['existing', 0n],
      ['added', 0n],
    ],
  );
  assert.deepEqual([counts.filesTotal, counts.bytesTotal], [2, 14]);
});

test('added files without a number take that of their manifest', async () => {
  const table = fixtureTable(fields, unpartitioned, [
    { files: [plainFile('a')], overrides: { sequenceNumber: 17n } },
  ]);
  assert.equal((await plan(table)).files[0]?.sequenceNumber, 17n);
});

test('an aborted signal ends planning before anything is read', async () => {
  const table = fixtureTable(fields, unpartitioned, [{ files: [plainFile('a')] }]);
  const options = { files: createMetadataFiles(1000), signal: AbortSignal.abort() };
  await assert.rejects(planFiles(table, { kind: 'current' }, everything, options), { code: 'CANCELLED' });
  assert.deepEqual(table.store.reads, []);
});

/** As an early writer made it: no sequence numbers, no content, no field ids, one entry deleted. */
function version1Manifest(): Uint8Array {
  return writeAvroFile({
    schema: parseJson(
      `{"type": "record", "name": "manifest_entry", "fields": [
        {"name": "status", "type": "int"}, {"name": "snapshot_id", "type": "long"},
        {"name": "data_file", "type": {"type": "record", "name": "r2", "fields": [
          {"name": "file_path", "type": "string"}, {"name": "file_format", "type": "string"},
          {"name": "partition", "type": {"type": "record", "name": "r102", "fields": []}},
          {"name": "record_count", "type": "long"}, {"name": "file_size_in_bytes", "type": "long"},
          {"name": "block_size_in_bytes", "type": "long"}]}}]}`,
      'test',
    ),
    metadata: { 'partition-spec-id': '0' },
    codec: 'null',
    sync,
    records: ['existing', 'added', 'deleted'],
    write(encoder, location) {
      encoder.integer(['existing', 'added', 'deleted'].indexOf(location));
      encoder.integer(5);
      encoder.text(location);
      encoder.text('parquet');
      for (const number of [10, 7, 64]) encoder.integer(number);
    },
  });
}
