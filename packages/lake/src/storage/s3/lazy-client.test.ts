import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';

test('the client of S3 is loaded with the first request, and not with the package', async () => {
  const program = `
    const { createS3Store } = await import(process.argv[1]);
    const { createRequire } = await import('node:module');
    const loaded = () => Object.keys(createRequire(process.argv[1]).cache).some((path) => path.includes('@aws-sdk'));
    const store = createS3Store({ access: { kind: 'anonymous' }, endpoint: 'http://127.0.0.1:9', limits: { maxTries: 1 } });
    const before = loaded();
    await store.head('s3://bucket/key').catch(() => undefined);
    console.log(before, loaded());`;
  const entry = new URL('../../index.js', import.meta.url).href;
  const args = ['--input-type=module', '--eval', program, entry];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  assert.deepEqual([stdout.trim(), stderr], ['false true', '']);
});
