import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openAuditFile } from './audit-file.js';

describe('the file of an audit log', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  });
  after(async () => await rm(folder, { recursive: true, force: true }));

  it('is made for its owner only, and appended to', async () => {
    const path = join(folder, 'new');
    await append(path, 'one\n');
    await append(path, 'two\n');
    assert.equal(await readFile(path, 'utf8'), 'one\ntwo\n');
    assert.equal((await stat(path)).mode & 0o777, 0o600);
  });

  it('keeps the rights that somebody gave it', async () => {
    const path = join(folder, 'shared');
    await writeFile(path, '');
    await chmod(path, 0o640);
    await append(path, 'one\n');
    assert.equal((await stat(path)).mode & 0o777, 0o640);
  });

  it('has its last line ended when that was cut', async () => {
    const path = join(folder, 'torn');
    await writeFile(path, '{"a":');
    await append(path, 'one\n');
    assert.equal(await readFile(path, 'utf8'), '{"a":\none\n');
  });

  it('loses what it was told to take off only when that is its end', async () => {
    const path = join(folder, 'cut');
    const file = await openAuditFile(path);
    await file.append(Buffer.from('one\ntw'));
    await file.cutBack(Buffer.from('xx'));
    assert.equal(await readFile(path, 'utf8'), 'one\ntw');
    await file.cutBack(Buffer.from('tw'));
    assert.equal(await readFile(path, 'utf8'), 'one\n');
    await file.close();
  });

  it('knows when it has no name any more', async () => {
    const path = join(folder, 'removed');
    const file = await openAuditFile(path);
    assert.equal(await file.isGone(), false);
    await rm(path);
    assert.equal(await file.isGone(), true);
    await file.close();
  });

  it('is no folder, no pipe, and nothing in a folder that does not exist', async () => {
    const pipe = join(folder, 'pipe');
    assert.equal(spawnSync('mkfifo', [pipe]).status, 0);
    await assert.rejects(openAuditFile(pipe), /neither a file nor a device/);
    await assert.rejects(openAuditFile(folder), { code: 'EISDIR' });
    await assert.rejects(openAuditFile(join(folder, 'missing', 'audit')), { code: 'ENOENT' });
  });

  it('may be a device, which may be full', async (context) => {
    const file = await openAuditFile('/dev/full').catch(() => undefined);
    if (file === undefined) return context.skip('This system has no /dev/full.');
    await assert.rejects(file.append(Buffer.from('one\n')), { code: 'ENOSPC' });
    assert.equal(await file.isGone(), false);
    await file.close();
  });
});

async function append(path: string, text: string): Promise<void> {
  const file = await openAuditFile(path);
  assert.equal(await file.append(Buffer.from(text)), text.length);
  await file.close();
}
