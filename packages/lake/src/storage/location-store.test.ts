import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createFileStore } from './file-store.js';
import { createHttpStore } from './http/http-store.js';
import { createLocationStore } from './location-store.js';
import { bucket, startFakeS3 } from './testing/fake-s3.js';

test('each location goes to the store of its scheme', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'location-store-'));
  try {
    await using s3 = await startFakeS3();
    await writeFile(join(folder, 'a'), 'file');
    s3.put('a', Buffer.from('object'));
    const store = createLocationStore({ file: createFileStore(), s3: s3.store(), http: createHttpStore() });
    const text = async (location: string) => Buffer.from(await store.read(location)).toString();
    assert.equal(await text(join(folder, 'a')), 'file');
    assert.equal(await text(`file://${folder}/a`), 'file');
    for (const scheme of ['s3', 's3a', 'S3N'])
      assert.equal(await text(`${bucket.replace('s3', scheme)}/a`), 'object');
    assert.equal(await text(`${s3.server.url}/lake/a`), 'object');
    assert.equal(store.localPath(`file://${folder}/a`), join(folder, 'a'));
    assert.equal(store.localPath(`${bucket}/a`), undefined);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a scheme that is not allowed is refused, without its secrets', async () => {
  const store = createLocationStore({ s3: createHttpStore() });
  for (const location of [
    '/etc/passwd',
    'file:///etc/passwd',
    'https://ann:hunter2@host/x?hunter2',
    'gs://b/k',
  ])
    await assert.rejects(store.read(location), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'NOT_SUPPORTED');
      assert.match(error.message, /cannot be opened here: only s3:\/\/ can/);
      assert.doesNotMatch(error.message, /hunter2/);
      return true;
    });
});
