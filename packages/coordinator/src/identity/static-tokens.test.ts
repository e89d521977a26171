import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openTestIdentity, originOf } from '../test-support/test-identity.js';
import { bearerKey } from './bearer.js';
import { readStaticTokens } from './static-tokens.js';

let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-tokens-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function fileWith(text: string): Promise<string> {
  const path = join(folder, 'tokens.toml');
  await writeFile(path, text);
  return path;
}

const digest = bearerKey('token of the importer');
const entry = `[[token]]\nusername = "importer"\nroles = ["admin", "writer"]\nsha256 = "${digest}"\n`;

describe('static tokens (spec 5.8)', () => {
  it('belong to their user, in the local mode too', async () => {
    const path = await fileWith(entry);
    const config = { 'auth.static_tokens_path': path, 'server.data_dir': folder };
    using test = await openTestIdentity(config);
    const owner = await test.identity.ownerOf('token of the importer', originOf());
    assert.deepEqual(owner, {
      identity: { username: 'importer', roles: ['admin', 'writer'] },
      tokens: undefined,
      renew: undefined,
      issuer: 'static',
      subject: 'importer',
    });
    for (const wrong of ['token of the importe', '', digest, 'x'.repeat(20_000)])
      await assert.rejects(test.identity.ownerOf(wrong, originOf()), { code: 'UNAUTHENTICATED' });
  });

  it('are read whatever the case of the digits, and there may be none', async () => {
    const tokens = await readStaticTokens(await fileWith(entry.replace(digest, digest.toUpperCase())));
    assert.equal(tokens.ownerOf('token of the importer')?.identity.username, 'importer');
    assert.equal((await readStaticTokens(await fileWith(''))).ownerOf(''), undefined);
    assert.equal((await readStaticTokens(undefined)).ownerOf(''), undefined);
  });

  const wrong: readonly (readonly [string, string, RegExp])[] = [
    ['no digest', entry.replace(/sha256.*/, ''), /entry 1: `sha256` must be the 64/],
    ['the token itself', entry.replace(digest, 'token of the importer'), /entry 1: `sha256` must be/],
    ['no user', entry.replace(/username.*/, ''), /entry 1: `username` must be/],
    ['a user with a tab', entry.replace('importer', 'a\\tb'), /entry 1: `username` must be/],
    [
      'roles that are no list',
      entry.replace(/roles.*/, 'roles = "admin"'),
      /entry 1: `roles` must be a list/,
    ],
    ['no roles', entry.replace(/roles.*/, ''), /entry 1: `roles`/],
    ['a role that is no text', entry.replace(/roles.*/, 'roles = [1]'), /entry 1: `roles`/],
    ['a field too many', `${entry}expires = 1\n`, /entry 1: `expires` is not known/],
    ['another table', `${entry}[other]\na = 1\n`, /`other` is not known/],
    ['a table instead of a list', '[token]\nusername = "a"\n', /write `\[\[token\]\]`/],
    ['the same digest twice', entry + entry, /entry 2: its `sha256` is that of an earlier/],
    ['no TOML', `${entry}roles = [`, /tokens.toml:\d+:\d+: /],
  ];
  for (const [name, text, message] of wrong) {
    it(`with ${name} keep the service from starting, which says where`, async () => {
      const path = await fileWith(text);
      await assert.rejects(readStaticTokens(path), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'CONFIGURATION_ERROR');
        assert.ok(error.message.includes(path));
        assert.match(error.message, message);
        assert.equal(error.message.includes('token of the importer'), false);
        return true;
      });
    });
  }

  it('in a file that is not there are a mistake, too', async () => {
    await assert.rejects(readStaticTokens(join(folder, 'missing')), {
      code: 'CONFIGURATION_ERROR',
      message: /missing/,
    });
  });
});
