import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createFileStore } from './file-store.js';
import { openGranted } from './open-granted.js';
import type { GrantedPrefix, GrantedS3 } from './store-grant.js';
import { type FakeS3, startFakeS3 } from './testing/fake-s3.js';

let s3: FakeS3;
beforeEach(async () => {
  s3 = await startFakeS3();
  for (const key of ['orders/a', 'orders/eu/b', 'secret/c']) s3.put(key, Buffer.from(key));
});
afterEach(async () => {
  await s3[Symbol.asyncDispose]();
});

function prefixOf(prefix: string, accessKeyId: string, expiresInMs?: number): GrantedPrefix {
  return {
    prefix,
    endpoint: s3.server.url,
    region: undefined,
    pathStyle: true,
    accessKeyId,
    secretAccessKey: 'secret',
    sessionToken: `session of ${accessKeyId}`,
    expiresAtMs: expiresInMs === undefined ? undefined : Date.now() + expiresInMs,
  };
}

function grantOf(...prefixes: readonly GrantedPrefix[]): GrantedS3 {
  return { kind: 's3', scope: 'scope of ada', prefixes };
}

function keysUsed(): readonly (string | undefined)[] {
  return s3.server.requests.map(({ headers }) => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1]);
}

describe('what a store was granted', () => {
  it('opens the same files, each with the credentials of the longest prefix', async () => {
    const store = openGranted(
      grantOf(prefixOf('s3://lake/orders', 'orders'), prefixOf('s3://lake/orders/eu', 'eu')),
      {},
    );
    assert.equal(store.scope, 'scope of ada');
    assert.equal(Buffer.from(await store.read('s3://lake/orders/a')).toString(), 'orders/a');
    assert.equal(Buffer.from(await store.read('s3a://lake/orders/eu/b')).toString(), 'orders/eu/b');
    assert.deepEqual(keysUsed(), ['orders', 'eu']);
  });

  it('opens nothing else, writes nothing, and is not handed on', async () => {
    const store = openGranted(grantOf(prefixOf('s3://lake/orders', 'orders')), { allowLocalFiles: true });
    const elsewhere = [
      's3://lake/secret/c',
      's3://lake/ordersecret',
      's3://other/orders/a',
      '/etc/passwd',
      'file:///etc/passwd',
      'http://127.0.0.1/',
      'gs://lake/orders/a',
    ];
    for (const location of elsewhere)
      await assert.rejects(store.read(location), { code: 'STORAGE_ACCESS_DENIED' }, location);
    for (const steps of ['..', '%2e%2E', '.', 'a/..%2f..'])
      await assert.rejects(store.read(`s3://lake/orders/${steps}/secret/c`), { code: 'NOT_SUPPORTED' });
    const denied = { code: 'STORAGE_ACCESS_DENIED' };
    await assert.rejects(store.write('s3://lake/orders/a', new Uint8Array()), denied);
    await assert.rejects(store.moveIn('s3://lake/orders/a', '/tmp/x'), denied);
    await assert.rejects(store.delete('s3://lake/orders/a'), denied);
    assert.equal(store.grant, undefined);
    assert.deepEqual(s3.server.requests, []);
  });

  it('is renewed by whoever granted it, once for all who need it', async () => {
    let asked = 0;
    const renew = async () => {
      asked += 1;
      return grantOf(prefixOf('s3://lake/orders', 'new', 3_600_000));
    };
    const store = openGranted(grantOf(prefixOf('s3://lake/orders', 'old', -1000)), { renew });
    await Promise.all(['orders/a', 'orders/eu/b'].map((key) => store.read(`s3://lake/${key}`)));
    assert.deepEqual([asked, keysUsed()], [1, ['new', 'new']]);
  });

  it('is renewed too when storage does not take it any more', async () => {
    s3.fault = ({ headers }) =>
      headers.authorization?.includes('Credential=old/')
        ? { kind: 'error', status: 400, code: 'ExpiredToken' }
        : undefined;
    const renew = async () => grantOf(prefixOf('s3://lake/orders', 'new'));
    const store = openGranted(grantOf(prefixOf('s3://lake/orders', 'old', 3_600_000)), { renew });
    await store.read('s3://lake/orders/a');
    assert.deepEqual(keysUsed(), ['old', 'new']);
  });

  it('says that it has expired where nobody renews it', async () => {
    const store = openGranted(grantOf(prefixOf('s3://lake/orders', 'old', -1000)), {});
    await assert.rejects(store.read('s3://lake/orders/a'), {
      code: 'STORAGE_ACCESS_DENIED',
      message: 'The credentials of the fragment have expired (s3://lake/orders).',
    });
    assert.deepEqual(s3.server.requests, []);
  });

  it('is refused where it cannot be a grant', () => {
    const good = prefixOf('s3://lake/orders', 'a');
    const bad = [
      { ...good, endpoint: 'file:///etc' },
      { ...good, region: 'a.evil.example/' },
      { ...good, accessKeyId: 'a\nb' },
      { ...good, sessionToken: '\r\nHost: x' },
    ];
    for (const prefix of bad)
      assert.throws(() => openGranted(grantOf(prefix), {}), { code: 'FRAGMENT_REFUSED' });
  });
});

describe('granted files of this machine', () => {
  it('are opened only where that is allowed', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-granted-'));
    try {
      await writeFile(join(folder, 'a'), 'text');
      const grant = (await createFileStore().grant?.()) ?? assert.fail();
      assert.deepEqual(grant, { kind: 'files' });
      assert.throws(() => openGranted(grant, {}), { code: 'NOT_SUPPORTED' });
      const store = openGranted(grant, { allowLocalFiles: true });
      assert.equal(Buffer.from(await store.read(join(folder, 'a'))).toString(), 'text');
      await assert.rejects(store.delete(join(folder, 'a')), { code: 'STORAGE_ACCESS_DENIED' });
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
