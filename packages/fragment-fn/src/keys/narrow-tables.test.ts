import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { TableScan } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import { type FragmentEnvironment, onLease, type StagedTable, stageTables } from '../leased-fragment.js';
import { type FragmentRequest, type FragmentScan, fragmentProtocolVersion } from '../request.js';
import { FakeEngine, type FakeEngineOptions } from '../test-support/fake-engine.js';

const few = JSON.stringify({ rows: 2, low: '3', high: '7', keys: ['7', '3'] });
const many = JSON.stringify({ rows: 100_001, low: '3', high: '7', keys: null });

describe('a table that is read by the keys of another', () => {
  it('is brought behind it, and only as far as it may have one of them', async () => {
    const { engine, staged, filters } = await run({ texts: [few] });
    assert.deepEqual(staged, ['small 100', 'large 400']);
    assert.deepEqual(engine.events, ['lease', 'execute', 'execute', 'text']);
    assert.match(
      engine.texts[0] ?? '',
      /FROM "lake"\."sales"\."small" WHERE "id" IS NOT NULL AND \("x" = CAST/,
    );
    const literals = [7n, 3n].map((value) => ({ type: 'BIGINT', value }));
    assert.deepEqual(filters, [{ kind: 'in', column: ['small_id'], literals }]);
  });

  it('is brought beside the other, and no key is asked for, where little of it is to be fetched', async () => {
    const engine = new FakeEngine({ texts: [few] });
    const [staged, filters]: [string[], ScanFilter[]] = [[], []];
    const bytesToFetch = async () => 1000;
    const environment = { ...environmentOf(engine, staged, filters), bytesToFetch };
    const options = { signal: new AbortController().signal };
    await onLease(request, environment, options, stageTables);
    assert.deepEqual([staged, engine.texts], [['large 1000', 'small 100'], []]);
    await onLease(request, { ...environment, joinKeysBytes: 1000 }, options, stageTables);
    assert.deepEqual(staged.slice(2), ['small 100', 'large 400']);
  });

  it('is read whole when the keys cannot be found', async () => {
    const { staged } = await run({ failOn: 'text', failure: new Error('no memory') });
    assert.deepEqual(staged, ['small 100', 'large 1000']);
  });

  it('is read between the least and the greatest of many keys', async () => {
    const { engine, filters } = await run({ texts: [many, JSON.stringify({ low: '2', high: '9' })] });
    assert.equal(engine.texts.length, 2);
    const bounds = filters.map((filter) =>
      filter.kind === 'and'
        ? filter.filters.map((each) => (each.kind === 'compare' ? each.literal.value : undefined))
        : [],
    );
    assert.deepEqual(bounds, [
      [3n, 7n],
      [2n, 9n],
    ]);
  });

  it('is read whole where some of many keys are nearly everywhere', async () => {
    const { engine, staged } = await run({ texts: [many] }, 900);
    assert.equal(engine.texts.length, 1);
    assert.deepEqual(staged, ['small 100', 'large 1000']);
  });

  it('is not brought any more once the statement is cancelled', async () => {
    const cancelled = new QueryError('CANCELLED', 'enough');
    const controller = new AbortController();
    const failure = new Error('interrupted');
    const engine = new FakeEngine({ failOn: 'text', failure });
    const staged: string[] = [];
    const environment = environmentOf(engine, staged, []);
    const stopping = {
      ...environment,
      stage: async (table: FragmentScan, directory: string, signal: AbortSignal) => {
        controller.abort(cancelled);
        return await environment.stage(table, directory, signal);
      },
    };
    await assert.rejects(onLease(request, stopping, { signal: controller.signal }, stageTables), cancelled);
    assert.deepEqual(staged, ['small 100']);
    assert.equal(engine.events.at(-1), 'release');
  });
});

async function run(options: FakeEngineOptions, bytesLeft = 400) {
  const engine = new FakeEngine(options);
  const [staged, filters]: [string[], ScanFilter[]] = [[], []];
  const environment = environmentOf(engine, staged, filters, bytesLeft);
  await onLease(request, environment, { signal: new AbortController().signal }, stageTables);
  return { engine, staged, filters };
}

function environmentOf(
  engine: FakeEngine,
  staged: string[],
  filters: ScanFilter[],
  bytesLeft = 400,
): FragmentEnvironment {
  return {
    pool: engine,
    stage: async ({ table, scan }) => {
      staged.push(`${table} ${scan.counts.bytesPlanned}`);
      return stagedTable;
    },
    narrow: async (table, wanted) => {
      filters.push(...wanted);
      return { ...table, scan: scanOf(bytesLeft) };
    },
  };
}

function scanOf(bytesPlanned: number): TableScan {
  const counts = {
    ...{ manifestsTotal: 0, manifestsRead: 0, filesTotal: 0, filesPlanned: 0, filesPruned: 0, bytesTotal: 0 },
    ...{ rowGroupsTotal: 0, rowGroupsPlanned: 0, rowGroupsPrunedByStatistics: 0, rowGroupsPrunedByBloom: 0 },
    ...{ rowsPlanned: 0, bytesPlanned },
  };
  const columns = [{ id: 1, name: 'id', required: true, type: { kind: 'long' } }] as const;
  return { tableName: 't', tableUuid: '', snapshotId: 1n, columns, groups: [], counts };
}

const stagedTable: StagedTable = {
  groups: [],
  filesRead: 1,
  bytesStaged: 1,
  bytesFetched: 1,
  describeColumns: async () => undefined,
};

const name = { kind: 'scan', catalog: 'lake', schema: 'sales' } as const;

const request: FragmentRequest = {
  protocolVersion: fragmentProtocolVersion,
  queryId: 'q1',
  fragmentId: 0,
  lane: 'query',
  owner: 'ada',
  sql: 'SELECT 1',
  tables: [
    { ...name, table: 'large', scan: scanOf(1000) },
    {
      ...name,
      table: 'small',
      scan: scanOf(100),
      filters: [{ kind: 'compare', column: ['x'], operator: '=', literal: { type: 'BIGINT', value: 1n } }],
    },
  ],
  joinKeys: [
    {
      target: { table: 0, name: 'small_id', type: 'BIGINT' },
      source: { table: 1, name: 'id', type: 'BIGINT' },
      by: 'ranges',
    },
  ],
  views: [],
  defaultCatalog: 'lake',
  defaultSchema: 'sales',
  settings: {},
  setup: [],
  arrow: 'client',
  limits: { memoryBytes: 2 ** 28, resultBytes: 1e9, timeoutMs: 60_000 },
};
