import assert from 'node:assert/strict';
import { chmod, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createLocalSignIn, localUsername, readOrCreatePassword } from './local-identity.js';

describe('the local user', () => {
  const signIn = createLocalSignIn('right password');

  it('is let in, as an admin', async () => {
    const { identity: who } = await signIn(localUsername, 'right password');
    assert.deepEqual(who, { username: 'local', roles: ['admin'] });
  });

  it('has one answer for a wrong user and a wrong password', async () => {
    const wrong: readonly (readonly [string, string])[] = [
      ['local', 'wrong'],
      ['local', ''],
      ['LOCAL', 'right password'],
      ['', 'right password'],
      ['root', 'wrong'],
    ];
    for (const [username, password] of wrong) {
      await assert.rejects(signIn(username, password), {
        code: 'UNAUTHENTICATED',
        message: 'The user name or the password is not right.',
      });
    }
  });
});

describe('the password file', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-password-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('is made at the first start, for its owner only, and read at the next', async () => {
    const path = join(folder, 'new', 'deeper', 'local-password');
    const password = await readOrCreatePassword(path);
    assert.match(password, /^[A-Za-z0-9_-]{24}$/);
    assert.equal(await readFile(path, 'utf8'), `${password}\n`);
    assert.equal(await modeOf(path), 0o600);
    assert.equal(await readOrCreatePassword(path), password);
  });

  it('that others may read is closed to them', async () => {
    const path = join(folder, 'open');
    await writeFile(path, 'my own words\n');
    await chmod(path, 0o644);
    assert.equal(await readOrCreatePassword(path), 'my own words');
    assert.equal(await modeOf(path), 0o600);
  });

  it('that is too short is refused by name and left as it is', async () => {
    const path = join(folder, 'short');
    await writeFile(path, ' 1234567 \n');
    await assert.rejects(readOrCreatePassword(path), (error: Error & { code?: string }) => {
      assert.equal(error.code, 'CONFIGURATION_ERROR');
      assert.ok(error.message.includes(path) && !error.message.includes('1234567'));
      return true;
    });
    assert.equal(await readFile(path, 'utf8'), ' 1234567 \n');
  });

  it('is one for all of many that start at once', async () => {
    const path = join(folder, 'race', 'local-password');
    const starts: Promise<string>[] = [];
    for (let start = 0; start < 20; start += 1) {
      starts.push(readOrCreatePassword(path));
      // Each one meets the others at another step.
      await new Promise((resolve) => setImmediate(resolve));
    }
    const passwords = await Promise.all(starts);
    assert.equal(new Set(passwords).size, 1);
    assert.equal(await readFile(path, 'utf8'), `${passwords[0]}\n`);
    assert.deepEqual(await readdir(dirname(path)), ['local-password']);
  });
});

async function modeOf(path: string): Promise<number> {
  return (await stat(path)).mode & 0o777;
}
