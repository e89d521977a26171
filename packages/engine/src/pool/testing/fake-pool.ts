import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@svc/base';
import type { EnginePool, EngineResult } from '../../api.js';
import { createHostPool } from '../host-pool.js';
import type { HostPoolOptions, LaneOptions } from '../pool-options.js';

const limits = { memoryBytes: 64 << 20, threads: 1, tempDirectoryBytes: 1 << 20 };

type PoolChanges = Partial<Omit<HostPoolOptions, 'query' | 'small'>> & {
  readonly query?: Partial<LaneOptions>;
  readonly small?: Partial<LaneOptions>;
};

/** Runs `body` with a pool whose hosts have the fake engine; afterwards nothing of it is left. */
export async function withFakePool(
  changes: PoolChanges,
  body: (pool: EnginePool, folder: string) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'engine-pool-'));
  const lane = { hosts: 1, limits, spareHosts: 0 };
  const pool = createHostPool({
    folder,
    log: silentLogger,
    hostEntry: new URL('../../host/testing/fake-host-main.js', import.meta.url),
    ...changes,
    query: { ...lane, ...changes.query },
    small: { ...lane, ...changes.small },
  });
  try {
    await body(pool, folder);
  } finally {
    await pool.destroy();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The number in each message, in order, after checking every byte; slots are given back at once. */
export async function readNumbers(result: EngineResult): Promise<number[]> {
  const numbers: number[] = [];
  for await (const message of result.messages) {
    const { body } = message;
    const value = body[0] ?? 0;
    if (!isFilledWith(body, value)) throw new Error(`message ${numbers.length} is mixed`);
    numbers.push(value);
    message.release();
  }
  return numbers;
}

export function isFilledWith(body: Uint8Array, value: number): boolean {
  return Buffer.compare(body, Buffer.alloc(body.length, value)) === 0;
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Waits for something that other events bring about. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 5));
}
