import assert from 'node:assert/strict';
import { copyFile, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { decompress as unzstd } from 'fzstd';
import { parquetReadObjects } from 'hyparquet';
import type { IcebergType, NestedField } from '../../iceberg/spec/types.js';
import { createFileStore } from '../../storage/file-store.js';
import { readColumnChunk } from '../column-chunk.js';
import type { ParquetFooter } from '../footer.js';
import { readFooter } from '../read-footer.js';
import { conformDataFiles } from './conform-data-files.js';

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

const binary: IcebergType = { kind: 'binary' };
const fixed = (length: number): IcebergType => ({ kind: 'fixed', length });

test('fixed columns have their type in the file, and every value stays', async () => {
  const path = await copyOfFixed();
  const before = await rowsOf(path);
  const sizeBytes = await conformDataFile(path, fieldsOf(fixed(3), fixed(4), fixed(2)));
  assert.equal((await stat(path)).size, sizeBytes);
  assert.deepEqual(await rowsOf(path), before);
  const { schema } = await footerOf(path);
  assert.deepEqual(
    schema.leaves.map(({ physical, typeLength }) => [physical, typeLength]),
    [
      ['INT64', 0],
      ['FIXED_LEN_BYTE_ARRAY', 3],
      ['FIXED_LEN_BYTE_ARRAY', 4],
      ['FIXED_LEN_BYTE_ARRAY', 2],
      ['DOUBLE', 0],
      ['BYTE_ARRAY', 0],
    ],
  );
});

test('statistics, counts and the other columns’ chunks are taken over', async () => {
  const path = await copyOfFixed();
  const before = await footerOf(path);
  await conformDataFile(path, fieldsOf(fixed(3), binary, fixed(2)));
  const after = await footerOf(path);
  assert.deepEqual(after.rowCounts, before.rowCounts);
  for (let rowGroup = 0; rowGroup < before.rowGroupCount; rowGroup++)
    for (const { column } of before.schema.leaves) {
      const [old, now] = [before, after].map((footer) => readColumnChunk(footer, rowGroup, column));
      assert.deepEqual([now?.statistics, now?.valueCount], [old?.statistics, old?.valueCount]);
      if (![1, 3].includes(column))
        assert.equal((now?.end ?? 0) - (now?.start ?? 0), (old?.end ?? 0) - (old?.start ?? 0));
    }
});

test('only columns whose bloom filters DuckDB reads rightly keep them', async () => {
  for (const few of [binary, fixed(3)]) {
    const path = await copyOfFixed();
    assert.deepEqual(columnsWithBloom(await footerOf(path)), ['few', 'element', 'ratio', 'name']);
    const before = await bloomBytes(path, 'name');
    await conformDataFile(path, fieldsOf(few, binary, binary));
    assert.deepEqual(columnsWithBloom(await footerOf(path)), ['name']);
    assert.deepEqual(await bloomBytes(path, 'name'), before, 'and they are found where they are now');
  }
});

test('a value of another length is refused, and no second file is left', async () => {
  const path = await copyOfFixed();
  await assert.rejects(conformDataFile(path, fieldsOf(fixed(4), binary, binary)), {
    code: 'INTERNAL_ERROR',
    message: /a value of other than 4 bytes/,
  });
  assert.deepEqual(await readdir(join(path, '..')), ['fixed.parquet']);
});

test('stops when it is told to, and leaves no second file', async () => {
  const path = await copyOfFixed();
  const conformed = conformDataFile(path, fieldsOf(fixed(3), binary, binary), AbortSignal.abort());
  await assert.rejects(conformed, { code: 'CANCELLED' });
  assert.deepEqual(await readdir(join(path, '..')), ['fixed.parquet']);
});

test('files of a table without such types are not even opened', async () => {
  const fields: readonly NestedField[] = [{ id: 1, name: 'x', required: false, type: { kind: 'string' } }];
  assert.deepEqual(await conformDataFiles([{ path: '/nowhere', sizeBytes: 7 }], fields), [7]);
  const list: IcebergType = { kind: 'list', elementId: 2, elementRequired: false, element: fixed(1) };
  for (const type of [fixed(1), binary, list, { kind: 'float' } as const])
    await assert.rejects(
      conformDataFiles([{ path: '/nowhere', sizeBytes: 7 }], [{ id: 1, name: 'x', required: false, type }]),
      { code: 'DATA_FILE_MISSING' },
    );
});

async function conformDataFile(
  path: string,
  fields: readonly NestedField[],
  signal?: AbortSignal,
): Promise<number> {
  const [sizeBytes] = await conformDataFiles([{ path, sizeBytes: 0 }], fields, signal);
  return sizeBytes ?? 0;
}

async function copyOfFixed(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'conform-'));
  folders.push(folder);
  const path = join(folder, 'fixed.parquet');
  await copyFile(fileURLToPath(new URL('../../../testdata/parquet/fixed.parquet', import.meta.url)), path);
  return path;
}

function fieldsOf(few: IcebergType, many: IcebergType, element: IcebergType): readonly NestedField[] {
  const list: IcebergType = { kind: 'list', elementId: 5, elementRequired: false, element };
  const types: readonly (readonly [number, string, IcebergType])[] = [
    [1, 'id', { kind: 'long' }],
    [2, 'few', few],
    [3, 'many', many],
    [4, 'list', list],
    [6, 'ratio', { kind: 'double' }],
    [7, 'name', { kind: 'string' }],
  ];
  return types.map(([id, name, type]) => ({ id, name, required: false, type }));
}

async function footerOf(path: string): Promise<ParquetFooter> {
  const store = createFileStore();
  return await readFooter(store, await store.head(path));
}

function columnsWithBloom(footer: ParquetFooter): readonly string[] {
  return footer.schema.leaves
    .filter(({ column }) => readColumnChunk(footer, 0, column).bloomFilterStart !== undefined)
    .map(({ name }) => name);
}

async function bloomBytes(path: string, name: string): Promise<readonly Uint8Array[]> {
  const [footer, bytes] = [await footerOf(path), await readFile(path)];
  const column = footer.schema.leaves.findIndex((leaf) => leaf.name === name);
  return Array.from(footer.rowCounts, (_rows, rowGroup) => {
    const { bloomFilterStart = 0, bloomFilterBytes = 0 } = readColumnChunk(footer, rowGroup, column);
    return bytes.subarray(bloomFilterStart, bloomFilterStart + bloomFilterBytes);
  });
}

/** By a reader of others. */
async function rowsOf(path: string): Promise<readonly Record<string, unknown>[]> {
  const compressors = {
    GZIP: (bytes: Uint8Array) => new Uint8Array(gunzipSync(bytes)),
    ZSTD: (bytes: Uint8Array, length: number) => unzstd(bytes, new Uint8Array(length)),
  };
  const file = Uint8Array.from(await readFile(path)).buffer;
  return await parquetReadObjects({ file, compressors, utf8: false });
}
