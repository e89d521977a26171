/** Policies on what statements read, end to end: the one local user is an admin, and here also the one whom policies are for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { rows, value } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';

let service: TestService;
let client: FlightClient;

before(async () => {
  service = await startService({
    tables: {
      's.people': `SELECT i::BIGINT AS id, CASE WHEN i % 2 = 0 THEN 'EU' ELSE 'US' END AS region,
          CASE WHEN i % 2 = 0 THEN (i % 50)::VARCHAR ELSE 'secret-' || i END AS ssn, (i * 10)::BIGINT AS salary
        FROM range(20000) r(i)`,
      's.open': `SELECT i::BIGINT AS k FROM range(10) r(i)`,
      's.allowed': `SELECT 'EU' AS region, 'local' AS who`,
      's.modulo': `SELECT i::BIGINT AS id, CASE WHEN i % 2 = 0 THEN (i % 50)::VARCHAR ELSE 'secret-' || i END AS ssn, i % 1000 AS k FROM range(20000) r(i)`,
    },
  });
  client = await service.client();
  for (const sql of [
    'CREATE POLICY eu ON TABLE s.people ROW FILTER (region IN (SELECT region FROM s.allowed m WHERE m.who = current_user)) TO admin',
    "CREATE POLICY pay ON TABLE s.people COLUMN MASK salary (CASE WHEN has_role('boss') THEN salary ELSE 0 END) TO admin",
    'CREATE POLICY even ON TABLE s.modulo ROW FILTER (id % 2 = 0) TO admin',
  ])
    await client.update(sql);
});
after(async () => await service[Symbol.asyncDispose]());

describe('a table with policies', () => {
  it('has the rows that its filters leave, and masks in the place of values', async () => {
    assert.deepEqual(await rows(client, 'SELECT count(*), min(id), max(salary), min(region) FROM s.people'), [
      [10000n, 0n, 0n, 'EU'],
    ]);
    assert.equal(await value(client, 'SELECT count(*) FROM s.people WHERE salary > 5'), 0n);
    assert.equal(await value(client, 'SELECT count(*) FROM s.people a JOIN s.people b USING (id)'), 10000n);
    assert.deepEqual(await rows(client, 'SELECT id, region FROM s.people WHERE id < 4 ORDER BY id'), [
      [0n, 'EU'],
      [2n, 'EU'],
    ]);
    assert.equal(await value(client, 'SELECT count(*) FROM s.people AT (TIMESTAMP => now())'), 10000n);
  });

  it('computes nothing of what the user says on hidden rows', async () => {
    const statements = [
      'SELECT count(*) FROM s.modulo v JOIN (SELECT 7 AS k) r ON v.k = r.k WHERE v.ssn::INT >= 0',
      'SELECT count(*) FROM s.modulo WHERE ssn::INT >= 0',
      "SELECT count(*) FROM s.modulo WHERE ssn >= '0' AND k IN (1, 2)",
      'SELECT count(*) FROM s.people WHERE ssn::INT >= 0',
      'SELECT count(*) FROM s.people v JOIN range(5) r(i) ON v.ssn::INT = r.i',
      'SELECT ssn::INT FROM s.people ORDER BY 1 LIMIT 5',
      'WITH m AS MATERIALIZED (SELECT * FROM s.modulo) SELECT count(*) FROM m WHERE ssn::INT >= 0',
    ];
    for (const sql of statements) await rows(client, sql);
  });

  it('tells nothing of its metadata', async () => {
    for (const kind of ['files', 'snapshots', 'partitions', 'history', 'manifests'])
      await assert.rejects(rows(client, `SELECT * FROM s."people$${kind}"`), {
        code: 'PERMISSION_DENIED',
        message: new RegExp(`You may not read lake.s.people\\$${kind}`),
      });
    await assert.rejects(rows(client, 'SELECT _row_id FROM s.people'), { code: 'BINDING_ERROR' });
    await assert.rejects(rows(client, 'SELECT * FROM s.people USING SAMPLE 10'), { code: 'NOT_SUPPORTED' });
    await assert.rejects(rows(client, 'SELECT * FROM svc_policy.x.people'), { code: 'CATALOG_NOT_FOUND' });
  });
});
