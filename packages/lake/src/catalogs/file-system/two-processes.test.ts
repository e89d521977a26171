import assert from 'node:assert/strict';
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { planFiles } from '../../iceberg/scan/plan-files.js';
import { seededRandom } from '../../iceberg/testing/seeded-random.js';
import { plainFile } from '../../iceberg/testing/table-fixture.js';
import { createAppend } from '../../iceberg/write/append-files.js';
import { createFileStore } from '../../storage/file-store.js';
import { commitWithRetry } from '../commit-with-retry.js';
import type { WritableCatalog } from '../writable-catalog.js';
import { createFileSystemCatalog } from './file-system-catalog.js';

const program = fileURLToPath(new URL('./testing/append-loop-main.js', import.meta.url));
const identifier = { namespace: ['s'], name: 't' };
const store = createFileStore();
const files = createMetadataFiles(50_000_000);
let parent = '';
let root = '';
let catalog: WritableCatalog;

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'two-processes-'));
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  root = await mkdtemp(join(parent, 'root-'));
  catalog = createFileSystemCatalog({ root, store, files });
  await catalog.createNamespace(['s']);
  await catalog.createTable(identifier, {
    columns: [{ name: 'a', type: { kind: 'int' } }],
    properties: {
      'commit.retry.num-retries': '30',
      'commit.retry.min-wait-ms': '5',
      'commit.manifest.min-count-to-merge': '8',
      'write.metadata.previous-versions-max': '5',
      'write.metadata.delete-after-commit.enabled': 'true',
    },
  });
});

test('two processes that append to one table lose nothing and leave nothing over', async () => {
  const count = 20;
  const writers = ['left', 'right'].map((name) => startWriter(name, count));
  const acknowledged = await Promise.all(writers.map((writer) => writer.ended));
  assert.deepEqual(
    writers.map((writer) => writer.child.exitCode),
    [0, 0],
  );
  assert.equal(acknowledged.flat().length, 2 * count);
  const { metadata } = await catalog.loadTable(identifier);
  assert.equal(metadata.snapshots.length, 2 * count);
  assert.equal(metadata.lastSequenceNumber, BigInt(2 * count));
  assert.equal(metadata.snapshots.at(-1)?.summary.get('total-records'), String(10 * 2 * count));
  assert.deepEqual(await plannedFiles(), acknowledged.flat().sort());
  const lists = new Set(metadata.snapshots.map((snapshot) => snapshot.manifestList?.replace(/.*\//, '')));
  const left = (await metadataFolder()).filter((name) => name.startsWith('snap-') && !lists.has(name));
  assert.deepEqual(left, [], 'attempts that lost have deleted their manifest lists');
});

test('a writer that is killed at any time leaves a readable table with all that it acknowledged', async () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  const acknowledged: string[] = [];
  for (let round = 0; round < 6; round++) {
    const writer = startWriter(`round-${round}`, 1000);
    const before = await writer.firstLine;
    assert.equal(before, `round-${round}-0`, `seed ${seed}`);
    const wanted = 1 + random.below(4);
    while (writer.lines.length < wanted) await writer.nextLine();
    await afterTurns(random.below(2000));
    writer.child.kill('SIGKILL');
    acknowledged.push(...(await writer.ended));
    const planned = new Set(await plannedFiles());
    for (const location of acknowledged)
      assert.ok(planned.has(location), `${location} is lost; seed ${seed}`);
    const { metadata } = await catalog.loadTable(identifier);
    assert.equal(planned.size, metadata.snapshots.length, `seed ${seed}`);
  }
  const { tableUuid } = (await catalog.loadTable(identifier)).metadata;
  const change = createAppend({
    store,
    files,
    dataFiles: [plainFile('last')],
    tableUuid,
    specId: 0,
    schemaId: 0,
  });
  await commitWithRetry({ catalog, identifier, change });
  assert.ok((await plannedFiles()).includes('last'));
});

interface Writer {
  readonly child: ChildProcessByStdio<null, Readable, null>;
  /** What was acknowledged so far. */
  readonly lines: readonly string[];
  readonly firstLine: Promise<string | undefined>;
  nextLine(): Promise<void>;
  /** All lines, once the process has ended. */
  readonly ended: Promise<readonly string[]>;
}

function startWriter(name: string, count: number): Writer {
  const child = spawn(process.execPath, [program, root, name, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: string[] = [];
  const reader = createInterface({ input: child.stdout });
  reader.on('line', (line) => lines.push(line));
  const nextLine = async (): Promise<void> => {
    await Promise.race([once(reader, 'line'), once(reader, 'close')]);
    if (child.exitCode !== null) throw new Error(`The writer ended with ${child.exitCode}.`);
  };
  return {
    child,
    lines,
    nextLine,
    firstLine: nextLine().then(() => lines[0]),
    ended: Promise.all([once(child, 'exit'), once(reader, 'close')]).then(() => lines),
  };
}

/** Lets some time pass that is not always the same, without a clock. */
async function afterTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function plannedFiles(): Promise<readonly string[]> {
  const table = await catalog.loadTable(identifier);
  const plan = await planFiles(table, { kind: 'current' }, { columns: undefined, filters: [] }, { files });
  return plan.files.map((file) => file.location).sort();
}

async function metadataFolder(): Promise<readonly string[]> {
  return readdir(join(root, 's', 't', 'metadata'));
}
