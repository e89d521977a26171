import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { addToHistory, historyPath, maxHistoryLines, readHistory } from './history.js';
import { pagerCommand } from './pager.js';

describe('the history', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-history-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it('keeps what two shells add, newest first, for its owner only', async () => {
    const path = join(folder, 'history');
    await addToHistory(path, ['a', 'b']);
    await addToHistory(path, ['c']);
    assert.deepEqual(await readHistory(path), ['c', 'b', 'a']);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.deepEqual(await readdir(folder), ['history']);
  });

  it('is bounded', async () => {
    const path = join(folder, 'long');
    const lines = Array.from({ length: maxHistoryLines + 10 }, (_value, index) => String(index));
    await addToHistory(path, lines);
    const kept = await readHistory(path);
    assert.deepEqual([kept.length, kept[0]], [maxHistoryLines, lines.at(-1)]);
  });

  it('that cannot be read or written is none', async () => {
    const path = join(folder, 'no', 'such');
    await addToHistory(path, ['a']);
    assert.deepEqual(await readHistory(path), []);
  });

  it('is turned off by an empty variable', () => {
    assert.equal(historyPath(''), undefined);
    assert.match(historyPath(undefined) ?? '', /\.svc_history$/);
  });
});

describe('the pager', () => {
  it('is less unless the environment says otherwise', () => {
    assert.deepEqual(pagerCommand(undefined), ['less']);
    assert.deepEqual(pagerCommand(' more -s '), ['more', '-s']);
    assert.equal(pagerCommand(''), undefined);
    assert.equal(pagerCommand('cat'), undefined);
  });
});
