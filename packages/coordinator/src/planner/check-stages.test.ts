import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { createInProcessPool, type EnginePool } from '@svc/engine';
import { type StagedPlan, stagePlan, stubOf } from '@svc/sql';
import type { SessionSettings } from '../identity/session-settings.js';
import { hiddenName, policySql, type ResolvedView } from '../policy/policy-view.js';
import { arrowFields } from '../results/arrow-fields.js';
import { stagesProblem } from './check-stages.js';
import { keptPlan } from './kept-plan.js';
import type { ResolvedTable } from './resolve-tables.js';
import { planOnStubs } from './stub-planning.js';

const { signal } = new AbortController();
const settings: SessionSettings = {
  ...{ catalog: 'lake', schema: 's', timeZone: 'UTC', execution: 'workers' as const },
  ...{ queryTimeoutMs: undefined, maxResultBytes: undefined },
};
const people = { catalog: 'lake', schema: 's', table: 'people' };
const columns = [
  { name: 'id', type: 'BIGINT' },
  { name: 'region', type: 'VARCHAR' },
  { name: 'ssn', type: 'VARCHAR' },
];

let folder: string;
let pool: EnginePool;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-check-'));
  const limits = { memoryBytes: 2 ** 29, threads: 1, tempDirectoryBytes: 2 ** 28 };
  pool = createInProcessPool({ folder, limits, maxInstances: 1 });
});
after(async () => {
  await pool.destroy();
  await rm(folder, { recursive: true, force: true });
});

function table(
  name: { readonly catalog: string; readonly schema: string; readonly table: string },
  isGuarded: boolean,
): ResolvedTable {
  const source = { kind: 'computed', fields: [], rows: async () => new Uint8Array() } as const;
  return { ...name, columns, rowCount: 1000n, source, isGuarded };
}

/** The statement in stages, over `people` with this filter and `open` without one. `mapping` is the policies' own. */
async function stagesOf(sql: string, filter: string, guardMode: 'plain' | 'barrier') {
  const mapping = { ...people, table: 'mapping' };
  const tables = [
    table(hiddenName(people), true),
    table({ ...people, table: 'open' }, false),
    ...(filter.includes('mapping') ? [table(hiddenName(mapping), true)] : []),
  ];
  const text = (isBarrier: boolean) =>
    policySql({
      ...{
        isBarrier,
        isOrdered: false,
        hidden: hiddenName(people),
        alias: 'people',
        columns,
        masks: new Map([['region', 'upper(region)']]),
      },
      filters: [
        filter.replace(
          'mapping',
          Object.values(hiddenName(mapping))
            .map((name) => JSON.stringify(name).replaceAll('\\"', '""'))
            .join('.'),
        ),
      ],
    });
  const view: ResolvedView = {
    ...people,
    columns: columns.map(({ name }) => name),
    sql: text(true),
    guard: { isPolicy: true, ...(filter.includes('mapping') ? {} : { plainSql: text(false) }) },
  };
  const lease = await pool.lease({ owner: 'ada', lane: 'small', signal });
  try {
    const stub = await planOnStubs({
      ...{ lease, sql, tables, settings, guardMode, signal },
      ...{ views: [view], setup: [], keepPlan: true },
    });
    const { kept, guards } = stub;
    assert.equal(stub.guardProblem, undefined);
    assert.ok(kept !== undefined && guards !== undefined);
    const staged = stagePlan(keptPlan(kept), {
      names: arrowFields(stub.description.schema).map(({ name }) => name),
      bytesOf: () => 1000,
      mayBroadcastBytes: Number.POSITIVE_INFINITY,
      readWholeBytes: 0,
      levelOfScan: ({ files }) => guards.depths.get(stubOf(files[0] ?? ''))?.most ?? 0,
    });
    const problem = (plan: StagedPlan) =>
      stagesProblem(
        { pool },
        {
          ...{ staged: plan, guards, owner: 'ada', settings, signal },
          tableOf: (stubFile) => tables[kept.stubFiles.indexOf(stubFile)],
        },
      );
    return { staged, problem };
  } finally {
    await lease.release();
  }
}

/** The plan with its texts changed by whoever tests that this is found. */
function changed(plan: StagedPlan, change: (sql: string) => string): StagedPlan {
  const stages = plan.stages.map((stage) => ({ ...stage, sql: change(stage.sql) }));
  assert.notDeepEqual(stages, plan.stages);
  return { ...plan, stages };
}

const averageFilter = "id > (SELECT avg(m.id) FROM mapping m WHERE m.ssn = 'x')";

const filters: Readonly<Record<string, string>> = {
  computed: 'id % 2 = 0',
  mapped: "region IN (SELECT m.region FROM mapping m WHERE m.ssn = 'x')",
  existing: "EXISTS (SELECT 1 FROM mapping m WHERE m.region = people.region AND m.ssn = 'x')",
  largest: "region = (SELECT max(m.region) FROM mapping m WHERE m.ssn = 'x')",
  average: averageFilter,
};

const statements: readonly string[] = [
  'SELECT count(*), sum(ssn::INT) FROM people WHERE ssn::INT > 5',
  'SELECT p.ssn::INT, o.id FROM people p JOIN open o ON p.ssn::INT = o.id WHERE p.id > 7',
  'SELECT region, count(DISTINCT id) FROM people GROUP BY region HAVING count(*) > 1 ORDER BY 1 LIMIT 3 OFFSET 1',
  'SELECT id FROM open WHERE id IN (SELECT ssn::INT FROM people)',
  'SELECT o.id, (SELECT max(p.ssn::INT) FROM people p WHERE p.id = o.id) FROM open o',
  'SELECT ssn FROM people WHERE ssn::INT > 0 UNION ALL SELECT ssn FROM open',
  'SELECT id, ssn::INT FROM people LIMIT 5',
  'WITH m AS MATERIALIZED (SELECT * FROM people) SELECT count(*) FROM m a JOIN m b ON a.ssn::INT = b.id',
];

describe('stages of a statement behind a barrier', () => {
  for (const [name, filter] of Object.entries(filters))
    it(`keep what is hidden from it: ${name}`, async () => {
      for (const sql of statements) {
        const { staged, problem } = await stagesOf(sql, filter, 'barrier');
        assert.equal(await problem(staged), undefined, sql);
        assert.ok(
          staged.stages.some((stage) => stage.sql.includes('OFFSET 0')),
          sql,
        );
      }
    });

  it('are refused where the barrier is not in the text', async () => {
    for (const [name, filter] of Object.entries(filters))
      for (const sql of statements) {
        const { staged, problem } = await stagesOf(sql, filter, 'barrier');
        const without = changed(staged, (text) => text.replaceAll('OFFSET 0', ''));
        assert.match((await problem(without)) ?? 'nothing', /hidden rows \(broken\)/, `${name}: ${sql}`);
      }
  });

  it('are refused where something else is computed below it', async () => {
    const { staged, problem } = await stagesOf(statements[0] ?? '', 'id % 2 = 0', 'barrier');
    const below = changed(staged, (text) =>
      text.replace(' OFFSET 0', ' WHERE CAST(c0 AS INTEGER) > 1 OFFSET 0'),
    );
    assert.match((await problem(below)) ?? 'nothing', /hidden rows \(broken\)/);
  });

  it('hand the rows of a mapping table on as what is hidden', async () => {
    const { staged } = await stagesOf(statements[0] ?? '', averageFilter, 'barrier');
    const hidden = staged.stages.filter(({ guard }) => (guard?.level ?? 0) > 0);
    assert.ok(hidden.length > 0);
    assert.equal(staged.stages.at(-1)?.guard?.level ?? 0, 0);
  });
});

describe('stages of a statement that is leakproof', () => {
  const leakproof = "SELECT region, sum(id) FROM people WHERE id > 5 AND ssn LIKE '1%' GROUP BY region";

  it('need no barrier', async () => {
    const { staged, problem } = await stagesOf(leakproof, 'id % 2 = 0', 'plain');
    assert.equal(await problem(staged), undefined);
    assert.ok(staged.stages.every((stage) => !stage.sql.includes('OFFSET 0')));
  });

  it('are refused with a condition that is not', async () => {
    const { staged, problem } = await stagesOf(leakproof, 'id % 2 = 0', 'plain');
    const failing = changed(staged, (text) =>
      text.replace('WHERE ', 'WHERE CAST(t.ssn AS INTEGER) > 1 AND '),
    );
    assert.match((await problem(failing)) ?? 'nothing', /hidden rows \(needs-barrier\)/);
  });
});
