import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import type { BelievedSize, HeadWithTail } from '../storage/object-store.js';
import { type MemoryStore, storeWith } from './fakes/memory-store.js';
import { createFooterCache } from './footer-cache.js';

const location = 'rows.parquet';

/** Over a network, where the end of a file comes with the answer to what it is. */
function remote(memory: MemoryStore) {
  const asked: BelievedSize[] = [];
  const headWithTail = async (at: string, believed: BelievedSize): Promise<HeadWithTail> => {
    asked.push(believed);
    const bytes = await memory.read(at);
    const info = { location: at, sizeBytes: bytes.length, version: `v${bytes.length}` };
    return believed.sizeBytes === bytes.length ? { info, tail: bytes.slice(-believed.tailBytes) } : { info };
  };
  const store = {
    head: (at: string) => memory.head(at),
    headWithTail,
    readRanges: memory.readRanges.bind(memory),
  };
  return { asked, store: Object.assign(Object.create(memory), store) as MemoryStore };
}

test('a file of the size that is believed is opened by one request, and later asked for only', async () => {
  const memory = storeWith(location);
  const { asked, store } = remote(memory);
  const sizeBytes = (await memory.read(location)).length;
  const footers = createFooterCache({ maxBytes: 1 << 20 });
  const { info, footer } = await footers.open(store, { location, sizeBytes: sizeBytes });
  assert.equal(info.sizeBytes, sizeBytes);
  assert.equal(footer.rowCount, 400);
  assert.deepEqual([asked.length, memory.headCount, memory.ranges.length], [1, 0, 0]);
  assert.equal((await footers.open(store, { location, sizeBytes: sizeBytes })).footer, footer);
  assert.deepEqual(
    [asked.length, memory.headCount, memory.ranges.length],
    [1, 1, 0],
    'who asks is asked about',
  );
});

test('a table that is wrong about the size of a file changes nothing', async () => {
  for (const believed of [-1, 0, 11, 5000, 1e9, 2 ** 60, Number.NaN]) {
    const { store } = remote(storeWith(location));
    const footers = createFooterCache({ maxBytes: 1 << 20 });
    assert.equal(
      (await footers.open(store, { location, sizeBytes: believed })).footer.rowCount,
      400,
      `${believed}`,
    );
  }
});

test('a file that may not be read is not opened, though its footer is known', async () => {
  const { store } = remote(storeWith(location));
  const footers = createFooterCache({ maxBytes: 1 << 20 });
  await footers.open(store, { location, sizeBytes: 5000 });
  const denied = new QueryError('STORAGE_ACCESS_DENIED', `${location} may not be read.`);
  const closed = Object.assign(Object.create(store), {
    head: () => Promise.reject(denied),
    headWithTail: () => Promise.reject(denied),
  });
  await assert.rejects(footers.open(closed, { location, sizeBytes: 5000 }), denied);
});
