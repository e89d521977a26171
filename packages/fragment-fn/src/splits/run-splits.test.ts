import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { QueryError } from '@svc/base';
import type { FragmentEnvironment, StagedTable } from '../leased-fragment.js';
import type { FragmentScan } from '../request.js';
import { FakeEngine, type FakeEngineOptions } from '../test-support/fake-engine.js';
import { emptyScan, noCounts, plainRequest } from '../test-support/test-task.js';
import { runSplits } from './run-splits.js';
import type { SplitEvent, SplitRequest, SplitRun } from './split-task.js';

describe('a fragment of splits', () => {
  it('is run for one after the other on one engine, and each ends', async () => {
    await using test = await openTest({ messages: [100, 200] });
    const run = await test.start();
    assert.deepEqual(run.schema, Uint8Array.of(1, 2, 3));
    const events = await test.read(run);
    assert.deepEqual(events.map(nameOf), [
      'message 10',
      'message 10',
      'end 10',
      'message 20',
      'message 20',
      'end 20',
      'message 30',
      'message 30',
      'end 30',
    ]);
    const ends = events.flatMap((event) => (event.kind === 'end' ? [event] : []));
    assert.deepEqual(
      ends.map(({ rowCount, statistics }) => [rowCount, statistics.filesRead, statistics.bytesStaged]),
      [
        [20n, 1, 10],
        [20n, 1, 20],
        [20n, 1, 30],
      ],
    );
    assert.equal(test.engine.leases.length, 1);
    assert.equal(test.engine.events.at(-1), 'release');
    assert.equal(test.engine.unreleased, 0);
  });

  it('stages other tables and takes in rows once', async () => {
    await using test = await openTest({ messages: [1] });
    const rows = { kind: 'bytes', stream: Uint8Array.of(5) } as const;
    const name = { catalog: 'svc_stages', schema: 'main' };
    const tables = [
      ...test.request.tables,
      { kind: 'scan', ...name, table: 'small', scan: emptyScan },
      { kind: 'input', ...name, table: 'sums', columns: [{ name: 'n', type: 'HUGEINT' }], rows },
    ] as const;
    await test.read(await test.start({ tables }));
    assert.deepEqual([...test.staged].sort(), ['small', 'split-0', 'split-1', 'split-2']);
    assert.deepEqual(test.engine.ingested, [Uint8Array.of(5)]);
    assert.ok(test.engine.statements.includes('CREATE TABLE "svc_stages"."main"."sums" ("n" HUGEINT)'));
  });

  it('stages the next split while the engine is at one, and no further', async () => {
    await using test = await openTest({ messages: [1, 1] });
    const run = await test.start();
    const iterator = run.events[Symbol.asyncIterator]();
    const staged = async (count: number): Promise<readonly string[]> => {
      while (test.staged.length < count) await delay(10);
      await delay(20);
      return [...test.staged];
    };
    assert.deepEqual(await staged(2), ['split-0', 'split-1']);
    assert.equal(nameOf((await iterator.next()).value), 'message 10');
    assert.deepEqual(await staged(2), ['split-0', 'split-1']);
    for (let index = 0; index < 2; index += 1) await iterator.next();
    assert.deepEqual(await readdir(test.folder), ['split-0', 'split-1']);
    assert.equal(nameOf((await iterator.next()).value), 'message 20');
    assert.deepEqual(await staged(3), ['split-0', 'split-1', 'split-2']);
    assert.deepEqual(await readdir(test.folder), ['split-1', 'split-2']);
    await iterator.return?.();
  });

  it('without a divided table is run once', async () => {
    await using test = await openTest({ messages: [1] });
    const { splitTable, ...request } = test.request;
    const run = await runSplits(
      { ...request, tables: [], splits: [{ id: 4, scan: emptyScan }] },
      test.environment,
      { signal: never },
    );
    assert.deepEqual((await test.read(run)).map(nameOf), ['message 4', 'end 4']);
    assert.deepEqual(test.staged, []);
  });

  it('takes a split in parts that does not fit as it is', async () => {
    await using test = await openTest({ messages: [1] });
    const environment: FragmentEnvironment = {
      ...test.environment,
      split: async (tables) => tables.map((table) => (bytesOf(table) === 20 ? [table, table] : undefined)),
    };
    const events = await test.read(await runSplits(test.request, environment, { signal: never }));
    assert.deepEqual(
      events.flatMap((event) => (event.kind === 'end' ? [event.statistics.bytesStaged] : [])),
      [10, 40, 30],
    );
    const made = test.engine.statements.filter((sql) => /^(?:CREATE (?:VIEW|TABLE)|DROP|INSERT)/.test(sql));
    assert.deepEqual(
      made.map((sql) => sql.split(' ').slice(0, 2).join(' ')),
      [
        'CREATE VIEW',
        'DROP VIEW',
        'CREATE VIEW',
        'DROP VIEW',
        'CREATE TABLE',
        'INSERT INTO',
        'INSERT INTO',
        'DROP TABLE',
        'CREATE VIEW',
      ],
    );
  });

  it('stages a split anew that had no room beside the one before it', async () => {
    let failures = 0;
    await using test = await openTest({ messages: [1] }, async ({ directory }) => {
      if (!directory.endsWith('split-1') || failures > 0) return;
      failures += 1;
      throw new QueryError('DISK_FULL', 'No room.');
    });
    const events = await test.read(await test.start());
    assert.equal(events.filter(({ kind }) => kind === 'end').length, 3);
    assert.deepEqual(test.staged, ['split-0', 'split-1', 'split-1', 'split-2']);
  });

  it('reads less of each split by the keys of another table, and asks the splits for none', async () => {
    await using test = await openTest({
      messages: [1],
      texts: [JSON.stringify({ rows: 1, keys: ['7'], low: '7', high: '7' })],
    });
    const narrowed: number[] = [];
    const environment: FragmentEnvironment = {
      ...test.environment,
      narrow: async (table) => {
        narrowed.push(bytesOf(table));
        return table;
      },
    };
    const name = { catalog: 'svc_stages', schema: 'main' };
    const columns = [{ id: 1, name: 'k', required: false, type: { kind: 'long' } }] as const;
    const key = (table: number) => ({ table, name: 'k', type: 'BIGINT' });
    const splits = test.request.splits.map((split) => ({
      ...split,
      scan: { ...split.scan, columns, counts: { ...split.scan.counts, bytesPlanned: 2 ** 23 } },
    }));
    const request: SplitRequest = {
      ...test.request,
      splits,
      tables: [
        ...test.request.tables,
        { kind: 'scan', ...name, table: 'small', scan: { ...emptyScan, columns } },
      ],
      joinKeys: [
        { target: key(0), source: key(1), by: 'ranges' },
        { target: key(1), source: key(0), by: 'ranges' },
      ],
    };
    await test.read(await runSplits(request, environment, { signal: never }));
    assert.equal(test.engine.texts.length, 1);
    assert.equal(narrowed.length, 3);
    assert.equal(test.staged[0], 'small');
  });
});

describe('a fragment of splits that ends early', () => {
  const failure = new QueryError('EVALUATION_ERROR', 'Division.');

  it('by an error in the second has ended the first', async () => {
    await using test = await openTest({ messages: [1, 1], failOn: 'query', failAfter: 1, failure });
    const run = await test.start();
    const seen: string[] = [];
    await assert.rejects(
      test.read(run, (event) => seen.push(nameOf(event))),
      failure,
    );
    assert.deepEqual(seen, ['message 10', 'message 10', 'end 10']);
    assert.equal(test.engine.events.at(-1), 'release');
    assert.equal(test.underWay, 0);
  });

  it('by a file that is missing says so when its turn comes', async () => {
    const missing = new QueryError('DATA_FILE_MISSING', 'Gone.');
    await using test = await openTest({ messages: [1] }, async ({ directory }) => {
      if (directory.endsWith('split-1')) throw missing;
    });
    const seen: string[] = [];
    await assert.rejects(
      test.read(await test.start(), (event) => seen.push(nameOf(event))),
      missing,
    );
    assert.deepEqual(seen, ['message 10', 'end 10']);
    assert.equal(test.engine.events.at(-1), 'release');
  });

  it('before its schema is known leaves nothing', async () => {
    await using test = await openTest({ failOn: 'query', failure });
    await assert.rejects(test.start(), failure);
    assert.equal(test.engine.events.at(-1), 'release');
    assert.equal(test.underWay, 0);
  });

  it('by too many bytes of all splits together', async () => {
    await using test = await openTest({ messages: [100] });
    const limits = { ...test.request.limits, resultBytes: 250 };
    const seen: string[] = [];
    await assert.rejects(
      test.read(await test.start({ limits }), (event) => seen.push(nameOf(event))),
      { code: 'RESULT_TOO_LARGE' },
    );
    assert.deepEqual(seen, ['message 10', 'end 10', 'message 20', 'end 20']);
    assert.equal(test.engine.unreleased, 0);
    assert.equal(test.engine.events.at(-1), 'release');
  });

  it('by its reader, before anything was read or in the middle', async () => {
    for (const reads of [0, 1, 3, 4]) {
      await using test = await openTest({ messages: [1, 1] });
      const iterator = (await test.start()).events[Symbol.asyncIterator]();
      for (let index = 0; index < reads; index += 1) release((await iterator.next()).value);
      await iterator.return?.();
      assert.deepEqual(await iterator.next(), { done: true, value: undefined });
      assert.equal(test.engine.events.at(-1), 'release');
      assert.equal(test.engine.unreleased, 0);
      assert.equal(test.underWay, 0);
    }
  });

  it('by its caller while the engine computes, while it is read and while nobody reads', async () => {
    const caller = new AbortController();
    await using test = await openTest({ messages: [1], isEndless: true });
    const run = await test.start({}, caller.signal);
    const iterator = run.events[Symbol.asyncIterator]();
    release((await iterator.next()).value);
    const next = iterator.next();
    caller.abort(new QueryError('CANCELLED', 'Enough.'));
    await assert.rejects(next, { code: 'CANCELLED', message: 'Enough.' });
    assert.equal(test.engine.events.at(-1), 'release');

    const other = new AbortController();
    await using unread = await openTest({ messages: [1] });
    await unread.start({}, other.signal);
    other.abort();
    while (!unread.engine.events.includes('release')) await delay(10);
    assert.equal(unread.underWay, 0);
  });

  it('by its caller while a split is staged', async () => {
    const caller = new AbortController();
    await using test = await openTest({ messages: [1] }, async ({ signal }) => {
      await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason), { once: true });
        caller.abort();
      });
    });
    await assert.rejects(test.start({}, caller.signal), { code: 'CANCELLED' });
    assert.equal(test.underWay, 0);
    assert.equal(test.engine.events.at(-1), 'release');
  });
});

const never = new AbortController().signal;

interface Staging {
  readonly table: FragmentScan;
  readonly directory: string;
  readonly signal: AbortSignal;
}

/** Three splits, and stages that put a file into their folder. */
async function openTest(
  options: FakeEngineOptions,
  onStage: (staging: Staging) => Promise<void> = async () => undefined,
) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-splits-'));
  const engine = new FakeEngine({ inputDirectory: folder, ...options });
  const staged: string[] = [];
  let underWay = 0;
  const environment: FragmentEnvironment = {
    pool: engine,
    stage: async (table, directory, signal) => {
      const isSplit = directory !== folder;
      staged.push(isSplit ? (directory.split('/').at(-1) ?? '') : table.table);
      underWay += 1;
      try {
        await onStage({ table, directory, signal });
        assert.ok(existsSync(directory));
        if (isSplit) await writeFile(join(directory, 'a.parquet'), '');
        return stagedOf(bytesOf(table));
      } finally {
        underWay -= 1;
      }
    },
  };
  const splitOf = (id: number) => ({ id, scan: { ...emptyScan, counts: { ...noCounts, bytesPlanned: id } } });
  const divided = { catalog: 'svc_stages', schema: 'main', table: 's0', scan: emptyScan };
  const request = plainRequest({
    tables: [{ kind: 'scan', ...divided }],
    splitTable: 0,
    splits: [splitOf(10), splitOf(20), splitOf(30)],
  });
  return {
    engine,
    environment,
    folder,
    request,
    staged,
    get underWay() {
      return underWay;
    },
    start: (changes: Partial<SplitRequest> = {}, signal = never) =>
      runSplits({ ...request, ...changes }, environment, { signal }),
    async read(run: SplitRun, see: (event: SplitEvent) => void = () => undefined) {
      const events: SplitEvent[] = [];
      for await (const event of run.events) {
        events.push(event);
        see(event);
        release(event);
      }
      return events;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

function stagedOf(bytesStaged: number): StagedTable {
  return { groups: [], filesRead: 1, bytesStaged, bytesFetched: 0, describeColumns: async () => undefined };
}

function bytesOf({ scan }: FragmentScan): number {
  return scan.counts.bytesPlanned;
}

function nameOf(event: SplitEvent | undefined): string {
  return `${event?.kind} ${event?.split}`;
}

function release(event: SplitEvent | undefined): void {
  if (event?.kind === 'message') event.message.release();
}
