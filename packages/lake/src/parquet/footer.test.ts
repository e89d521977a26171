import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { chunkBytes, readColumnChunk } from './column-chunk.js';
import { MemoryStore, seededRandom, storeWith, testFile } from './fakes/memory-store.js';
import type { ParquetFooter } from './footer.js';
import { createFooterCache } from './footer-cache.js';
import { inspectParquet } from './inspect-parquet.js';
import { guessTailBytes, readFooter } from './read-footer.js';

async function footerOf(name: string): Promise<ParquetFooter> {
  const store = storeWith(name);
  return readFooter(store, await store.head(name));
}

function decodeAll(footer: ParquetFooter): void {
  for (let rowGroup = 0; rowGroup < footer.rowGroupCount; rowGroup++)
    for (const { column } of footer.schema.leaves) readColumnChunk(footer, rowGroup, column);
}

test('a footer says what row groups, columns and field ids there are', async () => {
  const footer = await footerOf('rows.parquet');
  assert.equal(footer.rowCount, 400);
  assert.deepEqual([...footer.rowCounts], Array(8).fill(50));
  assert.deepEqual(
    footer.schema.leaves.map((leaf) => leaf.name),
    ['id', 'name', 'price', 'day', 'city', 'zip', 'element'],
  );
  assert.deepEqual(
    footer.schema.root.children.map((child) => child.fieldId),
    [1, 2, 3, 4, 5, 8],
  );
  assert.equal(footer.schema.hasFieldIds, true);
  assert.ok(footer.hasTypeDefinedOrder.every(Boolean));
});

test('a chunk is decoded with its place and its statistics', async () => {
  const footer = await footerOf('rows.parquet');
  const chunk = readColumnChunk(footer, 3, 0);
  const { min, max, nullCount } = chunk.statistics;
  assert.deepEqual(
    [min, max].map((bytes) => Buffer.from(bytes ?? []).readBigInt64LE()),
    [150n, 199n],
  );
  assert.equal(nullCount, 0);
  assert.equal(chunk.valueCount, 50);
  assert.ok(chunk.start >= 4 && chunk.end <= footer.footerStart);
  assert.equal(chunkBytes(footer, 3, 0), chunk.end - chunk.start);
});

test('a footer within the guessed tail takes one request, a larger one two', async () => {
  const store = storeWith('rows.parquet');
  await readFooter(store, await store.head('rows.parquet'));
  assert.equal(store.ranges.length, 1);
  const large = withLongFooter(testFile('rows.parquet'), 200_000);
  assert.ok(guessTailBytes(large.length) < 200_000);
  store.put('large', large);
  store.forgetCounts();
  assert.equal((await readFooter(store, await store.head('large'))).rowCount, 400);
  assert.equal(store.ranges.length, 2);
});

test('callers at the same time share one fetch, and later ones none', async () => {
  const store = storeWith('rows.parquet');
  const cache = createFooterCache({ maxBytes: 1 << 20 });
  const info = await store.head('rows.parquet');
  const footers = await Promise.all(Array.from({ length: 10 }, () => cache.get(store, info)));
  assert.ok(footers.every((footer) => footer === footers[0]));
  await cache.get(store, info);
  assert.equal(store.ranges.length, 1);
});

test('files with one schema share the parsed schema, and a cache without room keeps no footer', async () => {
  const store = storeWith('rows.parquet');
  store.put('copy', testFile('rows.parquet'));
  const cache = createFooterCache({ maxBytes: 1000 });
  const [a, b] = [
    await cache.get(store, await store.head('rows.parquet')),
    await cache.get(store, await store.head('copy')),
  ];
  assert.equal(a.schema, b.schema);
  assert.equal(a.schemaKey, b.schemaKey);
  await cache.get(store, await store.head('copy'));
  assert.equal(store.ranges.length, 3);
});

test('files that are not Parquet, cut short or encrypted are refused by name', async () => {
  const whole = testFile('rows.parquet');
  const encrypted = Uint8Array.from(whole);
  encrypted.set(Buffer.from('PARE'), encrypted.length - 4);
  const longFooter = Uint8Array.from(whole);
  new DataView(longFooter.buffer).setUint32(whole.length - 8, 0xffffffff, true);
  const cases: [Uint8Array, string][] = [
    [new Uint8Array(), 'DATA_CORRUPT'],
    [Buffer.from('PAR1'), 'DATA_CORRUPT'],
    [whole.slice(0, whole.length - 1), 'DATA_CORRUPT'],
    [whole.slice(100), 'DATA_CORRUPT'],
    [longFooter, 'DATA_CORRUPT'],
    [new Uint8Array(500), 'DATA_CORRUPT'],
    [encrypted, 'UNSUPPORTED_TABLE_FEATURE'],
  ];
  for (const [bytes, code] of cases) {
    const store = new MemoryStore();
    store.put('s3://b/x.parquet', bytes);
    const run = async () => decodeAll(await readFooter(store, await store.head('s3://b/x.parquet')));
    await assert.rejects(run, { code, message: /s3:\/\/b\/x\.parquet/ });
  }
});

test('damaged footers answer or are refused by name, whatever byte is wrong', async () => {
  const seed = 20_240_517;
  const random = seededRandom(seed);
  for (const name of ['rows.parquet', 'types.parquet', 'bloom.parquet']) {
    const whole = testFile(name);
    const footerStart = whole.length - 8 - new DataView(whole.buffer).getUint32(whole.length - 8, true);
    for (let round = 0; round < 1500; round++) {
      const bytes = Uint8Array.from(whole);
      for (let change = 0; change <= round % 4; change++)
        bytes[footerStart + Math.floor(random() * (bytes.length - footerStart))] = Math.floor(random() * 256);
      const store = new MemoryStore();
      store.put('damaged.parquet', bytes);
      try {
        decodeAll(await readFooter(store, await store.head('damaged.parquet')));
        await inspectParquet(store, 'damaged.parquet');
      } catch (error) {
        assert.ok(error instanceof QueryError, `seed ${seed}, ${name}, round ${round}: ${String(error)}`);
        assert.match(error.message, /damaged\.parquet/);
      }
    }
  }
});

/** The same file whose footer has a long unknown field at its end. */
function withLongFooter(bytes: Uint8Array, padding: number): Uint8Array {
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(bytes.length - 8, true);
  const field = Buffer.alloc(padding + 6);
  field[0] = 0x08; // Binary, id follows.
  field[1] = 0xc8;
  field[2] = 0x01; // Field 100.
  field[3] = (padding & 0x7f) | 0x80;
  field[4] = ((padding >> 7) & 0x7f) | 0x80;
  field[5] = padding >> 14;
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(length + field.length);
  trailer.write('PAR1', 4);
  return Buffer.concat([bytes.subarray(0, bytes.length - 9), field, Buffer.alloc(1), trailer]);
}

test('a footer cannot make more of itself than it is: counts without content are refused at once', async () => {
  // FileMetaData { 1: version 1, 2: a schema of 2^20 empty elements }
  const footer = Buffer.concat([Buffer.from('150219fc808040', 'hex'), Buffer.alloc(2 ** 20)]);
  const trailer = Buffer.alloc(8);
  trailer.writeUInt32LE(footer.length);
  trailer.write('PAR1', 4);
  const store = new MemoryStore();
  store.put('claims.parquet', Buffer.concat([Buffer.from('PAR1'), footer, trailer]));
  await assert.rejects(
    store.head('claims.parquet').then((info) => readFooter(store, info)),
    {
      code: 'DATA_CORRUPT',
      message: /claims\.parquet.*1048576 elements/,
    },
  );
});
