import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { type MemoryStore, seededRandom } from '../parquet/fakes/memory-store.js';
import type { ObjectStore } from '../storage/object-store.js';
import { isDeltaTable, loadDeltaTable } from './load-delta-table.js';
import { classicName, commitName, partName } from './log/log-names.js';
import { added, field, goldenStore, metadata, protocol, putLog, root, storeOf } from './testing/delta-log.js';

const atVersion = (version: bigint) => ({ pin: { kind: 'id', snapshotId: version } as const });
const atTime = (timestampMs: number) => ({ pin: { kind: 'timestamp', timestampMs } as const });
const removed = (path: string) => ({ remove: { path, dataChange: true } });

async function paths(store: ObjectStore, options = {}): Promise<readonly string[]> {
  const { files } = await loadDeltaTable(store, root, options);
  return files.map((file) => file.path).sort();
}

const threeVersions = () =>
  storeOf([[protocol, metadata(), added('a')], [added('b'), removed('a')], [added('c')]]);

test('each version has the files that were added and not removed', async () => {
  const store = threeVersions();
  assert.deepEqual(await paths(store), ['b', 'c']);
  assert.deepEqual(await paths(store, atVersion(0n)), ['a']);
  const { version, uuid, rowCount } = await loadDeltaTable(store, `${root}/`);
  assert.deepEqual([version, uuid, rowCount], [2, 'u-1', undefined]);
});

test('the same file with other deleted rows replaces the one before, in whatever order the commit says it', async () => {
  const vector = (offset: number) => ({
    deletionVector: { storageType: 'u', pathOrInlineDv: 'x', offset, sizeInBytes: 1, cardinality: offset },
  });
  const withVector = added('a', vector(2));
  for (const commit of [
    [withVector, removed('a')],
    [removed('a'), withVector],
  ]) {
    const store = storeOf([[protocol, metadata(), added('a')], commit]);
    const { files } = await loadDeltaTable(store, root);
    assert.deepEqual(
      files.map((file) => file.deletionVector?.cardinality),
      [2],
    );
  }
  const late = storeOf([[protocol, metadata(), withVector], [removed('a')]]);
  assert.deepEqual(await paths(late), ['a'], 'another file of this path was removed');
});

test('rows are counted without the deleted ones, where every file says how many it has', async () => {
  const vector = { storageType: 'i', pathOrInlineDv: 'x', sizeInBytes: 1, cardinality: 4 };
  const counted = added('a', { stats: '{"numRecords":10}', deletionVector: vector });
  const store = storeOf([
    [protocol, metadata(), counted, added('b', { stats: '{"numRecords":5}' })],
    [added('c')],
  ]);
  assert.equal((await loadDeltaTable(store, root, atVersion(0n))).rowCount, 11);
  assert.equal((await loadDeltaTable(store, root)).rowCount, undefined);
});

test('actions and fields that are not known are left aside', async () => {
  const store = storeOf([
    ['{"commitInfo":{"x":[1e999]}}', protocol, metadata(), '{"brandNew":{"a":1}}', '{}', '', '  '],
    [added('a', { unheardOf: { deep: [1] } }), '{"txn":{"appId":"x","version":99999999999999999999}}'],
  ]);
  store.put(`${root}/_delta_log/00000000000000000001.crc`, Buffer.from('{'));
  store.put(`${root}/_delta_log/.00000000000000000001.json.tmp`, Buffer.from('{'));
  assert.deepEqual(await paths(store), ['a']);
});

test('a folder without a log is no Delta table', async () => {
  const store = storeOf([]);
  assert.equal(await isDeltaTable(store, root), false);
  await assert.rejects(loadDeltaTable(store, root), {
    code: 'TABLE_NOT_FOUND',
    message: /s3:\/\/bucket\/table/,
  });
  assert.equal(await isDeltaTable(threeVersions(), `${root}//`), true);
});

test('a version or branch that is not there is refused with those that are', async () => {
  const notFound = { code: 'SNAPSHOT_NOT_FOUND', message: /versions 0 to 2/ };
  await assert.rejects(paths(threeVersions(), atVersion(3n)), notFound);
  await assert.rejects(paths(threeVersions(), atVersion(-1n)), notFound);
  await assert.rejects(paths(threeVersions(), atVersion(2n ** 63n)), notFound);
  const reference = { pin: { kind: 'reference', name: 'main' } };
  await assert.rejects(paths(threeVersions(), reference), {
    code: 'SNAPSHOT_NOT_FOUND',
    message: /no branch/,
  });
});

test('a gap in the log is named, where a version needs what is missing', async () => {
  const store = threeVersions();
  store.files.delete(`${root}/_delta_log/${commitName(1)}`);
  await assert.rejects(paths(store), { code: 'DATA_CORRUPT', message: /00000000000000000001\.json/ });
  assert.deepEqual(await paths(store, atVersion(0n)), ['a']);
});

test('a checkpoint of which parts are missing is ignored, and named when nothing else helps', async () => {
  const store = threeVersions();
  store.put(`${root}/_delta_log/${partName(1, 1, 3)}`, Buffer.from('no Parquet'));
  assert.deepEqual(await paths(store), ['b', 'c']);
  store.files.delete(`${root}/_delta_log/${commitName(0)}`);
  const parts = /checkpoint of version 1 has 1 of 3 parts/;
  await assert.rejects(paths(store), { code: 'DATA_CORRUPT', message: parts });
});

test('lines that are cut, no JSON or of wrong types are named with their file', async () => {
  const lines: readonly (readonly [string, RegExp])[] = [
    ['{"add":{"path":"x","partition', /00001\.json, line 2 is not valid JSON/],
    ['nonsense', /line 2 is not valid JSON/],
    ['[1]', /line 2: the content must be an object/],
    ['{"add":{"path":7,"size":1}}', /line 2: add\.path must be a string; it is 7/],
    ['{"add":{"path":"x","size":"1"}}', /add\.size must be a 64-bit integer/],
    ['{"add":{"path":"x","size":1,"partitionValues":{"p":5}}}', /partition value p/],
    ['{"add":{"path":"x","size":1,"deletionVector":{}}}', /storageType must be a string/],
    ['{"metaData":{"id":"x"}}', /metaData\.schemaString/],
    ['{"protocol":{}}', /minReaderVersion/],
  ];
  for (const [line, message] of lines) {
    const store = storeOf([
      [protocol, metadata()],
      [added('a'), line],
    ]);
    await assert.rejects(paths(store), { code: 'DATA_CORRUPT', message }, line);
  }
});

test('text that is no UTF-8 is refused, and a replacement character that was written is not', async () => {
  const store = storeOf([[protocol, metadata(), added('\uFFFD')]]);
  assert.deepEqual(await paths(store), ['\uFFFD']);
  const text = Buffer.from(`${JSON.stringify(protocol)}\n{"add":{"path":"\xff","size":1}}`, 'latin1');
  store.put(`${root}/_delta_log/${commitName(1)}`, text);
  await assert.rejects(paths(store), { code: 'DATA_CORRUPT', message: /00001\.json, line 2/ });
});

test('a log without protocol or metadata, or with a schema that is none, is refused', async () => {
  const corrupt = (message: RegExp) => ({ code: 'DATA_CORRUPT', message });
  await assert.rejects(paths(storeOf([[metadata()]])), corrupt(/no protocol action/));
  await assert.rejects(paths(storeOf([[protocol]])), corrupt(/no metaData action/));
  for (const schemaString of [
    '',
    '{',
    '[]',
    '"struct"',
    '{"type":"struct"}',
    '{"type":"struct","fields":[]}',
  ])
    await assert.rejects(
      paths(storeOf([[protocol, metadata([], { schemaString })]])),
      corrupt(/00000\.json, line 2: schemaString/),
      schemaString,
    );
  const deep = `${'{"type":"array","elementType":'.repeat(5000)}"long"${'}'.repeat(5000)}`;
  const schemaString = `{"type":"struct","fields":[{"name":"a","type":${deep},"metadata":{}}]}`;
  await assert.rejects(paths(storeOf([[protocol, metadata([], { schemaString })]])), corrupt(/nested/));
  const unknownColumn = metadata([field('id', 'long')], { partitionColumns: ['nope'] });
  await assert.rejects(paths(storeOf([[protocol, unknownColumn]])), corrupt(/partitionColumns has nope/));
});

test('what a table asks of readers and is not honoured is refused by name', async () => {
  const asking = (more: object) => storeOf([[{ protocol: { minWriterVersion: 7, ...more } }, metadata()]]);
  const refused = (message: RegExp) => ({ code: 'UNSUPPORTED_TABLE_FEATURE', message });
  const features = ['deletionVectors', 'catalogManaged', 'quantumRows'];
  await assert.rejects(
    paths(asking({ minReaderVersion: 3, readerFeatures: features })),
    refused(/features catalogManaged, quantumRows \(.*00000\.json, line 1\)/),
  );
  await assert.rejects(paths(asking({ minReaderVersion: 4 })), refused(/readers of version 4/));
  await assert.rejects(paths(asking({ minReaderVersion: 3 })), {
    code: 'DATA_CORRUPT',
    message: /readerFeatures/,
  });
  const orc = storeOf([[protocol, metadata([field('a', 'long')], { format: { provider: 'orc' } })]]);
  await assert.rejects(paths(orc), refused(/format orc/));
  assert.deepEqual(await paths(asking({ minReaderVersion: 3, readerFeatures: ['vacuumProtocolCheck'] })), []);
});

test('a feature that was dropped again does not stand in the way of later versions', async () => {
  const asking = { protocol: { minReaderVersion: 3, minWriterVersion: 7, readerFeatures: ['quantumRows'] } };
  const store = storeOf([[protocol, metadata()], [asking], [protocol, added('a')]]);
  assert.deepEqual(await paths(store), ['a']);
  await assert.rejects(paths(store, atVersion(1n)), { message: /quantumRows/ });
});

test('checkpoints of all kinds are read, and damaged ones named', async () => {
  for (const name of ['cleaned', 'checkpoint-json', 'checkpoint-parquet']) {
    const store = goldenStore(name);
    const { files, rowCount } = await loadDeltaTable(store, root);
    assert.ok(files.length > 2 && rowCount !== undefined, name);
  }
  const cut = goldenStore('checkpoint-json');
  const sidecar = [...cut.files.keys()].find((location) => location.includes('_sidecars')) ?? '';
  cut.files.delete(sidecar);
  await assert.rejects(paths(cut), { code: 'DATA_FILE_MISSING', message: /_sidecars/ });
  cut.put(sidecar, Buffer.from('PAR1'));
  await assert.rejects(paths(cut), { code: 'DATA_CORRUPT', message: /_sidecars/ });
});

test('a checkpoint of arbitrary bytes is refused or read, and never more', { timeout: 60_000 }, async () => {
  const random = seededRandom(11);
  const store = goldenStore('checkpoint-parquet');
  const files = [...store.files].filter(([location]) => /checkpoint\..*parquet|_sidecars/.test(location));
  for (let round = 0; round < 300; round++) {
    const [location, { bytes }] = files[round % files.length] ?? ['', { bytes: new Uint8Array() }];
    const changed = Buffer.from(bytes);
    for (let change = 0; change <= round % 5; change++)
      changed[Math.floor(random() * changed.length)] = Math.floor(random() * 256);
    store.put(location, changed);
    await loadDeltaTable(store, root).catch((error: unknown) => {
      assert.ok(error instanceof QueryError && error.code !== 'INTERNAL_ERROR', `round ${round}: ${error}`);
    });
    store.put(location, bytes);
  }
});

test('without a listing the log is found by its last checkpoint, or from its beginning', async () => {
  const unlisted = (store: MemoryStore): ObjectStore => ({
    head: store.head.bind(store),
    read: store.read.bind(store),
    readRanges: store.readRanges.bind(store),
    write: store.write.bind(store),
    moveIn: store.moveIn.bind(store),
    delete: store.delete.bind(store),
    localPath: store.localPath.bind(store),
    list: async () => {
      throw new QueryError('NOT_SUPPORTED', 'A web server has no listing.');
    },
  });
  for (const name of ['cleaned', 'grown', 'vectors']) {
    const store = goldenStore(name);
    assert.deepEqual(await paths(unlisted(store)), await paths(store), name);
  }
  assert.deepEqual(
    await paths(unlisted(goldenStore('grown')), atVersion(1n)),
    await paths(goldenStore('grown'), atVersion(1n)),
  );
  assert.equal(await isDeltaTable(unlisted(goldenStore('cleaned')), root), true);
  assert.equal(await isDeltaTable(unlisted(storeOf([])), root), false);
  const damaged = goldenStore('cleaned');
  damaged.put(`${root}/_delta_log/_last_checkpoint`, Buffer.from('{"version":'));
  await assert.rejects(paths(unlisted(damaged)), { code: 'DATA_CORRUPT', message: /_last_checkpoint/ });
  assert.equal((await paths(damaged)).length > 0, true, 'a listing needs no such file');
});

test('a version is found by the times that commits keep, else by those that writers noted', async () => {
  const info = (more: object) => ({ commitInfo: more });
  const noted = storeOf([
    [info({ timestamp: 1000 }), protocol, metadata(), added('a')],
    [info({ timestamp: 900 }), added('b')],
    [info({ timestamp: 5000, inCommitTimestamp: 3000 }), added('c')],
  ]);
  const versionAt = async (timestampMs: number) =>
    (await loadDeltaTable(noted, root, atTime(timestampMs))).version;
  assert.deepEqual(await Promise.all([1000, 1001, 2999, 3000, 9e12].map(versionAt)), [0, 1, 1, 2, 2]);
  await assert.rejects(versionAt(999), {
    code: 'SNAPSHOT_NOT_FOUND',
    message: /1970-01-01T00:00:00.999Z.*versions 0 to 2/,
  });
  const silent = storeOf([[protocol, metadata()]]);
  await assert.rejects(loadDeltaTable(silent, root, atTime(5)), { message: /Name a version instead/ });
});

test('an abort ends the loading', async () => {
  const reason = new QueryError('CANCELLED', 'Enough.');
  const store = threeVersions();
  const controller = new AbortController();
  store.beforeRead = async () => controller.abort(reason);
  await assert.rejects(loadDeltaTable(store, root, { signal: controller.signal }), { code: 'CANCELLED' });
});

test('a checkpoint stands for all before it', async () => {
  const store = goldenStore('cleaned');
  const before = await paths(store);
  putLog(store, commitName(0), ['this is never read']);
  assert.deepEqual(await paths(store), before);
  const oldest = [...store.files.keys()].filter((location) => location.includes('.checkpoint.')).length;
  assert.equal(oldest, 2);
  store.put(`${root}/_delta_log/${classicName(99)}`, Buffer.from('damaged'));
  await assert.rejects(paths(store), {
    code: 'DATA_CORRUPT',
    message: /00000000000000000099\.checkpoint\.parquet/,
  });
});
