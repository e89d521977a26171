import assert from 'node:assert/strict';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { QueryError } from '@svc/base';
import type { EngineLease, EngineMessage, EnginePool, EngineResult } from '@svc/engine';
import { createFileStore, createFooterCache, type DirectRead, planDirectRead } from '@svc/lake';
import { childNaming } from './process-footprint.js';
import type { SeededRandom } from './seeded-random.js';

/** One client's wish. Resolves when it was answered as it had to be; rejects otherwise. */
export type Task = (context: TaskContext) => Promise<void>;

export interface TaskContext {
  readonly pool: EnginePool;
  readonly random: SeededRandom;
  readonly owner: string;
  /** A reader that stops; the soak wakes it later. */
  readonly addSleeper: (wake: () => Promise<void>) => void;
}

/** Nothing of a soak may wait longer than this: a stuck lane. */
const STUCK_MS = 120_000;
/** Takes minutes unless it is ended. */
const endlessJoin =
  'SELECT count(*) FROM range(1000000) a, range(1000000) b WHERE hash(a.range) % 7 = hash(b.range) % 11';

/** Each kind with its weight. */
export const taskKinds: readonly { readonly name: string; readonly weight: number; readonly run: Task }[] = [
  { name: 'small answer', weight: 20, run: smallAnswer },
  { name: 'stream', weight: 25, run: stream },
  { name: 'whole columns', weight: 10, run: wholeColumns },
  { name: 'aggregate', weight: 10, run: aggregate },
  { name: 'attached names', weight: 8, run: attachedNames },
  { name: 'error', weight: 8, run: statementError },
  { name: 'cancel', weight: 10, run: cancel },
  { name: 'cancelled in the queue', weight: 4, run: cancelInQueue },
  { name: 'early end', weight: 6, run: earlyEnd },
  { name: 'sleeper', weight: 4, run: sleeper },
  { name: 'memory hog', weight: 2, run: memoryHog },
  { name: 'killed host', weight: 3, run: killedHost },
];

async function smallAnswer({ pool, owner, random }: TaskContext): Promise<void> {
  const number = random.between(0, 1_000_000);
  await withLease(pool, owner, 'small', async (lease) => {
    const sql = `SELECT ${number}::BIGINT AS n`;
    const { parameterCount } = await lease.describe({ sql }, guard());
    assert.equal(parameterCount, 0);
    const { rows, sum } = await readNumbers(await run(lease, sql));
    assert.deepEqual([rows, sum], [1, BigInt(number)]);
  });
}

async function stream({ pool, owner, random }: TaskContext): Promise<void> {
  const count = random.between(1, 3_000_000);
  await withLease(pool, owner, 'query', async (lease) => {
    const result = await run(lease, numbers(count));
    await assertNumbers(result, count);
    await result.engineDone;
    assert.equal(result.profile().rowsReturned, BigInt(count));
  });
}

/** Reads a file page by page: to its end, until it is cancelled, or as long as it likes. */
async function wholeColumns({ pool, owner, random }: TaskContext): Promise<void> {
  const count = random.between(1, 2_000_000);
  const [ending, patience] = [random.between(0, 2), random.between(0, 20)];
  await withLease(pool, owner, 'query', async (lease) => {
    const path = join(lease.inputDirectory, 'numbers.parquet');
    await lease.execute([`COPY (${numbers(count)}) TO '${path}' (FORMAT parquet)`], guard());
    const { schema } = await lease.describe({ sql: `SELECT * FROM read_parquet('${path}')` }, guard());
    const abort = new AbortController();
    const direct = await describeNumbers(path);
    const result = await lease.readParquet({ ...direct, schema, signal: abort.signal });
    if (ending === 0) return await assertNumbers(result, count);
    const reading = readNumbers(result);
    await delay(patience);
    abort.abort();
    // It may have been faster.
    await reading.catch((error: unknown) => assert.ok(isCode('CANCELLED')(error)));
    assert.equal(await lease.queryText("SELECT 'next'", [], guard()), 'next');
  });
}

async function describeNumbers(path: string): Promise<DirectRead> {
  const type = { kind: 'long' } as const;
  const source = { kind: 'column', name: 'i', isExactType: true, type } as const;
  const direct = await planDirectRead({
    columns: [{ index: 0, name: 'i', type }],
    files: [],
    groups: [{ sources: [source], paths: [path], locations: [path], hasRowDelta: true }],
    store: createFileStore(),
    footers: createFooterCache({ maxBytes: 1 << 20 }),
  });
  assert.ok(direct);
  return direct;
}

async function aggregate({ pool, owner, random }: TaskContext): Promise<void> {
  const count = random.between(1, 4_000_000);
  await withLease(pool, owner, 'query', async (lease) => {
    const sql = `SELECT sum(i)::VARCHAR FROM range(${count}) t(i)`;
    assert.equal(await lease.queryText(sql, [], guard()), sumBelow(count).toString());
  });
}

async function attachedNames({ pool, owner }: TaskContext): Promise<void> {
  await withLease(pool, owner, 'query', async (lease) => {
    await lease.execute(
      [
        "ATTACH ':memory:' AS lake",
        'CREATE SCHEMA lake.s',
        `CREATE VIEW lake.s.v AS SELECT '${owner}' AS who`,
        "SET TimeZone = 'Asia/Tokyo'",
      ],
      guard(),
    );
    assert.equal(await lease.queryText('SELECT who FROM lake.s.v', [], guard()), owner);
  });
}

async function statementError({ pool, owner, random }: TaskContext): Promise<void> {
  const [sql, code] =
    random.next() < 0.5 ? ['SELECT no_such_column', 'BINDING_ERROR'] : ['SELEC 1', 'SYNTAX_ERROR'];
  await withLease(pool, owner, 'query', async (lease) => {
    await assert.rejects(run(lease, sql), isCode(code));
    assert.equal(await lease.queryText("SELECT 'next'", [], guard()), 'next');
  });
}

async function cancel({ pool, owner, random }: TaskContext): Promise<void> {
  const [sql, afterMs] = [random.next() < 0.5 ? endlessJoin : numbers(50_000_000), random.between(0, 60)];
  await withLease(pool, owner, 'query', async (lease) => {
    const abort = new AbortController();
    const reading = lease.query({ sql, arrow: 'client', signal: abort.signal }).then(readNumbers);
    const isCancelled = assert.rejects(reading, isCode('CANCELLED'));
    await delay(afterMs);
    abort.abort();
    await isCancelled;
    assert.equal(await lease.queryText("SELECT 'next'", [], guard()), 'next');
  });
}

async function cancelInQueue({ pool, owner, random }: TaskContext): Promise<void> {
  const signal = AbortSignal.timeout(random.between(0, 10));
  try {
    const lease = await pool.lease({ owner, lane: 'query', signal });
    await lease.release();
  } catch (error) {
    assert.ok(isCode('QUERY_TIMEOUT')(error));
  }
}

async function earlyEnd({ pool, owner, random }: TaskContext): Promise<void> {
  const wanted = random.between(0, 3);
  await withLease(pool, owner, 'query', async (lease) => {
    const result = await run(lease, numbers(20_000_000));
    const messages = result.messages[Symbol.asyncIterator]();
    for (let index = 0; index < wanted; index++) takeMessage(await messages.next()).release();
    const began = performance.now();
    await messages.return?.();
    await result.engineDone;
    assert.ok(performance.now() - began < 5_000, 'a reader that ended early held its host');
  });
}

/** Reads a little of a result and stops; the host must become free without it. */
async function sleeper({ pool, owner, addSleeper }: TaskContext): Promise<void> {
  const count = 8_000_000;
  await withLease(pool, owner, 'query', async (lease) => {
    const result = await run(lease, numbers(count));
    const messages = result.messages[Symbol.asyncIterator]();
    const first = takeMessage(await messages.next());
    addSleeper(async () => {
      const head = sumOf(first);
      first.release();
      const rest = await readNumbers({ messages: { [Symbol.asyncIterator]: () => messages } });
      assert.deepEqual([head.rows + rest.rows, head.sum + rest.sum], [count, sumBelow(count)]);
    });
    await result.engineDone;
  });
}

async function memoryHog({ pool, owner }: TaskContext): Promise<void> {
  await withLease(pool, owner, 'query', async (lease) => {
    const hog = run(lease, 'SELECT len(range(200000000))').then(readNumbers);
    await assert.rejects(hog, isCode('OUT_OF_MEMORY'));
  });
}

async function killedHost({ pool, owner, random }: TaskContext): Promise<void> {
  await withLease(pool, owner, 'query', async (lease) => {
    const isMidStream = random.next() < 0.5;
    const reading = run(lease, isMidStream ? numbers(500_000_000) : endlessJoin).then(readNumbers);
    const isTold = assert.rejects(reading, isCode('ENGINE_CRASHED'));
    await delay(random.between(0, 100));
    const pid = childNaming(lease.inputDirectory);
    assert.ok(pid !== undefined, 'the host of a lease must be a child process');
    process.kill(pid, 'SIGKILL');
    await isTold;
  });
}

async function withLease(
  pool: EnginePool,
  owner: string,
  lane: 'query' | 'small',
  body: (lease: EngineLease) => Promise<void>,
): Promise<void> {
  const lease = await pool.lease({ owner, lane, signal: guard() });
  try {
    await body(lease);
  } finally {
    await lease.release();
  }
}

function run(lease: EngineLease, sql: string): Promise<EngineResult> {
  return lease.query({ sql, arrow: 'client', signal: guard() });
}

function guard(): AbortSignal {
  return AbortSignal.timeout(STUCK_MS);
}

function isCode(code: string) {
  return (error: unknown) => error instanceof QueryError && error.code === code;
}

function numbers(count: number): string {
  return `SELECT i FROM range(${count}) t(i)`;
}

function sumBelow(count: number): bigint {
  return (BigInt(count) * BigInt(count - 1)) / 2n;
}

async function assertNumbers(result: EngineResult, count: number): Promise<void> {
  const { rows, sum } = await readNumbers(result);
  assert.deepEqual([rows, sum], [count, sumBelow(count)]);
}

async function readNumbers({
  messages,
}: Pick<EngineResult, 'messages'>): Promise<{ rows: number; sum: bigint }> {
  let rows = 0;
  let sum = 0n;
  for await (const message of messages) {
    const part = sumOf(message);
    rows += part.rows;
    sum += part.sum;
    message.release();
  }
  return { rows, sum };
}

/** Rows and sum of a batch with one BIGINT column without nulls: its body is the values. */
function sumOf({ body, rowCount }: EngineMessage): { rows: number; sum: bigint } {
  const values = new DataView(body.buffer, body.byteOffset, rowCount * 8);
  // Low and high words apart: adding bigints one by one would take longer than the engine.
  let low = 0;
  let high = 0;
  for (let offset = 0; offset < rowCount * 8; offset += 8) {
    low += values.getUint32(offset, true);
    high += values.getInt32(offset + 4, true);
  }
  return { rows: rowCount, sum: BigInt(low) + (BigInt(high) << 32n) };
}

function takeMessage(next: IteratorResult<EngineMessage, unknown>): EngineMessage {
  if (next.done) assert.fail('the result ended early');
  return next.value;
}
