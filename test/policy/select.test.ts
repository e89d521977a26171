/** Policies on what statements read, end to end: the one local user is an admin, and here also the one whom policies are for. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { readTicket, rows, rowsOf, value } from '../service/support/results.js';
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
      's.related': `SELECT i::BIGINT AS id, CASE WHEN i % 3 = 0 THEN 'EU' ELSE 'US' END AS region FROM range(300) r(i)`,
      's.modulo': `SELECT i::BIGINT AS id, CASE WHEN i % 2 = 0 THEN (i % 50)::VARCHAR ELSE 'secret-' || i END AS ssn, i % 1000 AS k,
          {'zip': CASE WHEN i % 2 = 0 THEN (i % 50)::VARCHAR ELSE 'secret-' || i END} AS home FROM range(20000) r(i)`,
      's.fields': `SELECT i AS id, {'a': CASE WHEN i % 2 = 0 THEN i::VARCHAR ELSE 'secret-' || i END, 'b': i} AS f FROM range(2000) r(i)`,
    },
  });
  client = await service.client();
  for (const sql of [
    'CREATE POLICY eu ON TABLE s.people ROW FILTER (region IN (SELECT region FROM s.allowed m WHERE m.who = current_user)) TO admin',
    "CREATE POLICY pay ON TABLE s.people COLUMN MASK salary (CASE WHEN has_role('boss') THEN salary ELSE 0 END) TO admin",
    "CREATE POLICY related ON TABLE s.related ROW FILTER (region >= 'A' AND EXISTS (SELECT 1 FROM s.allowed m WHERE m.region = related.region AND related::VARCHAR LIKE '{''id'': %, ''region'': EU}')) TO admin",
    "CREATE POLICY place ON TABLE s.related COLUMN MASK region ('') TO admin",
    'CREATE POLICY even ON TABLE s.modulo ROW FILTER (id % 2 = 0) TO admin',
    'CREATE POLICY even_fields ON TABLE s.fields ROW FILTER (id % 2 = 0) TO admin',
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

  it('has its rows in their order also where a policy asks for each of them whether something is there', async () => {
    const ids = Array.from({ length: 100 }, (_none, index) => BigInt(index * 3));
    assert.deepEqual(
      await rows(client, 'SELECT * FROM s.related'),
      ids.map((id) => [id, '']),
    );
    assert.deepEqual(await rows(client, 'SELECT id FROM s.related LIMIT 4 OFFSET 3'), [
      [9n],
      [12n],
      [15n],
      [18n],
    ]);
    assert.equal(await value(client, 'SELECT count(*) FROM s.related'), 100n);
  });

  it('computes nothing of what the user says on hidden rows', async () => {
    const statements = [
      'SELECT count(*) FROM s.modulo v JOIN (SELECT 7 AS k) r ON v.k = r.k WHERE v.ssn::INT >= 0',
      'SELECT count(*) FROM s.modulo WHERE ssn::INT >= 0',
      "SELECT count(*) FROM s.modulo WHERE ssn >= '0' AND k IN (1, 2)",
      'SELECT count(*) FROM s.people WHERE ssn::INT >= 0',
      'SELECT count(*) FROM s.people v JOIN range(5) r(i) ON v.ssn::INT = r.i',
      'SELECT ssn::INT FROM s.people ORDER BY 1 LIMIT 5',
      'SELECT rank() OVER (ORDER BY v.home.zip::INT) FROM s.modulo v WHERE k = 8',
      'SELECT max(home.zip::INT) FROM s.modulo WHERE home.zip::INT > 3',
      'WITH m AS MATERIALIZED (SELECT * FROM s.modulo) SELECT count(*) FROM m WHERE ssn::INT >= 0',
      // The engine takes filters up through these, and leaves them above what is computed.
      'SELECT id, k FROM s.modulo INTERSECT SELECT id, ssn::INT FROM s.modulo',
      'SELECT id, ssn::INT FROM s.modulo EXCEPT ALL SELECT id, k FROM s.modulo',
      // It sends the bound of the first rows down into the scan.
      'SELECT id FROM s.modulo WHERE ssn::INT >= 0 ORDER BY id LIMIT 5',
    ];
    for (const sql of statements) await rows(client, sql);
  });

  it('computes nothing of fields next to the scan, where policies hide rows only above it', async () => {
    assert.deepEqual(await rows(client, 'SELECT f.a FROM s.fields WHERE id::VARCHAR::INT = 4'), [['4']]);
    for (const sql of ['SELECT f.a::INT FROM s.fields', 'SELECT id FROM s.fields WHERE f.a::INT = 4'])
      await rows(client, sql).catch(({ code }: { code: string }) => assert.equal(code, 'NOT_SUPPORTED', sql));
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

describe('what is told of a statement over hidden rows', () => {
  it('has no counts in EXPLAIN, and names the policies; what they say is for admins', async () => {
    const lines = (await rows(client, 'EXPLAIN ANALYZE SELECT count(*) FROM s.modulo WHERE k > 5')).flat();
    const text = lines.slice(1).join('\n');
    assert.doesNotMatch(text, /bytes|files|row groups|manifests/);
    assert.match(text, /Policies: sql:even|Policies: even/);
    assert.match(text, /id % 2 = 0/);
  });

  it('has no values in messages', async () => {
    const failing = rows(client, "SELECT ('x' || ssn)::INT FROM s.modulo");
    await assert.rejects(failing, ({ code, message }: { code: string; message: string }) => {
      assert.equal(code, 'EVALUATION_ERROR');
      assert.doesNotMatch(message, /x\d/);
      return true;
    });
  });
});

describe('a ticket', () => {
  it('is not run under other rules than it was planned under', async () => {
    const { tickets } = await client.planStatement('SELECT count(*) FROM s.open');
    await client.update('CREATE POLICY later ON TABLE s.open ROW FILTER (k < 5) TO admin');
    await assert.rejects(readTicket(client, tickets[0]), { code: 'POLICY_CHANGED' });
    assert.equal(await value(client, 'SELECT count(*) FROM s.open'), 5n);
  });

  it('of a prepared statement is made by the rules of its own moment', async () => {
    const { handle } = await client.prepare('SELECT count(*) FROM s.allowed');
    const run = async () => {
      const { tickets } = await client.planPrepared(handle);
      return rowsOf(await readTicket(client, tickets[0]));
    };
    assert.deepEqual(await run(), [[1n]]);
    await client.update("CREATE POLICY none ON TABLE s.allowed ROW FILTER (who = 'nobody') TO admin");
    assert.deepEqual(await run(), [[0n]]);
    await client.update('DROP POLICY none');
    assert.deepEqual(await run(), [[1n]]);
  });
});

describe('rows that are written', () => {
  it('are ones that the writer could see, or none is written', async () => {
    await client.update('INSERT INTO s.open VALUES (1), (2)');
    await assert.rejects(client.update('INSERT INTO s.open VALUES (3), (7)'), {
      code: 'POLICY_CHECK_FAILED',
    });
    assert.equal(await value(client, 'SELECT count(*) FROM s.open'), 7n);
    await assert.rejects(client.update('INSERT INTO s.people SELECT * FROM s.people'), {
      code: 'PERMISSION_DENIED',
      message: /salary/,
    });
    assert.equal(await client.update('CREATE TABLE s.copied AS SELECT * FROM s.modulo'), 10000n);
  });

  it('and views that others read are judged by their readers, unless they are of their definer', async () => {
    await client.update('CREATE VIEW s.seen AS SELECT id FROM s.modulo WHERE id < 10');
    assert.equal(await value(client, 'SELECT count(*) FROM s.seen'), 5n);
    await client.update(
      "CREATE VIEW s.whole TBLPROPERTIES ('svc.security' = 'definer') AS SELECT id FROM s.modulo WHERE id < 10",
    );
    assert.equal(await value(client, 'SELECT count(*) FROM s.whole'), 10n);
    await client.update('CREATE POLICY few ON TABLE s.whole ROW FILTER (id < 3) TO admin');
    assert.equal(await value(client, 'SELECT count(*) FROM s.whole'), 3n);
  });
});

describe('policies that speak of times', () => {
  const noon = "TIMESTAMPTZ '2024-01-01 12:00:00+00'";
  before(async () => {
    for (const [table, rule] of [
      ['days', "COLUMN MASK seen (date_trunc('day', seen))"],
      ['mornings', "ROW FILTER (seen < '2024-01-01 10:00:00')"],
      ['moments', `ROW FILTER (seen <= ${noon} AND seen < now())`],
      ['said', "ROW FILTER (date_trunc('day', timezone('UTC', seen)) = DATE '2024-01-01')"],
    ]) {
      await client.update(`CREATE TABLE s.${table} AS SELECT ${noon} AS seen`);
      await client.update(`CREATE POLICY ${table} ON TABLE s.${table} ${rule} TO admin`);
    }
  });
  after(async () => await client.update("SET timezone = 'UTC'"));

  it('speak of UTC, and are refused where another zone would change what they say', async () => {
    assert.equal(await value(client, 'SELECT count(*) FROM s.mornings'), 0n);
    await client.update("SET timezone = 'Pacific/Honolulu'");
    for (const table of ['days', 'mornings'])
      await assert.rejects(rows(client, `SELECT * FROM s.${table}`), {
        code: 'POLICY_NOT_APPLICABLE',
        message: /depends on the time zone: SET timezone = 'UTC'/,
      });
    await assert.rejects(client.update(`INSERT INTO s.mornings SELECT ${noon}`), {
      code: 'POLICY_NOT_APPLICABLE',
    });
    for (const table of ['moments', 'said'])
      assert.equal(await value(client, `SELECT count(*) FROM s.${table}`), 1n, table);
    // What the statement says itself follows the session.
    assert.equal(await value(client, 'SELECT hour(seen)::BIGINT FROM s.moments'), 2n);
  });
});

describe('policies that do not fit', () => {
  it('are not made', async () => {
    const cases = [
      ['ROW FILTER (nothing = 1)', 'BINDING_ERROR'],
      ['ROW FILTER (id + 1)', 'BINDING_ERROR'],
      ['ROW FILTER (sum(id) > 1)', 'NOT_SUPPORTED'],
      ['ROW FILTER (random() > 0.5)', 'NOT_SUPPORTED'],
      ["ROW FILTER (getenv('HOME') = 'x')", 'FUNCTION_NOT_ALLOWED'],
      ['ROW FILTER (id IN (SELECT x FROM s.missing))', 'TABLE_NOT_FOUND'],
      ['COLUMN MASK nothing (1)', 'BINDING_ERROR'],
      ['COLUMN MASK id (current_schema)', 'NOT_SUPPORTED'],
    ];
    for (const [rule, code] of cases)
      await assert.rejects(
        client.update(`CREATE POLICY bad ON TABLE s.copied ${rule} TO PUBLIC`),
        { code },
        rule,
      );
  });

  it('hide everything when they do not fit any more, and say no more than that', async () => {
    await client.update('CREATE TABLE s.gone AS SELECT 1 AS a, 2 AS b');
    await client.update('CREATE POLICY of_b ON TABLE s.gone ROW FILTER (b = 2) TO PUBLIC');
    await client.update('CREATE OR REPLACE TABLE s.gone AS SELECT 1 AS a');
    await assert.rejects(rows(client, 'SELECT * FROM s.gone'), {
      code: 'POLICY_NOT_APPLICABLE',
      message: 'A policy of lake.s.gone cannot be applied; ask who administers it.',
    });
  });
});

describe('tables that a user has no privilege for', () => {
  it('are refused in the same words, and listed to admins, who could change that', async () => {
    await client.update("CREATE TABLE s.theirs AS SELECT 'x' AS v");
    await client.update('GRANT SELECT ON TABLE s.theirs TO ROLE others');
    const refused = { code: 'PERMISSION_DENIED', message: 'You may not read lake.s.theirs.' };
    await assert.rejects(rows(client, 'SELECT * FROM s.theirs'), refused);
    await assert.rejects(rows(client, 'DESCRIBE s.theirs'), refused);
    assert.ok((await rows(client, 'SHOW TABLES IN s')).flat().includes('theirs'));
    assert.equal(
      await value(client, "SELECT count(*) FROM information_schema.tables WHERE table_name = 'theirs'"),
      1n,
    );
  });
});
