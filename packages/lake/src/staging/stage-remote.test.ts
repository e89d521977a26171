import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parquetReadObjects } from 'hyparquet';
import { testFile } from '../parquet/fakes/memory-store.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import type { TableScan } from '../scan/table-scan.js';
import { createHttpStore } from '../storage/http/http-store.js';
import type { ObjectStore } from '../storage/object-store.js';
import { bucket, type FakeS3, startFakeS3 } from '../storage/testing/fake-s3.js';
import { type StagedTable, stageScan } from './stage-scan.js';
import { openStagingCache } from './staging-cache.js';

const columnNames = ['id', 'name', 'price'];
const rowGroups = [1, 2, 5];

interface Remote {
  readonly s3: FakeS3;
  stage(store: ObjectStore, location: string): Promise<StagedTable>;
  /** All that the cache keeps on the disk. */
  cachedText(): Promise<string>;
}

async function withRemote(body: (remote: Remote) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'stage-remote-'));
  try {
    await using s3 = await startFakeS3();
    s3.put('t/rows.parquet', Buffer.from(testFile('rows.parquet')));
    const directory = join(root, 'lease');
    await mkdir(directory);
    const cache = await openStagingCache({ folder: join(root, 'cache'), maxBytes: 1 << 20 });
    const footers = createFooterCache({ maxBytes: 1 << 20 });
    await body({
      s3,
      cachedText: async () => {
        const folder = join(root, 'cache');
        const files = await readdir(folder);
        return (await Promise.all(files.map((name) => readFile(join(folder, name), 'latin1')))).join();
      },
      stage: async (store, location) => {
        const info = await store.head(location);
        const file = { ...info, recordCount: 400, rowGroups, columnNames, selectedBytes: 0 };
        const scan = { groups: [{ sources: [], files: [file] }] } as Partial<TableScan> as TableScan;
        return stageScan(scan, { store, cache, footers, directory });
      },
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

async function checkRows(staged: StagedTable): Promise<void> {
  const rowsOf = async (path: string) =>
    parquetReadObjects({ file: Uint8Array.from(await readFile(path)).buffer, columns: columnNames });
  const original = await rowsOf(new URL('../../testdata/parquet/rows.parquet', import.meta.url).pathname);
  const expected = rowGroups.flatMap((group) => original.slice(group * 50, group * 50 + 50));
  assert.deepEqual(await rowsOf(staged.groups[0]?.paths[0] ?? ''), expected);
}

test('a remote file costs one request for its size, one for its footer, and few for its chunks', async () => {
  await withRemote(async ({ s3, stage }) => {
    const store = s3.store();
    const staged = await stage(store, `${bucket}/t/rows.parquet`);
    await checkRows(staged);
    assert.deepEqual([s3.count('HEAD'), s3.count('GET')], [1, 2]);
    const again = await stage(store, `${bucket}/t/rows.parquet`);
    assert.deepEqual([s3.count('HEAD'), s3.count('GET'), again.bytesFetched], [2, 2, 0]);
  });
});

test('a scan outlives its credentials, and 503s on the way', async () => {
  await withRemote(async ({ s3, stage }) => {
    let given = 0;
    const provide = async () => ({ accessKeyId: `key${++given}`, secretAccessKey: 'hunter2' });
    s3.fault = ({ method, index, headers }) => {
      if (method !== 'GET') return undefined;
      if (index === 0) return { kind: 'error', status: 503, code: 'SlowDown' };
      return headers.authorization?.includes('key1/') && index > 1
        ? { kind: 'error', status: 400, code: 'ExpiredToken' }
        : undefined;
    };
    await checkRows(
      await stage(s3.store({ access: { kind: 'provider', provide } }), `${bucket}/t/rows.parquet`),
    );
    assert.equal(given, 2);
  });
});

test('a file of a web server is staged like any other, and its URL’s query stays out of errors', async () => {
  await withRemote(async ({ s3, stage, cachedText }) => {
    const store = createHttpStore({ limits: { hedges: false } });
    const url = `${s3.server.url}/lake/t/rows.parquet?signature=hunter2`;
    await checkRows(await stage(store, url));
    assert.equal((await stage(store, url)).bytesFetched, 0);
    assert.doesNotMatch(await cachedText(), /hunter2/);
    s3.put('t/text', Buffer.from('this is no Parquet file'));
    await assert.rejects(stage(store, `${s3.server.url}/lake/t/text?signature=hunter2`), {
      code: 'DATA_CORRUPT',
      message: `${s3.server.url}/lake/t/text is not a complete Parquet file: it does not end as a Parquet file does.`,
    });
  });
});
