import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, beforeEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parquetReadObjects } from 'hyparquet';
import { seededRandom } from '../iceberg/testing/seeded-random.js';
import { isContentIntact, readFolder } from './cache-folder.js';
import { openStagingCache } from './staging-cache.js';

const program = fileURLToPath(new URL('./testing/stage-loop-main.js', import.meta.url));
const file = fileURLToPath(new URL('../../testdata/parquet/rows.parquet', import.meta.url));
/** Room for some of the entries and not for all. */
const maxBytes = 24_000;
let parent = '';
let cacheFolder = '';
/** Of each row group of the file. */
let idsOf: readonly (readonly number[])[] = [];

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'staging-processes-'));
  const bytes = Uint8Array.from(await readFile(file)).buffer;
  const ids = (await parquetReadObjects({ file: bytes, columns: ['id'] })).map(({ id }) => Number(id));
  idsOf = Array.from({ length: 8 }, (_, rowGroup) => ids.slice(rowGroup * 50, rowGroup * 50 + 50));
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  cacheFolder = join(await mkdtemp(join(parent, 'run-')), 'cache');
});

test('two processes on one folder have each what they asked for, within the space of both', async () => {
  const runs = [1, 2].map((seed) => start(seed, 60));
  for (const run of runs) {
    assert.equal(await run.ended, 0, run.errors());
    for (const line of run.lines) assertRows(line);
    assert.ok(run.lines.length > 40);
  }
  await assertFolder();
});

test('a process that is killed at any time leaves whole entries, and nothing that the next one does not remove', async () => {
  const seed = Date.now() % 1_000_000;
  const random = seededRandom(seed);
  for (let round = 0; round < 6; round += 1) {
    const run = start(seed + round, 1000);
    const wanted = 1 + random.below(12);
    await run.printed(wanted);
    run.kill();
    await run.ended;
    for (const line of run.lines) assertRows(line);
    await assertFolder();
  }
});

function start(seed: number, count: number) {
  const lines: string[] = [];
  let errors = '';
  const started = (async () => {
    const inputs = await mkdtemp(join(parent, 'inputs-'));
    await mkdir(inputs, { recursive: true });
    const options = [file, cacheFolder, inputs, maxBytes, seed, count].map(String);
    return spawn(process.execPath, [program, ...options], { stdio: ['ignore', 'pipe', 'pipe'] });
  })();
  let noteLine = (): void => undefined;
  const ended = started.then(async (child) => {
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      noteLine();
    });
    const [code] = (await once(child, 'close')) as [number | null];
    noteLine();
    return code;
  });
  return {
    lines,
    ended,
    errors: () => errors,
    kill: () => void started.then((child) => child.kill('SIGKILL')),
    printed: (wanted: number) =>
      Promise.race([
        ended,
        new Promise<void>((resolve) => {
          noteLine = () => lines.length >= wanted && resolve();
        }),
      ]),
  };
}

/** A line that was cut by the kill says nothing. */
function assertRows(line: string): void {
  if (!line.endsWith('}')) return;
  const { rowGroups, ids } = JSON.parse(line) as { rowGroups: number[]; ids: number[] };
  assert.deepEqual(
    ids,
    rowGroups.flatMap((rowGroup) => idsOf[rowGroup] ?? []),
  );
}

/** Opened anew: all that is there is whole and within the space. */
async function assertFolder(): Promise<void> {
  const cache = await openStagingCache({ folder: cacheFolder, maxBytes });
  assert.ok(cache.stats().bytes <= maxBytes, `${cache.stats().bytes} bytes`);
  const { added } = await readFolder(cacheFolder, () => false, Date.now());
  for (const { name, header } of added)
    assert.ok(await isContentIntact(join(cacheFolder, name), header, undefined), name);
  const names = await readdir(cacheFolder);
  assert.deepEqual(names.sort(), added.map(({ name }) => name).sort());
  for (const name of names) assert.equal((await stat(join(cacheFolder, name))).mode & 0o222, 0);
}
