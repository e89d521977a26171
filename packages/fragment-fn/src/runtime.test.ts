import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { TableScan } from '@svc/lake';
import type { FragmentEnvironment, StagedTable } from './leased-fragment.js';
import { type FragmentRequest, type FragmentTable, fragmentProtocolVersion } from './request.js';
import { type FragmentResult, runFragment } from './runtime.js';
import { FakeEngine, type FakeEngineOptions } from './test-support/fake-engine.js';
import { noCounts } from './test-support/test-task.js';

const never = new AbortController().signal;

describe('a fragment', () => {
  it('stages, makes its views, runs, streams, and gives the engine back', async () => {
    const { engine, fragment } = await run({ messages: [100, 200, 300] });
    assert.deepEqual(fragment.schema, Uint8Array.of(1, 2, 3));
    assert.equal(await readAll(fragment), 600);
    await fragment.engineFree;
    assert.deepEqual(engine.events, [
      'lease',
      'execute',
      'query',
      'message',
      'message',
      'message',
      'message',
      'release',
    ]);
    assert.deepEqual(
      engine.statements.map((sql) => sql.split(' ').slice(0, 2).join(' ')),
      ["ATTACH ':memory:'", 'CREATE SCHEMA', 'SET TimeZone', 'USE "lake"."sales"', 'CREATE VIEW'],
    );
    assert.deepEqual([engine.queries[0]?.sql, engine.queries[0]?.arrow], ['SELECT 1', 'client']);
  });

  it('takes the lane that it was given', async () => {
    assert.equal((await run({})).engine.leases[0]?.lane, 'query');
    const { engine } = await run({}, { lane: 'small' });
    assert.deepEqual([engine.leases[0]?.lane, engine.leases[0]?.owner], ['small', 'ada']);
  });

  it('hands over its parameters', async () => {
    const parameters = Uint8Array.of(9);
    const { engine } = await run({}, { parameters });
    assert.equal(engine.queries[0]?.parameters, parameters);
  });

  it('counts what it staged and what the engine did', async () => {
    const { fragment } = await run({ messages: [1] });
    await readAll(fragment);
    await fragment.engineFree;
    const { stagingMs, engineMs, ...counts } = fragment.statistics();
    assert.ok(stagingMs >= 0 && engineMs >= 0);
    assert.deepEqual(counts, {
      filesRead: 2,
      bytesStaged: 1000,
      bytesFetched: 400,
      rowsScanned: 100n,
      rowsReturned: 30n,
      spilledBytes: 5n,
      peakMemoryBytes: 1_000_000n,
    });
  });

  it('frees the engine before its result is read when the engine ran ahead', async () => {
    const { engine, fragment } = await run({ messages: [1, 1], runsAhead: true });
    await fragment.engineFree;
    assert.equal(engine.events.at(-1), 'release');
    assert.equal(await readAll(fragment), 2);
  });

  it('of another protocol version is refused before anything is leased', async () => {
    const engine = new FakeEngine();
    const request = requestOf({ protocolVersion: fragmentProtocolVersion + 1 });
    await assert.rejects(runFragment(request, environmentOf(engine), { signal: never }), {
      code: 'INTERNAL_ERROR',
    });
    assert.deepEqual(engine.events, []);
  });
});

describe('a fragment of several tables', () => {
  it('stages them beside each other, and keeps their order', async () => {
    const engine = new FakeEngine();
    const tables = threeTables();
    const waiting: (() => void)[] = [];
    const stage: FragmentEnvironment['stage'] = async () => {
      await new Promise<void>((resolve) => {
        waiting.unshift(resolve);
        if (waiting.length === tables.length) for (const each of waiting) each();
      });
      return stagedTable;
    };
    const fragment = await start(engine, { stage }, { tables });
    await readAll(fragment);
    assert.equal(fragment.statistics().filesRead, 6);
    const views = engine.statements.filter((sql) => sql.startsWith('CREATE VIEW'));
    assert.deepEqual(
      views.map((sql) => sql.split(' ')[2]),
      ['"lake"."sales"."a"', '"lake"."sales"."b"', '"lake"."sales"."c"'],
    );
  });

  it('of which one fails ends what the others do, and waits for it', async () => {
    const engine = new FakeEngine();
    const failure = new QueryError('DATA_FILE_MISSING', 'Gone.');
    const ended: string[] = [];
    const stage: FragmentEnvironment['stage'] = async ({ table }, _directory, signal) => {
      if (table === 'c') throw failure;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      ended.push(table);
      throw signal.reason;
    };
    await assert.rejects(start(engine, { stage }, { tables: threeTables() }), failure);
    assert.deepEqual(ended, ['a', 'b']);
    assert.deepEqual(engine.events, ['lease', 'release']);
  });
});

describe('a fragment that answers whole columns', () => {
  const schema = Uint8Array.of(7);
  const direct = { columns: [{ name: 'id', values: 'fixed8' }], files: [] } as const;

  it('has their pages read, and makes no views', async () => {
    const asked: (readonly number[])[] = [];
    const describeColumns: StagedTable['describeColumns'] = async (columns) => {
      asked.push(columns);
      return direct;
    };
    const engine = new FakeEngine({ messages: [5] });
    const stage = async () => ({ ...stagedTable, describeColumns });
    const fragment = await start(engine, { stage }, { wholeColumns: { columns: [1, 0], schema } });
    assert.equal(await readAll(fragment), 5);
    await fragment.engineFree;
    assert.deepEqual(engine.events, ['lease', 'read', 'message', 'message', 'release']);
    assert.deepEqual(asked, [[1, 0]]);
    const { signal, ...read } = engine.reads[0] ?? {};
    assert.deepEqual(read, { ...direct, schema, isLast: true });
    assert.ok(signal instanceof AbortSignal);
  });

  it('runs its SQL where the files cannot be read so', async () => {
    const { engine } = await run({}, { wholeColumns: { columns: [0], schema } });
    assert.deepEqual([engine.reads.length, engine.queries[0]?.sql], [0, 'SELECT 1']);
  });
});

describe('a fragment that fails', () => {
  const failure = new QueryError('DISK_FULL', 'No room.');

  it('while staging gives the engine back and runs nothing', async () => {
    const engine = new FakeEngine();
    const stage = () => Promise.reject(failure);
    await assert.rejects(start(engine, { stage }), failure);
    assert.deepEqual(engine.events, ['lease', 'release']);
  });

  it('while its views are made, or at the start of its SQL, gives the engine back', async () => {
    for (const failOn of ['execute', 'query'] as const) {
      const engine = new FakeEngine({ failOn, failure });
      await assert.rejects(start(engine), failure);
      assert.equal(engine.events.at(-1), 'release');
    }
  });

  it('for want of an engine stages nothing', async () => {
    let staged = 0;
    const stage = async () => {
      staged += 1;
      return stagedTable;
    };
    const engine = new FakeEngine({ failOn: 'lease', failure });
    await assert.rejects(start(engine, { stage }), failure);
    assert.equal(staged, 0);
  });

  it('in the middle of its result gives the engine back and passes the error on', async () => {
    const { engine, fragment } = await run({ failOn: 'message', failure });
    await assert.rejects(readAll(fragment), failure);
    await fragment.engineFree;
    assert.equal(engine.events.at(-1), 'release');
  });
});

describe('the limits of a fragment', () => {
  it('let through a result of exactly the bytes that are allowed', async () => {
    const { fragment } = await run({ messages: [600, 400] }, { limits: limitsOf({ resultBytes: 1000 }) });
    assert.equal(await readAll(fragment), 1000);
  });

  it('end a larger result by RESULT_TOO_LARGE, with its memory and engine given back', async () => {
    const { engine, fragment } = await run(
      { messages: [600, 401, 1], isEndless: true },
      { limits: limitsOf({ resultBytes: 1000 }) },
    );
    await assert.rejects(readAll(fragment), { code: 'RESULT_TOO_LARGE', message: /1000 bytes/ });
    await fragment.engineFree;
    assert.deepEqual(engine.events.slice(-2), ['return', 'release']);
    assert.equal(engine.unreleased, 0);
  });

  it('end a query that runs too long by QUERY_TIMEOUT', async () => {
    const { fragment } = await run({ isEndless: true }, { limits: limitsOf({ timeoutMs: 10 }) });
    await assert.rejects(whileAlive(readAll(fragment)), { code: 'QUERY_TIMEOUT', message: /0\.01 s/ });
    assert.equal(fragment.failed.reason.code, 'QUERY_TIMEOUT');
    await fragment.engineFree;
  });

  it('hold while staging: it is told to stop, and the engine goes back', async () => {
    const engine = new FakeEngine();
    const stage: FragmentEnvironment['stage'] = (_table, _directory, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    const started = start(engine, { stage }, { limits: limitsOf({ timeoutMs: 10 }) });
    await assert.rejects(whileAlive(started), { code: 'QUERY_TIMEOUT' });
    assert.deepEqual(engine.events, ['lease', 'release']);
  });
});

describe('a fragment whose reader goes', () => {
  it('before the first message frees the engine', async () => {
    const { engine, fragment } = await run({ messages: [1, 1], isEndless: true });
    await fragment.messages[Symbol.asyncIterator]().return?.();
    await fragment.engineFree;
    assert.deepEqual(engine.events, ['lease', 'execute', 'query', 'return', 'release']);
  });

  it('in the middle frees the engine', async () => {
    const { engine, fragment } = await run({ messages: [1, 1], isEndless: true });
    for await (const message of fragment.messages) {
      message.release();
      break;
    }
    await fragment.engineFree;
    assert.deepEqual(engine.events.slice(-2), ['return', 'release']);
  });

  it('by its signal ends with the reason of the signal', async () => {
    const caller = new AbortController();
    const { fragment } = await run({ isEndless: true }, {}, caller.signal);
    const read = readAll(fragment);
    caller.abort(new QueryError('SESSION_EXPIRED', 'Gone.'));
    await assert.rejects(read, { code: 'SESSION_EXPIRED' });
    await fragment.engineFree;
  });

  it('by a signal without a reason of ours is cancelled', async () => {
    const caller = new AbortController();
    const { fragment } = await run({ isEndless: true }, {}, caller.signal);
    const read = readAll(fragment);
    caller.abort();
    await assert.rejects(read, { code: 'CANCELLED' });
  });
});

describe('an error about a staged file', () => {
  const groups = [{ sources: [], paths: ['/input/1a2b.parquet'], locations: ['/lake/orders/1.parquet'] }];
  const failure = new QueryError(
    'DATA_CORRUPT',
    'The file "1a2b.parquet" is damaged: "1a2b.parquet": bad page',
  );

  it('names the file of the table, whenever it comes', async () => {
    for (const failOn of ['query', 'message'] as const) {
      const engine = new FakeEngine({ failOn, failure });
      const stage = async () => ({ ...stagedTable, groups });
      await assert.rejects(
        start(engine, { stage }).then((fragment) => readAll(fragment)),
        {
          code: 'DATA_CORRUPT',
          message: 'The file "/lake/orders/1.parquet" is damaged: "/lake/orders/1.parquet": bad page',
        },
      );
    }
  });
});

const scan: TableScan = {
  tableName: 'lake.sales.orders',
  tableUuid: '00000000-0000-0000-0000-000000000001',
  snapshotId: 1n,
  columns: [{ id: 1, name: 'id', required: true, type: { kind: 'long' } }],
  groups: [],
  counts: noCounts,
};

const table: FragmentTable = { kind: 'scan', catalog: 'lake', schema: 'sales', table: 'orders', scan };

function threeTables(): readonly FragmentTable[] {
  return ['a', 'b', 'c'].map((name) => ({ ...table, table: name }));
}

const stagedTable: StagedTable = {
  groups: [],
  filesRead: 2,
  bytesStaged: 1000,
  bytesFetched: 400,
  describeColumns: async () => undefined,
};

function limitsOf(limits: Partial<FragmentRequest['limits']>): FragmentRequest['limits'] {
  return { memoryBytes: 2 ** 28, resultBytes: 1e9, timeoutMs: 60_000, ...limits };
}

function requestOf(changes: Partial<FragmentRequest>): FragmentRequest {
  return {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'q1',
    fragmentId: 0,
    lane: 'query',
    owner: 'ada',
    sql: 'SELECT 1',
    tables: [table],
    views: [],
    defaultCatalog: 'lake',
    defaultSchema: 'sales',
    settings: { TimeZone: 'UTC' },
    setup: [],
    arrow: 'client',
    limits: limitsOf({}),
    ...changes,
  };
}

function environmentOf(engine: FakeEngine, changes: Partial<FragmentEnvironment> = {}): FragmentEnvironment {
  return { pool: engine, stage: async () => stagedTable, ...changes };
}

function start(
  engine: FakeEngine,
  environment: Partial<FragmentEnvironment> = {},
  request: Partial<FragmentRequest> = {},
): Promise<FragmentResult> {
  return runFragment(requestOf(request), environmentOf(engine, environment), { signal: never });
}

async function run(
  options: FakeEngineOptions,
  request: Partial<FragmentRequest> = {},
  signal: AbortSignal = never,
) {
  const engine = new FakeEngine(options);
  const fragment = await runFragment(requestOf(request), environmentOf(engine), { signal });
  return { engine, fragment };
}

/** Reads to the end and releases each message; answers the bytes. */
async function readAll({ messages }: FragmentResult): Promise<number> {
  let bytes = 0;
  for await (const { body, release } of messages) {
    bytes += body.byteLength;
    release();
  }
  return bytes;
}

/** Deadlines do not keep a process alive; in the service a socket does. */
async function whileAlive<T>(promise: Promise<T>): Promise<T> {
  const socket = setInterval(() => undefined, 60_000);
  try {
    return await promise;
  } finally {
    clearInterval(socket);
  }
}
