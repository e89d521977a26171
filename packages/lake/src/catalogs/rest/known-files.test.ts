import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type FakeS3, startFakeS3 } from '../../storage/testing/fake-s3.js';
import { createKnownFiles } from './known-files.js';
import type { RestCatalogPlace } from './rest-catalog.js';
import { clientOf, json, loadedOrders, type RestServer, startRestServer } from './testing/rest-server.js';

const location = 's3://lake/orders/data/a';

let rest: RestServer;
let s3: FakeS3;
let place: RestCatalogPlace;
let nowMs: number;
beforeEach(async () => {
  [rest, s3] = [await startRestServer(), await startFakeS3()];
  nowMs = 0;
  place = rest.place({ known: createKnownFiles({ ttlMs: 1000, maxBytes: 10_000, now: () => nowMs }) });
  for (const key of ['orders/data/a', 'secret/c']) s3.put(key, Buffer.from(key));
});
afterEach(async () => {
  await rest[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

/** The store of a table at `s3://lake/orders`, with credentials below a prefix; without one, of the table itself. */
async function storeOf(user: string, { prefix, name = 'orders' }: { prefix?: string; name?: string } = {}) {
  const keys = { 's3.access-key-id': user, 's3.secret-access-key': 'x' };
  const place_ = { 's3.endpoint': s3.server.url };
  const more =
    prefix === undefined
      ? { config: { ...place_, ...keys } }
      : { config: place_, 'storage-credentials': [{ prefix, config: keys }] };
  rest.on(`GET /v1/namespaces/sales/tables/${name}`, json(loadedOrders(more)));
  return (await clientOf(place, user).loadTable({ namespace: ['sales'], name })).store;
}

const own = { prefix: 's3://lake/orders' };

describe('a file of a table', () => {
  it('is asked for once by all who were given credentials for its place', async () => {
    for (const user of ['ada', 'bob']) await (await storeOf(user, own)).head(location);
    assert.equal(s3.count('HEAD'), 1);
  });

  it('is asked for by each who was not: credentials of everything, of a bucket, or for the table without a place', async () => {
    for (const prefix of ['s3', 's3://lake', undefined])
      for (const user of ['ada', 'bob'])
        await (await storeOf(user, prefix === undefined ? {} : { prefix })).head(location);
    assert.equal(s3.count('HEAD'), 6);
  });

  it('that lies elsewhere is asked for each time, and refused to whom storage refuses it', async () => {
    const wide = { prefix: 's3://lake/secret' };
    await (await storeOf('ada', wide)).head('s3://lake/secret/c');
    const store = await storeOf('bob', wide);
    s3.fault = () => ({ kind: 'error', status: 403, code: 'AccessDenied' });
    for (const elsewhere of ['s3://lake/secret/c', 's3://lake/secret/../orders/data/a'])
      await assert.rejects(store.head(elsewhere), { code: 'STORAGE_ACCESS_DENIED' });
  });

  it('is asked for again after its time, after it could not be read, and after it was changed', async () => {
    const store = await storeOf('ada', own);
    const { version } = await store.head(location);
    nowMs = 1000;
    await store.head(location);
    assert.equal(s3.count('HEAD'), 2);
    s3.put('orders/data/a', Buffer.from('replaced'));
    await assert.rejects(store.read(location, { version }), { code: 'STORAGE_ERROR' });
    assert.notEqual((await store.head(location)).version, version);
    await store.write(location, Buffer.from('written'));
    assert.equal((await store.head(location)).sizeBytes, 7);
    await store.delete(location);
    await assert.rejects(store.head(location), { code: 'DATA_FILE_MISSING' });
  });

  it('is one of a bounded number that is remembered', async () => {
    const store = await storeOf('ada', own);
    for (let file = 0; file < 20; file += 1) {
      s3.put(`orders/data/${file}`, Buffer.from('x'));
      await store.head(`s3://lake/orders/data/${file}`);
    }
    await store.head('s3://lake/orders/data/19');
    assert.equal(s3.count('HEAD'), 20);
    await store.head('s3://lake/orders/data/0');
    assert.equal(s3.count('HEAD'), 21);
  });
});
