/**
 * Bars of writing: processes that commit to one table at the same time lose nothing, and a writer that is killed with
 * SIGKILL at any moment leaves tables that are readable and have all that it acknowledged, exactly once. Through the lake
 * alone, where nearly all moments are those of a commit, and through `svc sql`, which does all that a user's statement
 * does. `SOAK=long` is the whole bar; `SOAK_SEED` repeats the choices of a run, not its timing.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createFileStore, createFileSystemCatalog, createMetadataFiles, planFiles } from '@svc/lake';
import { childProcesses } from './process-footprint.js';
import { type SeededRandom, seededRandom } from './seeded-random.js';
import {
  after,
  nothingWritten,
  randomWrite,
  readingStatements,
  readWritten,
  setUp,
  type WriteStatement,
  type Written,
} from './write-model.js';
import { startAppendLoop, startSvcSql } from './writing-process.js';

const { SOAK, SOAK_SEED } = process.env;
const isLong = SOAK === 'long';
const seed = Number(SOAK_SEED ?? Date.now() % 1_000_000);
const commitCounts = isLong ? { lake: 500, svc: 500 } : { lake: 30, svc: 8 };
const killCounts = isLong ? { lake: 200, svc: 200 } : { lake: 6, svc: 4 };
const identifier = { namespace: ['s'], name: 't' };
const properties = {
  'commit.retry.num-retries': '30',
  'commit.manifest.min-count-to-merge': '8',
  'write.metadata.previous-versions-max': '5',
  'write.metadata.delete-after-commit.enabled': 'true',
};

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'commit-soak-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe(`writers of one table, SOAK_SEED=${seed}`, { skip: process.platform !== 'linux' }, () => {
  it(`through the lake: two processes, ${commitCounts.lake} commits each`, async () => {
    const table = await newLakeTable();
    const writers = ['left', 'right'].map((name) => startAppendLoop(folder, name, commitCounts.lake));
    for (const writer of writers) assert.deepEqual(await writer.ended, { code: 0, errors: '' });
    const { metadata } = await table.load();
    assert.equal(metadata.snapshots.length, 2 * commitCounts.lake);
    assert.equal(metadata.snapshots.at(-1)?.summary.get('total-records'), String(10 * 2 * commitCounts.lake));
    assert.deepEqual(await table.files(), writers.flatMap((writer) => writer.lines).sort());
  });

  it(`through the lake: ${killCounts.lake} killed writers lose nothing that they acknowledged`, async () => {
    const table = await newLakeTable();
    const random = seededRandom(seed);
    const acknowledged: string[] = [];
    let unacknowledged = 0;
    for (let round = 0; round < killCounts.lake; round++) {
      const writer = startAppendLoop(folder, `round-${round}`, 1000);
      await writer.acknowledged(random.between(1, 3));
      await delay(random.next() * 25);
      writer.kill();
      const { errors } = await writer.ended;
      assert.equal(errors, '');
      acknowledged.push(...writer.lines);
      const inFlight = `round-${round}-${writer.lines.length}`;
      const files = await table.files();
      const isThere = files.includes(inFlight);
      if (isThere) unacknowledged += 1;
      // What was committed before its process could say so is not told from what was acknowledged from here on.
      if (isThere) acknowledged.push(inFlight);
      assert.deepEqual(files, acknowledged.toSorted(), `round ${round}`);
      assert.equal((await table.load()).metadata.snapshots.length, files.length);
    }
    console.log(
      `lake: ${killCounts.lake} kills, ${acknowledged.length} commits, ${unacknowledged} of them before the kill but not acknowledged, ${await table.leftovers()} files left over`,
    );
  });

  it(`through svc sql: two processes, ${commitCounts.svc} statements each`, async () => {
    const run = async (statements: readonly string[]) => {
      const svc = startSvcSql(folder, statements);
      assert.deepEqual(await svc.ended, { code: 0, errors: '' });
      return svc.lines;
    };
    await run(setUp);
    const inserts = (writer: number) =>
      Array.from({ length: commitCounts.svc }, (_, i) => `INSERT INTO w.t VALUES (${writer}, ${i})`);
    await Promise.all([run(inserts(0)), run(inserts(1))]);
    const [counts] = await run(['SELECT count(*) AS n, count(DISTINCT (batch, i)) AS d FROM w.t']);
    const count = 2 * commitCounts.svc;
    assert.equal(counts, `{"n":${count},"d":${count}}`);
    const catalog = catalogOf(join(folder, 'lake'));
    const { metadata } = await catalog.loadTable({ namespace: ['w'], name: 't' });
    assert.equal(metadata.snapshots.length, count);
  });

  it(`through svc sql: ${killCounts.svc} killed sessions`, async () => {
    const random = seededRandom(seed);
    assert.equal((await startSvcSql(folder, setUp).ended).code, 0);
    let written = nothingWritten;
    let count = 0;
    const seen = { statements: 0, cutOff: 0, applied: 0, hosts: 0 };
    for (let round = 0; round < killCounts.svc; round++) {
      const statements = Array.from({ length: 30 }, () => randomWrite(++count, random));
      const session = await killedSession(statements, random);
      const done = statements.slice(0, session.acknowledged);
      const cutOff = session.hasFailed ? [] : statements.slice(done.length, done.length + 1);
      const created = [...done, ...cutOff];
      const reader = startSvcSql(folder, readingStatements(created));
      assert.deepEqual(await reader.ended, { code: 0, errors: '' }, `round ${round}`);
      const found = readWritten(reader.lines, created);
      const possible = [after(written, done), after(written, created)];
      const which = possible.findIndex((each) => isSame(each, found));
      assert.notEqual(which, -1, `round ${round}: ${differences(possible, found)}`);
      written = found;
      seen.statements += done.length;
      seen.cutOff += cutOff.length;
      seen.hosts += session.hasFailed ? 1 : 0;
      if (!isSame(possible[0], found)) seen.applied += 1;
    }
    console.log(
      `svc sql: ${killCounts.svc} kills, ${seen.statements} statements acknowledged, ${seen.cutOff} cut off (${seen.applied} of them committed), ${seen.hosts} failed with their engine`,
    );
  });
});

interface KilledSession {
  /** The first so many statements were answered. */
  readonly acknowledged: number;
  /** The next one was answered with an error: nothing of it may be there. */
  readonly hasFailed: boolean;
}

/** Ends by SIGKILL: of the process itself, or of an engine first, which may fail the statement. */
async function killedSession(
  statements: readonly WriteStatement[],
  random: SeededRandom,
): Promise<KilledSession> {
  const session = startSvcSql(
    folder,
    statements.map(({ sql }) => sql),
  );
  await session.acknowledged(random.between(1, 4));
  await delay(random.next() * 120);
  if (random.next() < 0.25) {
    const [host] = childProcesses(session.pid);
    if (host !== undefined) process.kill(host, 'SIGKILL');
    await delay(random.next() * 100);
  }
  session.kill();
  const { errors } = await session.ended;
  assert.match(errors, /^(svc: .*\[ENGINE_CRASHED\].*\n)?$/);
  return { acknowledged: session.lines.length, hasFailed: errors !== '' };
}

function isSame(left: Written | undefined, right: Written): boolean {
  return left !== undefined && text(left) === text(right);
}

function differences(possible: readonly Written[], found: Written): string {
  return `found ${text(found)}; possible are ${possible.map(text).join(' and ')}`;
}

function text({ inserted, replaced }: Written): string {
  return JSON.stringify([[...inserted].sort(([a], [b]) => a - b), replaced]);
}

function catalogOf(root: string) {
  return createFileSystemCatalog({ root, store: createFileStore(), files: createMetadataFiles(50_000_000) });
}

/** The table `s.t` of a catalog in `folder`. */
async function newLakeTable() {
  const catalog = catalogOf(folder);
  await catalog.createNamespace(['s']);
  await catalog.createTable(identifier, { columns: [{ name: 'a', type: { kind: 'int' } }], properties });
  const load = () => catalogOf(folder).loadTable(identifier);
  return {
    load,
    /** Read as by a process that has never seen the table. */
    async files(): Promise<readonly string[]> {
      const request = { columns: undefined, filters: [] };
      const files = createMetadataFiles(50_000_000);
      const plan = await planFiles(await load(), { kind: 'current' }, request, { files });
      return plan.files.map((file) => file.location).sort();
    },
    /** Manifest lists that no snapshot names. */
    async leftovers(): Promise<number> {
      const { metadata } = await load();
      const used = new Set(metadata.snapshots.map((each) => each.manifestList?.replace(/.*\//, '')));
      const names = await readdir(join(folder, 's', 't', 'metadata'));
      return names.filter((name) => name.endsWith('.tmp') || (name.startsWith('snap-') && !used.has(name)))
        .length;
    },
  };
}
