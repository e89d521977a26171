import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@svc/base';
import { createHostPool, type EnginePool } from '@svc/engine';

export interface TestPool extends AsyncDisposable {
  readonly pool: EnginePool;
}

/** One real engine host of each lane over a temporary folder. */
export async function openTestPool(): Promise<TestPool> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-fragment-'));
  const limits = { memoryBytes: 256 * 2 ** 20, threads: 1, tempDirectoryBytes: 2 ** 30 };
  const lane = { hosts: 1, spareHosts: 0, limits };
  const pool = createHostPool({ folder, query: lane, small: lane, log: silentLogger });
  return {
    pool,
    async [Symbol.asyncDispose]() {
      await pool.destroy();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
