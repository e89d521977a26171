import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FileScan, stageScan, type TableScan } from '@svc/lake';
import { distantStore, type EngineScope, withEngine } from './engine-scope.js';

const rowsPerGroup = 2048;
const rowGroups = [0, 2, 3, 6];
const columns = ['id', 'text', 'amount', 'flag', 'place', 'tags', 'attributes', 'seen', 'deep'];

/** Repeated and distinct values, nulls in all places, nested types; 14,500 rows in 8 row groups, the last one short. */
const content = `
  SELECT i AS id, i % 5 AS unread,
    CASE WHEN i % 7 > 0 THEN 'text ' || (i % 100) END AS text,
    (i * 37 % 100000)::DECIMAL(15, 2) / 100 AS amount,
    CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS flag,
    CASE WHEN i % 11 > 0 THEN {'city': 'c' || (i % 9), 'zip': CASE WHEN i % 4 > 0 THEN i END} END AS place,
    CASE WHEN i % 6 > 0 THEN [i, NULL, i + 1][:i % 4] END AS tags,
    MAP([i % 3, i % 3 + 10], ['a', NULL]) AS attributes,
    TIMESTAMPTZ '2024-01-01 00:00:00+00' + to_seconds(i) AS seen,
    [{'inner': [i % 2 = 0, NULL]}, NULL] AS deep
  FROM range(14500) r(i)`;

const codecs = ['uncompressed', 'snappy', 'gzip', 'zstd', 'lz4_raw', 'brotli'];

test('compact files of every codec and page version read as the original rows at their original positions', () =>
  withEngine(async (scope) => {
    await mkdir(join(scope.lease.inputDirectory, 'originals'));
    for (const version of ['V1', 'V2'])
      for (const codec of codecs) {
        const original = join(scope.lease.inputDirectory, 'originals', `${codec}-${version}.parquet`);
        const options = `FORMAT parquet, CODEC ${codec}, PARQUET_VERSION ${version}, ROW_GROUP_SIZE ${rowsPerGroup}`;
        await scope.lease.execute([`COPY (${content}) TO '${original}' (${options})`]);
        assert.deepEqual(
          await compare(scope, original),
          { rows: '8192', missing: '0', extra: '0' },
          `${codec} ${version}`,
        );
      }
  }));

/** Stages some row groups and compares rows, columns and positions, both ways. */
async function compare({ lease, cache, footers, text }: EngineScope, original: string) {
  const store = distantStore();
  const { sizeBytes, version } = await store.head(original);
  const file = {
    location: original,
    sizeBytes,
    version,
    recordCount: 14500,
    rowGroups,
    columnNames: columns,
    selectedBytes: 0,
  };
  const staged = await stageScan(scanOf(file), { store, cache, footers, directory: lease.inputDirectory });
  const path = staged.groups[0]?.paths[0];
  const list = columns.map((name) => (name === 'attributes' ? `${name}::VARCHAR` : name)).join(', ');
  const compact = `SELECT ${list}, file_row_number + __row_delta AS position FROM read_parquet('${path}')`;
  const chosen = rowGroups.map(
    (group) => `${group * rowsPerGroup} <= position AND position < ${(group + 1) * rowsPerGroup}`,
  );
  const whole = `SELECT * FROM (SELECT ${list}, file_row_number AS position FROM read_parquet('${original}')) WHERE ${chosen.join(' OR ')}`;
  const count = (sql: string) => text(`SELECT count(*)::VARCHAR FROM (${sql})`);
  return {
    rows: await count(compact),
    missing: await count(`${whole} EXCEPT ALL ${compact}`),
    extra: await count(`${compact} EXCEPT ALL ${whole}`),
  };
}

function scanOf(file: FileScan): TableScan {
  const counts = {
    manifestsTotal: 1,
    manifestsRead: 1,
    filesTotal: 1,
    filesPlanned: 1,
    filesPruned: 0,
    rowGroupsTotal: 8,
    rowGroupsPlanned: 4,
    rowGroupsPrunedByStatistics: 4,
    rowGroupsPrunedByBloom: 0,
    bytesTotal: file.sizeBytes,
    bytesPlanned: 0,
    rowsPlanned: 0,
  };
  return {
    tableName: 't',
    tableUuid: 'u',
    snapshotId: 1n,
    columns: [],
    groups: [{ sources: [], files: [file] }],
    counts,
  };
}
