/** The actions of catalogs, tried on the engine: what the specification says of each (Iceberg REST OpenAPI, `Action`). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { silentLogger } from '@svc/base';
import { createHostPool, type EnginePool } from '@svc/engine';
import type { IcebergType } from '@svc/lake';
import { maskOf } from './catalog-masks.js';

const signal = new AbortController().signal;
let folder = '';
let pool: EnginePool;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-catalog-masks-'));
  const limits = { memoryBytes: 256 * 2 ** 20, threads: 1, tempDirectoryBytes: 2 ** 30 };
  const lane = { hosts: 1, spareHosts: 0, limits };
  pool = createHostPool({ folder, query: lane, small: lane, log: silentLogger });
});
after(async () => {
  await pool.destroy();
  await rm(folder, { recursive: true, force: true });
});

const cases: readonly (readonly [
  action: string,
  type: IcebergType['kind'],
  value: string,
  masked: string,
])[] = [
  ['mask-alphanum', 'string', "'prashant010696@gmail.com'", 'xxxxxxxxnnnnnn@xxxxx.xxx VARCHAR'],
  ['mask-alphanum', 'string', "'n b\n(9-n),é💥.'", 'xxxx(n-x),xx. VARCHAR'],
  ['show-first-4', 'string', "'prashant010696@gmail.com'", 'prasxxxxnnnnnn@xxxxx.xxx VARCHAR'],
  ['show-first-4', 'string', "'a💥é1'", 'a💥é1 VARCHAR'],
  ['show-last-4', 'string', "'4111-1111-1111-4444'", 'nnnn-nnnn-nnnn-4444 VARCHAR'],
  ['show-last-4', 'string', "'a💥é12'", 'x💥é12 VARCHAR'],
  ['show-last-4', 'string', "'💥é12'", '💥é12 VARCHAR'],
  ['truncate-to-year', 'date', "DATE '2024-07-15'", '2024-01-01 DATE'],
  ['truncate-to-month', 'timestamp', "TIMESTAMP '2024-07-15 01:02:03'", '2024-07-01 00:00:00 TIMESTAMP'],
  [
    'truncate-to-month',
    'timestamp_ns',
    "'2024-07-15 01:02:03'::TIMESTAMP_NS",
    '2024-07-01 00:00:00 TIMESTAMP_NS',
  ],
  [
    'sha-256-global',
    'string',
    "'abc'",
    'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad VARCHAR',
  ],
  ['mask-to-fixed-value', 'string', 'NULL', 'XXXXXXXX VARCHAR'],
  ['mask-to-fixed-value', 'uuid', 'NULL', '00000000-0000-0000-0000-000000000000 UUID'],
];

test('actions on columns do what the specification says, in the type of the column', async () => {
  const lease = await pool.lease({ owner: 'test', lane: 'small', signal });
  try {
    for (const [action, kind, value, masked] of cases) {
      const field = { id: 1, name: 'c', required: false, type: { kind } as IcebergType };
      const mask = maskOf(action, field, Buffer.alloc(16));
      const sql = `SELECT m::VARCHAR || ' ' || typeof(m) FROM (SELECT ${mask} AS m FROM (SELECT ${value} AS c))`;
      assert.equal(await lease.queryText(sql, [], signal), masked, `${action} ${value}`);
    }
  } finally {
    await lease.release();
  }
});

test('a hash of one query tells nothing of another', () => {
  const field = { id: 1, name: 'c', required: false, type: { kind: 'string' } } as const;
  const masks = [1, 2].map((salt) => maskOf('sha-256-query-local', field, Buffer.alloc(16, salt)));
  assert.notEqual(masks[0], masks[1]);
  assert.throws(() => maskOf('sha-256-query-local', field, Buffer.alloc(15)));
});
