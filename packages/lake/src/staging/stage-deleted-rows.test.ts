import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { parquetReadObjects } from 'hyparquet';
import { type DeletedRows, deletionColumns } from '../deletes/deleted-rows.js';
import { loadDeltaTable } from '../delta/load-delta-table.js';
import { planDeltaScan } from '../delta/plan-delta-scan.js';
import { goldenStore, root } from '../delta/testing/delta-log.js';
import { createFooterCache } from '../parquet/footer-cache.js';
import type { FileScan } from '../scan/table-scan.js';
import { stageDeletedRows } from './stage-deleted-rows.js';

interface Scope {
  readonly file: FileScan;
  readonly deletedRows: DeletedRows;
  readonly directory: string;
  stage(deletedRows?: DeletedRows): Promise<string>;
  /** Changes a byte of the file that the rows are in. */
  damage(at: number): void;
}

/** The file e of the table `vectors`, with 2,900 of 3,000 rows deleted. */
async function withFile(body: (scope: Scope) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'deleted-rows-'));
  try {
    const store = goldenStore('vectors');
    const footers = createFooterCache({ maxBytes: 1 << 20 });
    const table = await loadDeltaTable(store, root);
    const scan = await planDeltaScan(table, { columns: undefined, filters: [] }, { tableName: 't', footers });
    const files = scan.groups.flatMap((group) => group.files);
    const file = files.find(({ location }) => location.endsWith('e.parquet'));
    assert.ok(file?.deletedRows?.bitmap.kind === 'stored');
    const { deletedRows } = file;
    const { bitmap } = deletedRows;
    assert.ok(bitmap.kind === 'stored');
    await body({
      file,
      deletedRows,
      directory,
      stage: (rows = deletedRows) => stageDeletedRows(file, rows, '/staged/e', { store, directory }),
      damage: (at) => {
        const bytes = Buffer.from(store.files.get(bitmap.location)?.bytes ?? []);
        bytes[bitmap.start + at] = (bytes[bitmap.start + at] ?? 0) ^ 1;
        store.put(bitmap.location, bytes);
      },
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test('deleted rows become a Parquet file of their positions, made once', () =>
  withFile(async ({ stage, directory, damage }) => {
    const path = await stage();
    const bytes = await readFile(path);
    const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
    const rows = await parquetReadObjects({ file });
    assert.equal(rows.length, 2900);
    assert.deepEqual(rows[2899], { [deletionColumns.file]: '/staged/e', [deletionColumns.position]: 2899n });
    damage(20);
    assert.equal(await stage(), path);
    assert.equal((await readdir(directory)).length, 1);
  }));

test('a damaged or wrongly described vector is refused, and nothing is left behind', () =>
  withFile(async ({ stage, deletedRows, directory, damage }) => {
    const refused = (message: RegExp) => ({ code: 'DATA_CORRUPT', message });
    await assert.rejects(stage({ ...deletedRows, rowCount: 7 }), refused(/has 2900 rows; .* says 7/));
    const { bitmap } = deletedRows;
    assert.ok(bitmap.kind === 'stored');
    const shorter = { ...deletedRows, bitmap: { ...bitmap, end: bitmap.end - 1 } };
    await assert.rejects(stage(shorter), refused(/metadata says/));
    const far = { ...deletedRows, bitmap: { ...bitmap, start: 1 << 20, end: (1 << 20) + 60 } };
    await assert.rejects(stage(far), { code: 'DATA_CORRUPT' });
    damage(20);
    await assert.rejects(stage(), refused(/checksum is wrong/));
    const gone = { ...deletedRows, bitmap: { ...bitmap, location: `${root}/gone.bin` } };
    await assert.rejects(stage(gone), { code: 'DATA_FILE_MISSING', message: /gone\.bin/ });
    assert.deepEqual(await readdir(directory), []);
  }));

test('a vector of rows that the file does not have is refused', () =>
  withFile(async ({ file, deletedRows, directory }) => {
    const store = goldenStore('vectors');
    const short = { ...file, recordCount: 2899 };
    await assert.rejects(stageDeletedRows(short, deletedRows, '/staged/e', { store, directory }), {
      code: 'DATA_CORRUPT',
      message: /deletes row 2899, but the file has 2899 rows/,
    });
  }));

test('a small vector of very many rows is refused at the first that the file does not have; an abort ends the writing', () =>
  withFile(async ({ file, directory, stage }) => {
    const rowCount = 1024 * 65536;
    const many: DeletedRows = { rowCount, bitmap: { kind: 'inline', base64: fullContainers(1024) } };
    await assert.rejects(stage(many), {
      code: 'DATA_CORRUPT',
      message: /deletes row 65535, but .* 3000 rows/,
    });
    const signal = AbortSignal.abort(new QueryError('CANCELLED', 'No longer wanted.'));
    const large = { ...file, recordCount: rowCount };
    const options = { store: goldenStore('vectors'), directory, signal };
    await assert.rejects(stageDeletedRows(large, many, '/staged/e', options), { code: 'CANCELLED' });
    assert.deepEqual(await readdir(directory), []);
  }));

/** A bitmap of `count` containers of 65,536 rows, each a single run. */
function fullContainers(count: number): string {
  const numbers = (...values: readonly number[]) => Buffer.from(Uint32Array.from(values).buffer);
  const keys = Array.from({ length: count }, (_none, key) => (key | (0xffff << 16)) >>> 0);
  return Buffer.concat([
    numbers(1681511377, 1, 0, 0, (12347 | ((count - 1) << 16)) >>> 0),
    Buffer.alloc(count / 8, 0xff),
    numbers(...keys),
    Buffer.alloc(count * 4),
    ...keys.map(() => Buffer.from(Uint16Array.of(1, 0, 0xffff).buffer)),
  ]).toString('base64');
}
