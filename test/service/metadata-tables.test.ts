/** Metadata tables: what a table says of itself, as rows. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { rows, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService();
  client = await service.client();
  for (const sql of [
    'CREATE SCHEMA s',
    "CREATE TABLE s.t (id BIGINT, region VARCHAR, day DATE, price DECIMAL(9, 2), key UUID, at TIMESTAMPTZ, ratio DOUBLE) PARTITIONED BY (region, month(day), bucket(4, key), truncate(2, price)) TBLPROPERTIES ('owner' = 'ada')",
    "INSERT INTO s.t VALUES (1, 'north', DATE '2024-05-06', 1.51, '11111111-2222-3333-4444-555555555555', TIMESTAMPTZ '2024-05-06 07:08:09.5+00', 0.5)",
    "INSERT INTO s.t VALUES (2, NULL, NULL, NULL, NULL, NULL, NULL), (-9007199254740993, 'north', DATE '2024-05-31', 1.5, '11111111-2222-3333-4444-555555555555', NULL, 'NaN')",
    'CREATE TABLE s."a$files" AS SELECT 42 AS answer',
    'CREATE TABLE s.never (x INT)',
    'CREATE VIEW s.v AS SELECT * FROM s.t',
    'CREATE VIEW s."t$mine" AS SELECT 7 AS seven',
    'USE s',
  ])
    await client.update(sql).catch(() => rows(client, sql));
});
after(async () => await service[Symbol.asyncDispose]());

const answer = (sql: string) => rows(client, sql);

describe('metadata tables', () => {
  it('tell the history of a table with exact ids', async () => {
    assert.deepEqual(
      await answer(`
        WITH snapshots AS (FROM "t$snapshots")
        SELECT operation, summary['added-records'], h.is_current_ancestor, s.parent_id IS NULL,
          s.committed_at = h.made_current_at, s.manifest_list LIKE '%/metadata/%',
          (SELECT count(*) FROM s.t FOR VERSION AS OF 'main')
        FROM snapshots s JOIN lake.S."T$History" h USING (snapshot_id) ORDER BY committed_at, s.parent_id NULLS FIRST`),
      [
        ['append', '1', true, true, true, true, 3n],
        ['append', '2', true, false, true, true, 3n],
      ],
    );
    const ids = (await answer('SELECT snapshot_id FROM "t$snapshots" ORDER BY parent_id NULLS FIRST')).flat();
    assert.deepEqual(
      await Promise.all(ids.map((id) => value(client, `SELECT count(*) FROM t FOR VERSION AS OF ${id}`))),
      [1n, 3n],
    );
    assert.deepEqual(await answer('SELECT * FROM "t$refs"'), [['main', 'BRANCH', ids[1], null, null, null]]);
    assert.equal(await value(client, `SELECT value FROM "t$properties" WHERE key = 'owner'`), 'ada');
    assert.deepEqual(
      await answer('SELECT latest_snapshot_id, latest_schema_id FROM "t$metadata_log_entries" ORDER BY ALL'),
      [...ids.map((id) => [id, 0]), [null, null]].sort(
        (a, b) => Number((a[0] ?? 2n ** 63n) > (b[0] ?? 2n ** 63n)) || -1,
      ),
    );
  });

  it('tell the files of a snapshot with their partitions and statistics', async () => {
    assert.deepEqual(
      await answer(`
        SELECT content, file_format, spec_id, partition.region, partition.day_month, partition.price_trunc::VARCHAR,
          record_count, value_counts[1], null_value_counts[6], nan_value_counts[7], lower_bounds[1], lower_bounds[3],
          lower_bounds[5], upper_bounds[6], upper_bounds[4], len(split_offsets)::INTEGER, equality_ids, sort_order_id
        FROM "t$files" ORDER BY record_count, lower_bounds[1]`),
      [
        [
          0,
          'PARQUET',
          0,
          'north',
          652,
          '1.50',
          1n,
          1n,
          1n,
          null,
          '-9007199254740993',
          '2024-05-31',
          '11111111-2222-3333-4444-555555555555',
          null,
          '1.50',
          1,
          null,
          0,
        ],
        [
          0,
          'PARQUET',
          0,
          'north',
          652,
          '1.50',
          1n,
          1n,
          0n,
          0n,
          '1',
          '2024-05-06',
          '11111111-2222-3333-4444-555555555555',
          '2024-05-06T07:08:09.500000+00:00',
          '1.51',
          1,
          null,
          0,
        ],
        [0, 'PARQUET', 0, null, null, null, 1n, 1n, 1n, 0n, '2', null, null, null, null, 1, null, 0],
      ],
    );
    assert.deepEqual(
      await answer(`SELECT readable_metrics::JSON->>'$.id.lower_bound' FROM "t$files" ORDER BY 1`),
      [['-9007199254740993'], ['1'], ['2']],
    );
    assert.deepEqual(
      await answer(`
        SELECT added_data_files_count, existing_data_files_count, added_rows_count, length > 0,
          partition_summaries[1].lower_bound, partition_summaries[2].upper_bound, partition_summaries[2].contains_null
        FROM "t$manifests" ORDER BY added_rows_count`),
      [
        [1, 0, 1n, true, 'north', '2024-05', false],
        [2, 0, 2n, true, 'north', '2024-05', true],
      ],
    );
  });

  it('tell the partitions of a snapshot', async () => {
    assert.deepEqual(
      await answer(`
        SELECT partition.region, record_count, file_count, total_size > 0, data.id.min, data.id.max, data.key.min::VARCHAR,
          data.price.max::VARCHAR, data.at.max::VARCHAR, data.at.null_count, data.ratio.nan_count
        FROM "t$partitions" ORDER BY record_count`),
      [
        [null, 1n, 1n, true, 2n, 2n, null, null, null, 1n, 0n],
        [
          'north',
          2n,
          2n,
          true,
          -9007199254740993n,
          1n,
          '11111111-2222-3333-4444-555555555555',
          '1.51',
          '2024-05-06 07:08:09.5+00',
          1n,
          null,
        ],
      ],
    );
    assert.deepEqual(await answer('SELECT * FROM "never$partitions"'), []);
    assert.deepEqual(await answer(`SELECT record_count, file_count FROM "a$files$partitions"`), [[1n, 1n]]);
  });

  it('are of the snapshot that is asked for, where they tell of one', async () => {
    const first = await value(client, 'SELECT snapshot_id FROM "t$snapshots" WHERE parent_id IS NULL');
    for (const name of ['files', 'manifests', 'partitions'])
      assert.equal(await value(client, `SELECT count(*) FROM "t$${name}" FOR VERSION AS OF ${first}`), 1n);
    await assert.rejects(answer(`SELECT * FROM "t$snapshots" FOR VERSION AS OF ${first}`), {
      code: 'NOT_SUPPORTED',
      message: /"lake\.s\.t\$snapshots" is the table's history/,
    });
    await assert.rejects(answer('SELECT * FROM "t$files" FOR VERSION AS OF 5'), {
      code: 'SNAPSHOT_NOT_FOUND',
    });
  });

  it('give way to tables and views of their name, and are refused by name', async () => {
    assert.deepEqual(await answer('SELECT * FROM "a$files"'), [[42]]);
    assert.deepEqual(await answer('SELECT * FROM "t$mine"'), [[7]]);
    for (const [name, message] of [
      ['t$nope', /lake\.s\.t has no metadata table "\$nope"; it has \$snapshots, \$history/],
      ['u$files', /Table "s\.u" does not exist/],
      ['v$files', /s\.v/],
      ['u$nope', /s\.u\$nope/],
      ['$files', /s\.\$files/],
    ] as const)
      await assert.rejects(answer(`SELECT * FROM "${name}"`), { code: 'TABLE_NOT_FOUND', message });
    for (const sql of ['INSERT INTO "t$refs" VALUES (1)', 'DROP TABLE "t$refs"'])
      await assert.rejects(answer(sql), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(answer('SHOW CREATE TABLE "t$refs"'), { code: 'NOT_SUPPORTED' });
  });

  it('are described like tables, and listed nowhere', async () => {
    const described = await answer('DESCRIBE "t$partitions"');
    assert.deepEqual(described.slice(0, 4), [
      [
        'partition',
        'STRUCT("region" VARCHAR, "day_month" INTEGER, "key_bucket" INTEGER, "price_trunc" DECIMAL(9,2))',
        'YES',
        null,
      ],
      ['record_count', 'BIGINT', 'YES', null],
      ['file_count', 'BIGINT', 'YES', null],
      ['total_size', 'BIGINT', 'YES', null],
    ]);
    assert.match(
      String(described[4]),
      /^data,STRUCT\("id" STRUCT\("min" BIGINT, "max" BIGINT, "null_count" BIGINT/,
    );
    assert.deepEqual(await answer('SHOW COLUMNS FROM "t$files" LIKE \'file_p%\''), [
      ['file_path', 'VARCHAR', 'YES', null],
    ]);
    const plan = (await answer('EXPLAIN SELECT file_path FROM "t$files"')).flat().join('\n');
    assert.match(plan, /Rows of lake\.s\.t\$files, made by the coordinator\n {2}columns: file_path/);
    assert.deepEqual((await answer('SHOW TABLES')).flat(), ['a$files', 'never', 't', 't$mine', 'v']);
    assert.equal(await client.update('CREATE TABLE copied AS SELECT * FROM "t$files"'), 3n);
    assert.equal(await client.update('CREATE TABLE copied2 AS SELECT * FROM "t$partitions"'), 2n);
  });
});
