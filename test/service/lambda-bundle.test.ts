/** What a function is deployed from: all of it in one folder, and next to nothing to be done when it is loaded. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { bundleFolder } from './support/lambda.js';

const library = process.platform === 'darwin' ? 'libduckdb.dylib' : 'libduckdb.so';

/** Not imported: messages of the SDK tell whoever signs for all regions to do so. */
const adviceOfSdk = '@aws-sdk/signature-v4-crt';

/** Loads the handler, tells what was looked for on disk meanwhile, and which libraries are in the process then. */
const loader = `
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
const looked = [];
for (const owner of [fs, fs.promises])
  for (const [name, original] of Object.entries(owner))
    if (typeof original === 'function' && /^(access|exists|open|readdir|readFile|stat|lstat|realpath)/.test(name))
      owner[name] = (...args) => (looked.push(name + ' ' + String(args[0])), original.apply(owner, args));
syncBuiltinESMExports();
globalThis.awslambda = { streamifyResponse: (handler) => handler };
const { handler } = await import(process.argv[1]);
const atInit = [...looked];
const libraries = fs.readFileSync('/proc/self/maps', 'utf8').match(/[^/]*\\.(so|node)$/gm);
console.log(JSON.stringify({ type: typeof handler, looked: atInit, libraries }));
`;

describe('the bundle of the function', () => {
  it('has the engine library and what calls it beside its one module', async () => {
    assert.deepEqual((await readdir(bundleFolder)).sort(), [
      'index.mjs',
      'koffi.node',
      library,
      'parquet-kernels.wasm',
    ]);
  });

  it('imports nothing but what Node has', async () => {
    const text = await readFile(join(bundleFolder, 'index.mjs'), 'utf8');
    const names = [...text.matchAll(/(?:\bfrom|\bimport|\brequire\(|\bimport\()\s*"([^"]+)"/g)].map(
      ([, name]) => name,
    );
    assert.ok(names.length > 10);
    assert.deepEqual(
      names.filter((name = '') => !isBuiltin(name) && name !== adviceOfSdk),
      [],
    );
  });

  it('looks for nothing when it is loaded, and leaves the engine alone until it is needed', {
    skip: process.platform === 'linux' ? false : 'the maps of a process are those of Linux',
  }, async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-bundle-'));
    try {
      await cp(bundleFolder, folder, { recursive: true });
      const args = ['--input-type=module', '--eval', loader, join(folder, 'index.mjs')];
      const said = JSON.parse(execFileSync(process.execPath, args, { cwd: '/', env: {} }).toString());
      assert.equal(said.type, 'function');
      const places = said.looked.map((look: string) => look.split('/').at(-1));
      assert.deepEqual(places, ['index.mjs', 'koffi.node'], 'each by its own name');
      assert.ok(said.libraries.includes('koffi.node'));
      assert.ok(!said.libraries.includes(library));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
