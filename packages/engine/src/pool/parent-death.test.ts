import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isRunning, until, withFakePool } from './testing/fake-pool.js';

interface Owner {
  readonly process: ChildProcess;
  readonly pids: readonly number[];
  readonly folder: string;
}

/** Runs `body` beside a process that owns a pool with a host stuck in its engine and an idle one. */
async function withOwner(body: (owner: Owner) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-owner-'));
  const program = fileURLToPath(new URL('./testing/pool-owner-main.js', import.meta.url));
  const owner = spawn(process.execPath, [program, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const lines = createInterface({ input: owner.stdout });
    const [line] = (await once(lines, 'line')) as [string];
    const { pids, inputDirectory } = JSON.parse(line) as { pids: string[]; inputDirectory: string };
    await until(() => existsSync(join(inputDirectory, 'blocking')));
    await body({ process: owner, pids: pids.map(Number), folder });
  } finally {
    owner.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

test('hosts end when their parent was killed, and the next pool removes their folders', () =>
  withOwner(async ({ process: owner, pids, folder }) => {
    assert.ok(pids.every(isRunning));
    owner.kill('SIGKILL');
    await until(() => !pids.some(isRunning));
    assert.equal(readdirSync(folder).length, 2);
    await withFakePool({ folder }, async () => {
      await until(() => readdirSync(folder).length === 2);
    });
    assert.deepEqual(readdirSync(folder), []);
  }));

test('a host gets nothing of the environment', { skip: process.platform !== 'linux' }, () =>
  withOwner(async ({ pids }) => {
    for (const pid of pids)
      assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8').replaceAll('\0', ''), 'TZ=UTC');
  }),
);
