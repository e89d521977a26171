import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { abortable, linkAbort, QueryError } from '@svc/base';
import type { TableScan } from '@svc/lake';
import { gatherTables } from './gather-tables.js';
import type { LeasedFragment, StagedTable } from './leased-fragment.js';
import type { FragmentScan } from './request.js';

let inputDirectory: string;
beforeEach(async () => {
  inputDirectory = await mkdtemp(join(tmpdir(), 'gather-'));
});
afterEach(() => rm(inputDirectory, { recursive: true, force: true }));

const column = { id: 1, name: 'id', required: false, type: { kind: 'long' } } as const;
const tableOf = (part: number): FragmentScan => ({
  kind: 'scan',
  catalog: 'lake',
  schema: 'sales',
  table: 'orders',
  scan: { columns: [column], tableUuid: String(part) } as unknown as TableScan,
  filters: [{ kind: 'is-not-null', column: ['id'] }],
});
const parts = [0, 1, 2, 3].map(tableOf);
/** Remembers what happens, in order; `stage` and `insert` may fail or wait. */
function makeFragment({
  stage = async () => undefined,
  insert = async () => undefined,
}: {
  readonly stage?: (part: number, signal: AbortSignal) => Promise<unknown>;
  readonly insert?: (part: number) => Promise<unknown>;
}) {
  const events: string[] = [];
  const statements: string[] = [];
  let mostFolders = 0;
  const link = linkAbort(undefined);
  const fragment = {
    link,
    lease: {
      inputDirectory,
      execute: async (sql: readonly string[]) => {
        statements.push(...sql);
        const part = /part-(\d)/.exec(sql.join())?.[1];
        if (part === undefined) return;
        mostFolders = Math.max(mostFolders, (await readdir(inputDirectory)).length);
        await insert(Number(part));
        events.push(`inserted ${part}`);
      },
    },
    environment: {
      async stage({ scan }: FragmentScan, directory: string, signal: AbortSignal): Promise<StagedTable> {
        events.push(`staging ${scan.tableUuid}`);
        await stage(Number(scan.tableUuid), signal);
        const path = join(directory, 'a.parquet');
        const source = { kind: 'column', name: 'id', isExactType: true, type: column.type } as const;
        return {
          groups: [{ sources: [source], paths: [path], locations: ['s3://lake/a.parquet'] }],
          filesRead: 1,
          bytesStaged: 10,
          bytesFetched: 5,
          describeColumns: async () => undefined,
        };
      },
    },
  } as unknown as LeasedFragment;
  return { fragment, events, statements, link, mostFolders: () => mostFolders };
}

test('while the engine takes over a part the next one is staged, and no more', async () => {
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const { fragment, statements, mostFolders } = makeFragment({
    stage: async (part) => part === 1 && begin(),
    insert: (part) => (part === 0 ? begun : Promise.resolve()),
  });
  const [gathered] = await gatherTables(fragment, [{ table: tableOf(0), parts }]);
  assert.deepEqual([gathered?.filesRead, gathered?.bytesStaged, gathered?.bytesFetched], [4, 40, 20]);
  assert.equal(statements[0], 'CREATE TABLE "lake"."sales"."orders" ("id" BIGINT)');
  assert.match(
    statements[1] ?? '',
    /^INSERT INTO "lake"."sales"."orders" SELECT \* FROM \(.*\) WHERE \("id" IS NOT NULL\)$/,
  );
  assert.equal(statements.length, 5);
  assert.ok(mostFolders() <= 2, `${mostFolders()} parts at a time`);
  assert.deepEqual(await readdir(inputDirectory), []);
});

test('behind the last part of a table the first of the next one is staged, and behind the last table what fits', async () => {
  let [begin, beginRest] = [(): void => undefined, (): void => undefined];
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const restBegun = new Promise<void>((resolve) => {
    beginRest = resolve;
  });
  const { fragment, events, mostFolders } = makeFragment({
    stage: async (part) => part === 1 && begin(),
    insert: (part) => (part === 0 ? begun : restBegun),
  });
  const tables = [0, 1].map((index) => ({ table: tableOf(index), parts: [tableOf(index)] }));
  const gathered = await gatherTables(fragment, tables, async () => {
    events.push('staging what fits');
    beginRest();
  });
  assert.deepEqual(
    gathered.map(({ filesRead }) => filesRead),
    [1, 1],
  );
  assert.deepEqual(events, ['staging 0', 'staging 1', 'inserted 0', 'staging what fits', 'inserted 1']);
  assert.ok(mostFolders() <= 2, `${mostFolders()} parts at a time`);
});

test('when the engine fails, what is staged beside it is ended and waited for', async () => {
  const failure = new QueryError('OUT_OF_MEMORY', 'No memory.');
  const { fragment, events } = makeFragment({ insert: () => Promise.reject(failure) });
  const stageRest = async (signal: AbortSignal) => {
    await abortable(new Promise(() => undefined), signal).catch(() => events.push('ended'));
  };
  const tables = [{ table: tableOf(0), parts: [tableOf(0)] }];
  await assert.rejects(gatherTables(fragment, tables, stageRest), failure);
  assert.deepEqual(events, ['staging 0', 'ended']);
  assert.deepEqual(await readdir(inputDirectory), []);
});

test('a part that the engine cannot read is named, and the next one is given up', async () => {
  const { fragment, events } = makeFragment({
    stage: (part, signal) =>
      part === 1 ? abortable(new Promise(() => undefined), signal) : Promise.resolve(),
    insert: async () => {
      throw new QueryError('DATA_CORRUPT', 'a.parquet is damaged.');
    },
  });
  await assert.rejects(gatherTables(fragment, [{ table: tableOf(0), parts }]), {
    code: 'DATA_CORRUPT',
    message: 's3://lake/a.parquet is damaged.',
  });
  assert.deepEqual(events, ['staging 0', 'staging 1']);
  assert.deepEqual(await readdir(inputDirectory), []);
});

test('a part that cannot be staged, and an abort, leave nothing behind', async () => {
  const full = new QueryError('DISK_FULL', 'No space.');
  const failing = makeFragment({ stage: async (part) => part === 2 && Promise.reject(full) });
  await assert.rejects(gatherTables(failing.fragment, [{ table: tableOf(0), parts }]), full);
  assert.deepEqual(await readdir(inputDirectory), []);
  const aborted = makeFragment({
    stage: async (part, signal) => {
      if (part === 1) aborted.link.abort(new QueryError('CANCELLED', 'No longer wanted.'));
      signal.throwIfAborted();
    },
  });
  await assert.rejects(gatherTables(aborted.fragment, [{ table: tableOf(0), parts }]), {
    code: 'CANCELLED',
  });
  assert.deepEqual(await readdir(inputDirectory), []);
});

test('rows that are counted and not read are in the table once', async () => {
  const { fragment, statements } = makeFragment({});
  const table = tableOf(0);
  const id = { kind: 'constant', value: '7', type: column.type } as const;
  const counted = { rowCount: 1000, low: [id], high: [id] };
  await gatherTables(fragment, [{ table: { ...table, scan: { ...table.scan, counted } }, parts }]);
  const unread = statements.filter((sql) => sql.includes('range(999)'));
  assert.deepEqual(unread, statements.slice(1, 2));
});
