import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { createMetrics, loadConfig } from '@svc/base';
import { StorageTraffic } from '@svc/lake';
import { createEmbeddedStore, s3Options } from './embedded-store.js';

const configOf = (storage: string) =>
  loadConfig({ toml: { path: 'svc.toml', text: `[storage]\n${storage}` }, environment: {} });

test('keys of the configuration are used, and the AWS tools’ without', async () => {
  const keys = 's3_access_key = "a"\ns3_secret_key = "b"\ns3_session_token = "c"';
  const { access } = s3Options(configOf(keys));
  assert.ok(access.kind === 'provider');
  const given = await access.provide(new AbortController().signal);
  assert.deepEqual(given, { accessKeyId: 'a', secretAccessKey: 'b', sessionToken: 'c' });
  assert.equal(s3Options(configOf('')).access.kind, 'standard');
  assert.equal(s3Options(configOf('s3_anonymous = true')).access.kind, 'anonymous');
});

test('an endpoint of one’s own has buckets in its path, unless told otherwise', () => {
  const endpoint = 's3_endpoint = "http://localhost:9000"';
  assert.equal(s3Options(configOf(endpoint)).pathStyle, true);
  assert.equal(s3Options(configOf(`${endpoint}\ns3_path_style = false`)).pathStyle, false);
});

test('opens files of this machine, and no scheme that it does not know', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-store-'));
  try {
    await writeFile(join(folder, 'a'), 'content');
    const store = createEmbeddedStore(configOf(''), {
      metrics: createMetrics(),
      traffic: new StorageTraffic(),
    });
    assert.equal(Buffer.from(await store.read(join(folder, 'a'))).toString(), 'content');
    await assert.rejects(store.read('gs://b/k'), { code: 'NOT_SUPPORTED' });
  } finally {
    await rm(folder, { recursive: true });
  }
});
