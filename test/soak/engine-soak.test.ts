import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError, silentLogger } from '@svc/base';
import { createHostPool, type EnginePool } from '@svc/engine';
import { taskKinds } from './engine-tasks.js';
import { collectGarbage, describeDescriptors, privateBytes, readFootprint } from './process-footprint.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';

/**
 * Engine hosts under a mixed load: statements of many owners with cancels at random times, hosts killed in
 * mid-query, readers that stop, memory hogs and errors. Every statement must end as it has to, and afterwards nothing
 * may be left. `SOAK=long` runs 1,000 statements, otherwise 150 (or SOAK_STATEMENTS); `SOAK_SEED` repeats a run.
 */
const { SOAK, SOAK_SEED, SOAK_STATEMENTS } = process.env;
const isLong = SOAK === 'long';
const statementCount = Number(SOAK_STATEMENTS ?? (isLong ? 1_000 : 150));
const seed = Number(SOAK_SEED ?? Date.now() % 1_000_000);
const clientCount = 6;
const ownerCount = 5;
/** Sleepers at a time: more than there are hosts. */
const maxSleepers = 5;
const mebibyte = 2 ** 20;
const limits = { memoryBytes: 384 * mebibyte, threads: 2, tempDirectoryBytes: 64 * mebibyte };

test(`${statementCount} mixed statements leave nothing behind`, {
  skip: process.platform !== 'linux',
}, async () => {
  console.log(`engine soak: ${statementCount} statements, SOAK_SEED=${seed}`);
  const folder = mkdtempSync(join(tmpdir(), 'engine-soak-'));
  await collectGarbage();
  const before = readFootprint();
  try {
    const pool = createHostPool({
      folder,
      log: silentLogger,
      query: { hosts: 2, limits, spoolAfterMs: 100, slowConsumerMs: 2_000 },
      small: { hosts: 1, limits: { ...limits, threads: 1 } },
      spoolBytesPerResult: 128 * mebibyte,
      maxLeasesPerHost: 40,
    });
    const peakBytes = await soak(pool, seededRandom(seed));
    await assertAnswers(pool);
    await pool.close(10_000);
    assert.deepEqual(readdirSync(folder), []);
    await collectGarbage();
    const after = readFootprint();
    assert.deepEqual(after.children, before.children);
    assert.equal(after.descriptors, before.descriptors, describeDescriptors());
    assert.equal(after.sharedMemoryFiles, before.sharedMemoryFiles);
    assert.ok(after.ringMappings <= 1, `${after.ringMappings} rings are still mapped`);
    const growth = peakBytes - before.privateBytes;
    assert.ok(growth < 256 * mebibyte, `private memory grew by ${Math.round(growth / mebibyte)} MiB`);
    console.log(`private memory: at most ${Math.round(growth / mebibyte)} MiB above the start`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

/** Runs the statements through the clients; answers the peak of private memory. */
async function soak(pool: EnginePool, random: SeededRandom): Promise<number> {
  const sleepers: (() => Promise<void>)[] = [];
  const counts = new Map<string, number>();
  let started = 0;
  let peakBytes = 0;
  const client = async () => {
    while (started < statementCount) {
      const number = started++;
      const kind = pickKind(random);
      const owner = `owner-${random.between(1, ownerCount)}`;
      const own = seededRandom(random.between(0, 2 ** 31));
      counts.set(kind.name, (counts.get(kind.name) ?? 0) + 1);
      const context = {
        pool,
        owner,
        random: own,
        addSleeper: (wake: () => Promise<void>) => void sleepers.push(wake),
      };
      await kind.run(context).catch((error: unknown) => {
        throw new Error(`statement ${number} (${kind.name}) of SOAK_SEED=${seed}`, { cause: error });
      });
      if (sleepers.length > maxSleepers) await wake(sleepers.shift());
      peakBytes = Math.max(peakBytes, privateBytes());
    }
  };
  await Promise.all(Array.from({ length: clientCount }, client));
  for (const sleeper of sleepers) await wake(sleeper);
  console.log([...counts].map(([name, count]) => `${count} × ${name}`).join(', '));
  return peakBytes;
}

/** A sleeper's result is whole, or was given up because it slept too long over its budget. */
async function wake(sleeper: (() => Promise<void>) | undefined): Promise<void> {
  await sleeper?.().catch((error: unknown) => {
    if (!(error instanceof QueryError && error.code === 'SLOW_CONSUMER')) throw error;
  });
}

function pickKind(random: SeededRandom) {
  const total = taskKinds.reduce((sum, { weight }) => sum + weight, 0);
  let left = random.next() * total;
  const kind = taskKinds.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  assert.ok(kind);
  return kind;
}

/** Both lanes serve, and nobody holds or waits for a host. */
async function assertAnswers(pool: EnginePool): Promise<void> {
  const { leased, waiting } = pool.stats();
  assert.deepEqual({ leased, waiting }, { leased: 0, waiting: 0 });
  for (const lane of ['query', 'small'] as const) {
    await using lease = await pool.lease({ owner: 'last', lane });
    assert.equal(await lease.queryText("SELECT 'well'", []), 'well');
  }
}
