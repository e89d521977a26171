import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '@svc/base';
import { createHostPool, type EngineLease } from '@svc/engine';
import {
  createFileStore,
  createFooterCache,
  type ObjectStore,
  openStagingCache,
  type StagingCache,
} from '@svc/lake';

export interface EngineScope {
  readonly lease: EngineLease;
  /** A folder of the test's own, on the device of the engine's input folder. */
  readonly folder: string;
  readonly cache: StagingCache;
  readonly footers: ReturnType<typeof createFooterCache>;
  /** The answer of a query with one text value. */
  text(sql: string): Promise<string>;
}

/** Runs `body` with an engine of its own; processes and folders go away with it. */
export async function withEngine(body: (scope: EngineScope) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-lake-'));
  const limits = { memoryBytes: 1 << 30, threads: 2, tempDirectoryBytes: 1 << 30 };
  const pool = await createHostPool({
    folder: join(folder, 'pool'),
    query: { hosts: 1, limits, spareHosts: 0 },
    small: { hosts: 1, limits, spareHosts: 0 },
    log: silentLogger,
  });
  try {
    const cache = await openStagingCache({ folder: join(folder, 'cache'), maxBytes: 1 << 30 });
    const lease = await pool.lease({ owner: 'test', lane: 'query' });
    try {
      const text = (sql: string) => lease.queryText(sql, []);
      await body({ lease, folder, cache, footers: createFooterCache({ maxBytes: 1 << 24 }), text });
    } finally {
      await lease.release();
    }
  } finally {
    await pool.destroy();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Files of this machine as if they were elsewhere: they are fetched, never linked. */
export function distantStore(): ObjectStore {
  return { ...createFileStore(), localPath: () => undefined };
}
