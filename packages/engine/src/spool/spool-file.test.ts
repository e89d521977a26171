import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { SpoolBudget } from './spool-budget.js';
import { SpoolFile, type SpoolHandle } from './spool-file.js';

async function withFolder(body: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'spool-'));
  try {
    await body(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

test('gives back what was appended, from a file without a name', () =>
  withFolder(async (folder) => {
    const budget = new SpoolBudget(100, 100);
    const spool = new SpoolFile(folder, budget);
    const first = await spool.append(Buffer.alloc(10, 1));
    const second = await spool.append(Buffer.alloc(20, 2));
    assert.deepEqual(readdirSync(folder), []);
    assert.equal(budget.usedBytes, 30);
    const target = Buffer.alloc(20);
    await spool.read(second ?? -1, target);
    assert.deepEqual(target, Buffer.alloc(20, 2));
    assert.equal(budget.usedBytes, 30);
    await spool.read(first ?? -1, target.subarray(0, 10));
    assert.equal(budget.usedBytes, 0);
    await spool.close();
  }));

test('refuses bytes beyond the budget of the result and of all results', () =>
  withFolder(async (folder) => {
    const budget = new SpoolBudget(50, 30);
    const spools = [new SpoolFile(folder, budget), new SpoolFile(folder, budget)];
    assert.equal(await spools[0]?.append(Buffer.alloc(25)), 0);
    assert.equal(spools[0]?.append(Buffer.alloc(10)), undefined);
    assert.equal(await spools[1]?.append(Buffer.alloc(25)), 0);
    assert.equal(spools[1]?.append(Buffer.alloc(5)), undefined);
    for (const spool of spools) await spool.close();
    await spools[0]?.close();
    assert.equal(budget.usedBytes, 0);
  }));

test('a full disk is DISK_FULL', async () => {
  const full: SpoolHandle = {
    write: () => Promise.reject(Object.assign(new Error('no space'), { code: 'ENOSPC' })),
    read: () => Promise.reject(new Error('not reached')),
    truncate: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
  const spool = new SpoolFile('unused', new SpoolBudget(100, 100), () => Promise.resolve(full));
  const isDiskFull = (error: unknown) => error instanceof QueryError && error.code === 'DISK_FULL';
  await assert.rejects(async () => void (await spool.append(Buffer.alloc(1))), isDiskFull);
});
