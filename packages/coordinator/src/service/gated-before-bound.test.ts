/** That no text of a user's reaches an engine, but to be parsed, before the gate has let it pass. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { QueryError } from '@svc/base';
import { createInProcessPool, type EngineLease, type EnginePool } from '@svc/engine';
import type { Session } from '../identity/session.js';
import { createAnalyzer } from '../planner/analyze.js';
import { createStubPlanCache } from '../planner/stub-plan-cache.js';
import { describeStatement, planStatement, type StatementPlannerDependencies } from './statement-planner.js';

const settings = { catalog: 'lake', schema: 's', timeZone: 'UTC', execution: 'auto' };
const session = { identity: { username: 'u' }, settings } as unknown as Session;
const parsing = 'SELECT json_serialize_sql($1::VARCHAR)';

let folder: string;
let engines: EnginePool;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-gated-'));
  const limits = { memoryBytes: 256 * 2 ** 20, threads: 1, tempDirectoryBytes: 2 ** 20 };
  engines = createInProcessPool({ folder, limits });
});
after(async () => {
  await engines.destroy();
  await rm(folder, { recursive: true, force: true });
});

/** The pool, and every text that a lease of it was given, in their order: `parse` and `bind` with the user's. */
function recordingPool(): { pool: EnginePool; calls: string[] } {
  const calls: string[] = [];
  const recorded = (lease: EngineLease) =>
    new Proxy(lease, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: readonly unknown[]) => {
          calls.push(callOf(String(name), given));
          return value.apply(target, given);
        };
      },
    });
  const lease: EnginePool['lease'] = async (request) => recorded(await engines.lease(request));
  return { pool: { lease } as EnginePool, calls };
}

function callOf(name: string, [first, second]: readonly unknown[]): string {
  if (name === 'release') return 'release';
  if (name === 'queryText' && first === parsing) return `parse ${(second as readonly string[])[0]}`;
  if (name === 'describe') return `bind ${(first as { sql: string }).sql}`;
  return `${name} ${JSON.stringify(first)}`;
}

/** What else planning needs is not there: who gets as far as to ask for it has passed the gate. */
function dependenciesOf(pool: EnginePool): StatementPlannerDependencies {
  const analyzer = createAnalyzer({ pool, maxSqlBytes: 65_536, profile: 'server' });
  const catalogs = { get: () => assert.fail('a catalog was asked for') };
  return {
    ...{ pool, analyzer, catalogsOf: () => catalogs, plans: createStubPlanCache(), limits: {} },
    now: () => new Date(0),
  } as unknown as StatementPlannerDependencies;
}

const doors = { planStatement, describeStatement };
const signal = new AbortController().signal;

const refused = [
  "SELECT * FROM '/etc/passwd'",
  "SELECT * FROM read_text('/etc/passwd')",
  "SELECT current_setting('temp_directory')",
  'SELECT NULL::other.main.mood',
  "SELECT from_json('{}', '\"inet\"')",
  'WITH x AS (SELECT * FROM duckdb_settings()) SELECT 1',
  'SELECT * FROM pg_catalog.pg_class',
  "SELECT (SELECT nextval('s'))",
  "DESCRIBE SELECT * FROM read_csv('/etc/passwd')",
  "SELECT * FROM query('SELECT 1')",
  'SELECT 1; SELECT 2',
];

describe('before the gate', () => {
  for (const [name, door] of Object.entries(doors))
    for (const sql of refused)
      test(`${name} binds nothing of: ${sql}`, async () => {
        const { pool, calls } = recordingPool();
        await assert.rejects(door(dependenciesOf(pool), { sql, session, signal }), (error) => {
          assert.ok(error instanceof QueryError && error.category === 'user', String(error));
          return true;
        });
        assert.deepEqual(
          calls.filter((call) => call !== 'release' && !call.startsWith('parse ')),
          [],
        );
      });

  test('describeStatement binds nothing of the query of an INSERT', async () => {
    const { pool, calls } = recordingPool();
    const sql = "INSERT INTO t SELECT * FROM read_text('/etc/passwd')";
    await assert.rejects(describeStatement(dependenciesOf(pool), { sql, session, signal }), {
      code: 'FUNCTION_NOT_ALLOWED',
    });
    assert.ok(calls.every((call) => call === 'release' || call.startsWith('parse ')));
  });

  test('what is bound is the very text that was parsed', async () => {
    const { pool, calls } = recordingPool();
    const sql = 'SELECT 1 + 1 AS two';
    await describeStatement(dependenciesOf(pool), { sql, session, signal });
    const ofUser = calls.filter((call) => call.startsWith('parse ') || call.startsWith('bind '));
    assert.deepEqual(ofUser, [`parse ${sql}`, `bind ${sql}`]);
  });
});
