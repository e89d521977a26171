import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import type { ScanFilter } from '@svc/sql';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { planFiles } from '../../iceberg/scan/plan-files.js';
import { encodeBinaryValue } from '../../iceberg/spec/binary-value.js';
import { readNameMapping } from '../../iceberg/spec/name-mapping.js';
import { createFileStore } from '../../storage/file-store.js';
import { createFileSystemCatalog } from './file-system-catalog.js';
import { type ParquetFileToRegister, registerParquetTable } from './register-parquet-table.js';

const identifier = { namespace: ['samples'], name: 'a/b "flights"' };
const content = Buffer.alloc(5_000_000, 'parquet ');
const long = { kind: 'long' } as const;
let parent = '';
let root = '';
let source = '';

before(async () => {
  parent = await mkdtemp(join(tmpdir(), 'register-'));
  source = join(parent, 'source.parquet');
  await writeFile(source, content);
});
after(() => rm(parent, { recursive: true, force: true }));
beforeEach(async () => {
  root = join(await mkdtemp(join(parent, 'root-')), 'not', 'made', 'yet');
});

function file(changes: Partial<ParquetFileToRegister> = {}): ParquetFileToRegister {
  return {
    location: source,
    sizeBytes: content.length,
    fields: [{ id: 1, name: 'delay', required: false, type: long }],
    lastColumnId: 1,
    idsAreInFile: false,
    metrics: {
      recordCount: 1000,
      columnSizes: new Map([[1, 4000]]),
      valueCounts: new Map([[1, 1000]]),
      nullValueCounts: new Map([[1, 0]]),
      nanValueCounts: new Map(),
      lowerBounds: new Map([[1, encodeBinaryValue(long, -5n)]]),
      upperBounds: new Map([[1, encodeBinaryValue(long, 1688n)]]),
      splitOffsets: [4, 2_000_000],
    },
    ...changes,
  };
}

async function load() {
  const files = createMetadataFiles(1_000_000);
  const catalog = createFileSystemCatalog({ root, store: createFileStore(), files });
  const table = await catalog.loadTable(identifier);
  const plan = (filters: readonly ScanFilter[]) =>
    planFiles(table, { kind: 'current' }, { columns: undefined, filters }, { files });
  return { table, plan };
}

test('makes a table of a copy of the file, with its metrics and a name mapping', async () => {
  const progress: number[] = [];
  const registered = await registerParquetTable({
    root,
    identifier,
    file: file(),
    onProgress: ({ copiedBytes, totalBytes }) => progress.push(copiedBytes / totalBytes),
    now: () => 1_700_000_000_000,
  });
  const { table, plan } = await load();
  assert.equal(table.metadataLocation, registered.metadataLocation);
  assert.equal(table.metadata.location, registered.location);
  assert.deepEqual(readNameMapping(table.metadata), [{ fieldId: 1, names: ['delay'], fields: [] }]);
  assert.equal(table.metadata.snapshots[0]?.summary.get('total-records'), '1000');
  const [planned] = (await plan([])).files;
  assert.deepEqual(planned?.splitOffsets, [4, 2_000_000]);
  assert.ok(content.equals(await readFile(planned?.location ?? '')));
  assert.notEqual(planned?.location, source);
  const above = (value: bigint): ScanFilter => ({
    kind: 'compare',
    column: ['delay'],
    operator: '>',
    literal: { type: 'BIGINT', value },
  });
  assert.equal((await plan([above(1688n)])).files.length, 0);
  assert.equal((await plan([above(1687n)])).files.length, 1);
  assert.equal(progress.at(-1), 1);
  assert.ok(progress.length > 1);
});

test('a file with ids of its own needs no name mapping', async () => {
  await registerParquetTable({ root, identifier, file: file({ idsAreInFile: true }) });
  const { table } = await load();
  assert.equal(readNameMapping(table.metadata), undefined);
});

test('of many registrations of one table exactly one succeeds, and nothing is left aside', async () => {
  const outcomes = await Promise.allSettled(
    Array.from({ length: 6 }, () => registerParquetTable({ root, identifier, file: file() })),
  );
  const failures = outcomes.flatMap((outcome) =>
    outcome.status === 'rejected' ? [outcome.reason.code] : [],
  );
  assert.deepEqual(failures, Array(5).fill('COMMIT_CONFLICT'));
  assert.equal((await readdir(join(root, 'samples'))).length, 1);
  await load();
});

test('whatever goes wrong leaves no table and nothing aside', async () => {
  const controller = new AbortController();
  const attempts = [
    registerParquetTable({ root, identifier, file: file({ location: join(parent, 'none.parquet') }) }),
    registerParquetTable({ root, identifier, file: file({ sizeBytes: 7 }) }),
    registerParquetTable({
      root,
      identifier,
      file: file(),
      signal: controller.signal,
      onProgress: () => controller.abort(),
    }),
  ];
  const codes = (await Promise.allSettled(attempts)).map(
    (each) => each.status === 'rejected' && each.reason.code,
  );
  assert.deepEqual(codes, ['DATA_FILE_MISSING', 'DATA_CORRUPT', 'CANCELLED']);
  assert.deepEqual(await readdir(join(root, 'samples')), []);
});

test('removes what an ended process left aside, but not what is still being made', async () => {
  const [old, fresh] = ['.old.registering', '.fresh.registering'].map((name) => join(root, 'samples', name));
  for (const folder of [old, fresh]) await mkdir(join(folder ?? '', 'data'), { recursive: true });
  await utimes(old ?? '', new Date(0), new Date(0));
  await registerParquetTable({ root, identifier, file: file() });
  assert.deepEqual((await readdir(join(root, 'samples'))).sort(), [
    '.fresh.registering',
    'a%2Fb %22flights%22',
  ]);
});

test('a name that no folder can have is refused', async () => {
  for (const name of ['', 'a\0b', 'x'.repeat(300)])
    await assert.rejects(
      registerParquetTable({ root, identifier: { namespace: ['s'], name }, file: file() }),
      {
        code: 'INVALID_ARGUMENT',
      },
    );
});
