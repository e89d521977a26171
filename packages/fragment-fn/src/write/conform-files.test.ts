/** What is changed of the engine's files before they are anybody's. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { IcebergType } from '@svc/lake';
import { field, openTestWriter, type TestWriter } from '../test-support/test-writer.js';

let writer: TestWriter;
before(async () => {
  writer = await openTestWriter();
});
after(async () => await writer[Symbol.asyncDispose]());

describe('rows that are written', () => {
  it('of fixed columns are read as they were given, with every codec, wherever they are', async () => {
    const two: IcebergType = { kind: 'fixed', length: 2 };
    const list: IcebergType = { kind: 'list', elementId: 3, elementRequired: false, element: two };
    const columns = [
      field(1, 'few', two),
      field(2, 'l', list),
      field(4, 's', { kind: 'struct', fields: [field(5, 'many', { kind: 'fixed', length: 4 })] }),
      field(6, 'n', two),
    ];
    const sql = `SELECT unhex(printf('%04x', i % 3)), CASE WHEN i % 4 > 0 THEN [unhex(printf('%04x', i % 500)), NULL] END,
      CASE WHEN i % 5 > 0 THEN {'many': unhex(printf('%08x', i))} END, NULL::BLOB FROM range(9000) AS t(i)`;
    for (const codec of ['zstd', 'snappy', 'uncompressed'] as const) {
      const found = await writer.writeAndRead(
        sql,
        { columns, codec, rowGroupRows: 2048 },
        (path) =>
          `SELECT [(SELECT count(*) FROM (FROM read_parquet(${path}) EXCEPT ALL ${sql})), (SELECT count(*) FROM read_parquet(${path}) WHERE few = unhex('0001')),
            (SELECT count(DISTINCT row_group_id) FROM parquet_metadata(${path}))]`,
      );
      assert.deepEqual(found, [0, 3000, 5], codec);
    }
  });

  it('of long fixed columns come in smaller row groups', async () => {
    const counts = await writer.writeAndRead(
      "SELECT repeat('ab', 8192)::BLOB FROM range(5000)",
      { columns: [field(1, 'x', { kind: 'fixed', length: 16_384 })] },
      (path) =>
        `SELECT list(DISTINCT row_group_num_rows ORDER BY row_group_num_rows) FROM parquet_metadata(${path})`,
    );
    assert.deepEqual(counts, [904, 2048]);
  });

  it('keep no bloom filter that the engine itself would be misled by', async () => {
    const columns = [
      field(1, 'b', { kind: 'binary' }),
      field(2, 'd', { kind: 'double' }),
      field(3, 's', { kind: 'string' }),
    ];
    const found = await writer.writeAndRead(
      "SELECT unhex(printf('%02x', i % 3)), CASE WHEN i % 2 = 0 THEN '-0.0' ELSE '1.5' END, 's' || i % 3 FROM range(3000) AS t(i)",
      { columns },
      (path) =>
        `SELECT [(SELECT count(*) FROM read_parquet(${path}) WHERE b = unhex('01')), (SELECT count(*) FROM read_parquet(${path}) WHERE d = 0.0),
          (SELECT count(*) FROM parquet_metadata(${path}) WHERE bloom_filter_offset IS NOT NULL)]`,
    );
    assert.deepEqual(found, [1000, 1500, 1]);
  });
});
