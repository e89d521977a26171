import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetadataFiles } from '../cache/metadata-files.js';
import { applyUpdates } from '../changes/apply-updates.js';
import { checkRequirements } from '../changes/check-requirements.js';
import { readManifestEntries } from '../manifests/manifest-entries.js';
import { readManifestList } from '../manifests/manifest-list.js';
import type { AddedDataFile } from '../manifests/write-manifest.js';
import { typedPartitionSpecs } from '../scan/partition-types.js';
import { planFiles } from '../scan/plan-files.js';
import { encodeBinaryValue } from '../spec/binary-value.js';
import { parseTableMetadata, printTableMetadata } from '../spec/parse-table-metadata.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { parsePrimitiveType } from '../spec/type-text.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import { createMemoryStore } from '../testing/memory-store.js';
import { seededRandom } from '../testing/seeded-random.js';
import { plainFile } from '../testing/table-fixture.js';
import { applyTransform } from '../transforms/apply-transform.js';
import { parseTransform, transformResultType } from '../transforms/transform.js';
import { type Append, createAppend } from './append-files.js';
import { createTableUpdates, newTable, type TableDefinition } from './create-table.js';

const tableUuid = 'd1f0c7a2-5f0b-4a43-9d0e-3c2b1a0f9e8d';
const microsOfDay = 86_400_000_000n;
const values: Readonly<Record<string, readonly PrimitiveValue[]>> = {
  boolean: [true, false],
  int: [-2147483640, -5, 0, 34],
  long: [-(2n ** 62n), -5n, 0n, 2n ** 62n],
  float: [-1.5, 0, Math.fround(0.1), Number.NaN],
  double: [-1e300, -0, 0.1, Number.NaN],
  'decimal(9, 2)': [-999_999_999n, -1n, 0n, 1420n],
  'decimal(38, 10)': [-(10n ** 37n), 1n, 10n ** 37n],
  date: [-719_162, -1, 0, 17_486],
  time: [0n, 1n, microsOfDay - 1n],
  timestamp: [-microsOfDay - 1n, -1n, 0n, 1_510_871_468_000_001n],
  timestamptz: [-microsOfDay - 1n, -1n, 0n, 1_510_871_468_000_001n],
  string: ['', 'a', 'iceberg', 'ünïcode ☃😀'],
  uuid: [Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'), Buffer.alloc(16)],
  'fixed[4]': [Uint8Array.of(0, 1, 2, 3), Uint8Array.of(255, 255, 255, 255)],
  binary: [new Uint8Array(0), Uint8Array.of(0, 1, 2, 3), Uint8Array.of(255)],
};
const transforms = ['identity', 'void', 'bucket[8]', 'truncate[3]', 'year', 'month', 'day', 'hour'];

for (const formatVersion of [1, 2])
  for (const [text, samples] of Object.entries(values))
    for (const transform of transforms) {
      const type = typeOf(text);
      const resultType = transformResultType(parseTransform(transform), type);
      if (resultType === undefined) continue;
      test(`format ${formatVersion}: ${text} by ${transform} is read as it was written`, async () => {
        const table = newMemoryTable({ formatVersion, type, partitions: [transform] });
        const files = [...samples, null].map((value, index) => fileOf(type, transform, value, index));
        await table.append(files.slice(0, 2));
        await table.append(files.slice(2));
        const plan = await planFiles(table.loaded(), { kind: 'current' }, everything, { files: table.files });
        const byLocation = new Map(plan.files.map((file) => [file.location, file]));
        assert.equal(byLocation.size, files.length);
        for (const file of files) {
          const read = byLocation.get(file.location);
          assert.deepEqual(comparable(read?.partition[0]), comparable(file.partition[0]), file.location);
          assert.equal(read?.sizeBytes, file.sizeBytes);
          assert.equal(read?.sequenceNumber, sequenceOf(formatVersion, files.indexOf(file)));
        }
        for (const { file } of await table.entries()) {
          const written = files.find((each) => each.location === file.location);
          assert.deepEqual(boundsOf(file), boundsOf(written), file.location);
        }
      });
    }

test('prunes manifests and files by what was written, and keeps every row that matches', async () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'long' }, partitions: ['truncate[10]'] });
  const all: bigint[] = [];
  for (let commit = 0; commit < 5; commit++) {
    const commitValues = Array.from({ length: 4 }, () => BigInt(random.below(200) - 100));
    await table.append(
      commitValues.map((value, index) => fileOf({ kind: 'long' }, 'truncate[10]', value, all.length + index)),
    );
    all.push(...commitValues);
  }
  for (let round = 0; round < 20; round++) {
    const wanted = BigInt(random.below(200) - 100);
    const literal = { type: 'BIGINT', value: wanted };
    const filters = [{ kind: 'compare', column: ['v'], operator: '=', literal } as const];
    const request = { columns: undefined, filters };
    const plan = await planFiles(table.loaded(), { kind: 'current' }, request, { files: table.files });
    const expected = all.flatMap((value, index) => (value === wanted ? [`mem/data/${index}.parquet`] : []));
    assert.deepEqual(plan.files.map((file) => file.location).sort(), expected.sort(), `seed ${seed}`);
  }
  const literal = { type: 'BIGINT', value: 1000n };
  const filters = [{ kind: 'compare', column: ['v'], operator: '>', literal } as const];
  const none = await planFiles(
    table.loaded(),
    { kind: 'current' },
    { columns: undefined, filters },
    { files: table.files },
  );
  assert.deepEqual([none.counts.manifestsTotal, none.counts.manifestsRead, none.files.length], [5, 0, 0]);
});

test('the summary says what was added and what there is', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: ['identity'] });
  const type = { kind: 'int' } as const;
  await table.append([fileOf(type, 'identity', 1, 0), fileOf(type, 'identity', 1, 1)], {
    'engine-name': 'svc',
    operation: 'never taken',
  });
  await table.append([fileOf(type, 'identity', 2, 2)]);
  const [first, second] = table.metadata().snapshots;
  assert.deepEqual(Object.fromEntries(first?.summary ?? []), {
    operation: 'append',
    'added-data-files': '2',
    'added-records': '20',
    'added-files-size': '201',
    'changed-partition-count': '1',
    'total-data-files': '2',
    'total-records': '20',
    'total-files-size': '201',
    'total-delete-files': '0',
    'total-position-deletes': '0',
    'total-equality-deletes': '0',
    'engine-name': 'svc',
  });
  assert.equal(second?.summary.get('total-records'), '30');
  assert.equal(second?.summary.get('total-files-size'), '303');
  assert.equal(second?.parentSnapshotId, first?.snapshotId);
  assert.ok((second?.timestampMs ?? 0) >= (first?.timestampMs ?? 0));
});

test('a total that the snapshot before does not say stays unsaid', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [] });
  await table.append([plainFile('mem/data/a.parquet')]);
  const text = printTableMetadata(table.metadata()).replace('"total-records":"10",', '');
  table.replace(parseTableMetadata(Buffer.from(text), 'test'));
  await table.append([plainFile('mem/data/b.parquet')]);
  const summary = table.metadata().snapshots.at(-1)?.summary;
  assert.equal(summary?.has('total-records'), false);
  assert.equal(summary?.get('total-data-files'), '2');
});

for (const formatVersion of [1, 2])
  test(`format ${formatVersion}: merges small manifests once there are enough of them, and loses nothing`, async () => {
    const table = newMemoryTable({
      formatVersion,
      type: { kind: 'string' },
      partitions: ['bucket[4]'],
      properties: { 'commit.manifest.min-count-to-merge': '3' },
    });
    const counts: number[] = [];
    for (let index = 0; index < 7; index++) {
      await table.append([fileOf({ kind: 'string' }, 'bucket[4]', `value ${index}`, index)]);
      counts.push((await table.manifests()).length);
    }
    assert.deepEqual(counts, [1, 2, 1, 2, 1, 2, 1]);
    const entries = await table.entries();
    assert.equal(entries.length, 7);
    const snapshots = new Map(table.metadata().snapshots.map((each) => [each.snapshotId, each]));
    for (const entry of entries) {
      const snapshot = snapshots.get(entry.snapshotId);
      assert.equal(
        entry.sequenceNumber,
        snapshot?.sequenceNumber,
        'an old file keeps its snapshot and number',
      );
      assert.equal(entry.fileSequenceNumber, snapshot?.sequenceNumber);
    }
    const [merged] = await table.manifests();
    assert.deepEqual([merged?.addedFileCount, merged?.existingFileCount], [1, 6]);
    assert.equal(merged?.minSequenceNumber, formatVersion === 1 ? 0n : 1n);
  });

test('manifests are not merged where the table says so, and large ones are left alone', async () => {
  const merge = async (properties: Record<string, string>) => {
    const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [], properties });
    for (let index = 0; index < 4; index++) await table.append([plainFile(`mem/data/${index}.parquet`)]);
    return (await table.manifests()).length;
  };
  const enough = { 'commit.manifest.min-count-to-merge': '2' };
  assert.equal(await merge(enough), 1);
  assert.equal(await merge({ ...enough, 'commit.manifest-merge.enabled': 'false' }), 4);
  assert.equal(await merge({ ...enough, 'commit.manifest.target-size-bytes': '100' }), 4);
});

test('a manifest above the target size becomes several, in the order of the files', async () => {
  const table = newMemoryTable({
    formatVersion: 2,
    type: { kind: 'int' },
    partitions: [],
    properties: { 'commit.manifest.target-size-bytes': '4000', 'commit.manifest-merge.enabled': 'false' },
  });
  const random = seededRandom(7);
  const name = () => Array.from({ length: 40 }, () => random.below(36).toString(36)).join('');
  const files = Array.from({ length: 300 }, () => plainFile(`mem/data/${name()}.parquet`));
  await table.append(files);
  const manifests = await table.manifests();
  assert.ok(manifests.length > 2, `${manifests.length} manifests`);
  for (const manifest of manifests) assert.ok((manifest.lengthBytes ?? 0) < 8000);
  assert.deepEqual(
    (await table.entries()).map((entry) => entry.file.location),
    files.map((file) => file.location),
  );
});

test('takes over manifests of which format 1 only says where they are', async () => {
  const table = newMemoryTable({ formatVersion: 1, type: { kind: 'int' }, partitions: ['identity'] });
  const files = [1, 2, null].map((value, index) => fileOf({ kind: 'int' }, 'identity', value, index));
  await table.append(files);
  const [named] = await table.manifests();
  const old = printTableMetadata(table.metadata()).replace(
    /"manifest-list":"[^"]*"/,
    `"manifests":["${named?.location}"]`,
  );
  table.replace(parseTableMetadata(Buffer.from(old), 'test'));
  await table.append([fileOf({ kind: 'int' }, 'identity', 3, 3)]);
  const [, taken] = await table.manifests();
  assert.deepEqual([taken?.lengthBytes, taken?.specId, taken?.existingFileCount], [named?.lengthBytes, 0, 3]);
  assert.deepEqual([taken?.addedFileCount, taken?.existingRowCount], [0, 30]);
  assert.equal((await table.entries()).length, 4);
});

test('a table that becomes format 2 keeps its files, which have no sequence number', async () => {
  const table = newMemoryTable({
    formatVersion: 1,
    type: { kind: 'int' },
    partitions: ['identity'],
    properties: { 'commit.manifest.min-count-to-merge': '3' },
  });
  const file = (index: number) => fileOf({ kind: 'int' }, 'identity', index, index);
  await table.append([file(0)]);
  table.replace(
    applyUpdates(table.metadata(), [{ action: 'upgrade-format-version', formatVersion: 2 }], Date.now()),
  );
  const numbers = async () => {
    const entries = await table.entries();
    return entries.map((entry) => [entry.file.location, entry.sequenceNumber]);
  };
  await table.append([file(1)]);
  assert.deepEqual(await numbers(), [
    ['mem/data/1.parquet', 1n],
    ['mem/data/0.parquet', 0n],
  ]);
  await table.append([file(2)]);
  assert.equal((await table.manifests()).length, 1, 'merged');
  assert.deepEqual(await numbers(), [
    ['mem/data/2.parquet', 2n],
    ['mem/data/1.parquet', 1n],
    ['mem/data/0.parquet', 0n],
  ]);
});

test('an attempt after a conflict keeps the manifests of its files, and leftovers are removed', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [] });
  const append = table.newAppend([plainFile('mem/data/mine.parquet')]);
  const lost = await append.prepare(table.loaded());
  await table.append([plainFile('mem/data/theirs.parquet')]);
  assert.throws(() => checkRequirements(table.metadata(), lost.requirements, 't'), {
    code: 'COMMIT_CONFLICT',
  });
  const before = table.avroFiles();
  const commit = await append.prepare(table.loaded());
  assert.equal(table.avroFiles().length, before.length + 1, 'only a manifest list is written anew');
  table.replace(applyUpdates(table.metadata(), commit.updates, Date.now()));
  await append.cleanUp(table.metadata());
  const lists = table.metadata().snapshots.map((each) => each.manifestList);
  const manifests = (await table.manifests()).map((each) => each.location);
  assert.deepEqual(table.avroFiles().sort(), [...lists, ...manifests].sort());
  assert.equal((await table.entries()).length, 2);
});

test('a failed append leaves nothing that it wrote', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [] });
  await table.append([plainFile('mem/data/theirs.parquet')]);
  const before = table.avroFiles();
  const append = table.newAppend([plainFile('mem/data/mine.parquet')]);
  await append.prepare(table.loaded());
  await append.prepare(table.loaded());
  await append.cleanUp(undefined);
  assert.deepEqual(table.avroFiles(), before);
});

test('files of a table that was made anew are not added to its successor', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [] });
  const append = table.newAppend([plainFile('mem/data/mine.parquet')]);
  await append.prepare(table.loaded());
  table.replace({ ...table.metadata(), tableUuid: 'another' });
  await assert.rejects(append.prepare(table.loaded()), { code: 'COMMIT_CONFLICT', retryable: false });
});

test('refuses tables of format 3 before anything is written, whatever their catalog would say', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'int' }, partitions: [] });
  const append = table.newAppend([plainFile('mem/data/mine.parquet')]);
  const before = table.avroFiles();
  table.replace({ ...table.metadata(), formatVersion: 3 });
  await assert.rejects(append.prepare(table.loaded()), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /format version 3; rows are added to tables of versions 1 and 2/,
  });
  assert.deepEqual(table.avroFiles(), before);
});

test('refuses files that do not fit the partition spec', async () => {
  const table = newMemoryTable({ formatVersion: 2, type: { kind: 'date' }, partitions: ['month', 'void'] });
  const wrong: readonly (readonly [readonly (PrimitiveValue | null)[], RegExp])[] = [
    [[1], /1 partition values, not 2/],
    [['x', null], /value of v_month is no int/],
    [[2 ** 31, null], /value of v_month is no int/],
    [[1.5, null], /value of v_month is no int/],
    [[1, 1], /value of v_null is not null/],
  ];
  for (const [partition, message] of wrong)
    await assert.rejects(table.append([plainFile('mem/data/a.parquet', { partition })]), message);
  const file = plainFile('mem/data/a.parquet', { partition: [1, null] });
  await assert.rejects(table.append([file, file]), /added twice/);
  assert.deepEqual(table.avroFiles(), []);
});

test('UUIDs that readers order differently are in manifests of their own', async () => {
  const uuid = { kind: 'uuid' } as const;
  const table = newMemoryTable({
    formatVersion: 2,
    type: uuid,
    partitions: ['identity'],
    properties: { 'commit.manifest.min-count-to-merge': '2' },
  });
  const uuids = [0x10, 0xf0, 0x05, 0x80, 0x7f].map((byte) => Uint8Array.from({ length: 16 }, () => byte));
  await table.append(uuids.map((value, index) => fileOf(uuid, 'identity', value, index)));
  const bounds = (await table.manifests()).map(({ partitions }) => [
    partitions?.[0]?.lowerBound?.[0],
    partitions?.[0]?.upperBound?.[0],
  ]);
  assert.deepEqual(bounds, [
    [0x05, 0x7f],
    [0x80, 0xf0],
  ]);
});

test('a spec with two decimals and two uuids defines each Avro type once', async () => {
  const decimal = { kind: 'decimal', precision: 9, scale: 2 } as const;
  const columns = ['a', 'b'].map((name) => ({ name, type: decimal }));
  const partitions = columns.map(({ name }) => ({ column: [name], transform: 'identity' }));
  const table = newMemoryTable({ formatVersion: 2, definition: { columns, partitions } });
  await table.append([plainFile('mem/data/a.parquet', { partition: [-1n, 99_999n] })]);
  assert.deepEqual((await table.entries())[0]?.file.partition, [-1n, 99_999n]);
  const [manifest] = await table.manifests();
  const header = Buffer.from(table.store.objects.get(manifest?.location ?? '') ?? []).toString('latin1');
  assert.match(header, /"decimal_9_2"/);
  assert.match(header, /"decimal_9_2_1001"/);
});

interface MemoryTableOptions {
  readonly formatVersion: number;
  readonly type?: PrimitiveType;
  readonly partitions?: readonly string[];
  readonly properties?: Record<string, string>;
  readonly definition?: TableDefinition;
}

const everything = { columns: undefined, filters: [] };

function newMemoryTable({
  formatVersion,
  type,
  partitions = [],
  properties,
  definition,
}: MemoryTableOptions) {
  const store = createMemoryStore();
  const files = createMetadataFiles(10_000_000);
  const table = newTable(
    definition ?? {
      formatVersion,
      columns: [
        { name: 'id', type: { kind: 'long' } },
        { name: 'v', type: type ?? { kind: 'int' } },
      ],
      partitions: partitions.map((transform) => ({ column: ['v'], transform })),
      ...(properties !== undefined && { properties }),
    },
    { tableUuid, location: 'mem' },
  );
  let metadata = applyUpdates(undefined, createTableUpdates(table), 1000);
  const identifier = { namespace: ['test'], name: 'memory' };
  const loaded = () => ({ identifier, metadata, metadataLocation: 'mem/metadata/v1.metadata.json', store });
  const newAppend = (dataFiles: readonly AddedDataFile[], summary: Record<string, string> = {}): Append =>
    createAppend({ store, files, dataFiles, tableUuid, specId: 0, schemaId: 0, summary });
  const manifests = async () => {
    const list = metadata.snapshots.at(-1)?.manifestList ?? '';
    return readManifestList((await files.avroFile(store, list)).file);
  };
  return {
    store,
    files,
    loaded,
    newAppend,
    manifests,
    metadata: () => metadata,
    replace: (changed: TableMetadata) => {
      metadata = changed;
    },
    avroFiles: () => [...store.objects.keys()].filter((location) => location.endsWith('.avro')),
    async append(dataFiles: readonly AddedDataFile[], summary: Record<string, string> = {}) {
      const append = newAppend(dataFiles, summary);
      const commit = await append.prepare(loaded());
      checkRequirements(metadata, commit.requirements, 'memory');
      metadata = applyUpdates(metadata, commit.updates, Date.now());
      metadata = parseTableMetadata(Buffer.from(printTableMetadata(metadata)), 'memory');
    },
    async entries() {
      const [schema] = metadata.schemas;
      assert.ok(schema);
      const spec = typedPartitionSpecs(metadata, schema).get(0);
      assert.ok(spec);
      const read = [];
      for (const manifest of await manifests())
        read.push(
          ...readManifestEntries((await files.avroFile(store, manifest.location)).file, manifest, spec),
        );
      return read;
    },
  };
}

/** A file of rows that all have one value. */
function fileOf(
  type: PrimitiveType,
  transform: string,
  value: PrimitiveValue | null,
  index: number,
): AddedDataFile {
  const partition = value === null ? null : applyTransform(parseTransform(transform), type, value);
  assert.notEqual(partition, undefined);
  const file = plainFile(`mem/data/${index}.parquet`, {
    sizeBytes: 100 + index,
    partition: [partition ?? null],
  });
  if (value === null || Number.isNaN(value)) return file;
  const bound = new Map([[2, encodeBinaryValue(type, value)]]);
  return { ...file, metrics: { ...file.metrics, lowerBounds: bound, upperBounds: bound } };
}

function sequenceOf(formatVersion: number, index: number): bigint {
  if (formatVersion === 1) return 0n;
  return index < 2 ? 1n : 2n;
}

function boundsOf(file: AddedDataFile | undefined): readonly string[] {
  const bounds = [file?.metrics.lowerBounds.get(2), file?.metrics.upperBounds.get(2)];
  return bounds.map((bound) => (bound === undefined ? 'none' : Buffer.from(bound).toString('hex')));
}

/** Buffers and other byte arrays of the same bytes are the same. */
function comparable(value: PrimitiveValue | null | undefined): unknown {
  return value instanceof Uint8Array ? Array.from(value) : value;
}

function typeOf(text: string): PrimitiveType {
  const type = parsePrimitiveType(text);
  assert.ok(type);
  return type;
}
