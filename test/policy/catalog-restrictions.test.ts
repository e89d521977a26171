/** What a catalog demands of readers (`read-restrictions`), wherever rows of its tables are read: end to end. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { parseJson, type ReadRestrictions } from '@svc/lake';
import { type Demand, restrictingCatalogs } from '../service/support/restricting-catalogs.js';
import { rows, value } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';

const onlyEu: ReadRestrictions['rowFilter'] = {
  kind: 'comparison',
  operator: 'eq',
  column: { kind: 'name', name: 'region' },
  value: parseJson('"EU"', 'test'),
};

const demands = new Map<string, Demand>();

let service: TestService;
let client: FlightClient;

before(async () => {
  const people = `SELECT i::BIGINT AS id, CASE WHEN i % 2 = 0 THEN 'EU' ELSE 'US' END AS region, '123-45-' || (6000 + i) AS ssn
    FROM range(1000) r(i)`;
  service = await startService({
    tables: {
      's.people': people,
      's.also': people,
      's.open': 'SELECT i::BIGINT AS id FROM range(10) r(i)',
      's.kinds': `SELECT 'Ab-12345' AS a, 'Ab-12345' AS b, 'Ab-12345' AS c, 'x' AS d, 7::BIGINT AS e,
        DATE '2024-05-06' AS f, TIMESTAMP '2024-05-06 07:08:09' AS g, 'x' AS h, 'x' AS i`,
    },
    // What a test demands holds at once.
    config: { 'coordinator.session_context_cache_ttl_secs': 0 },
    catalogsOver: (configured) => restrictingCatalogs(configured, demands),
  });
  client = await service.client();
  for (const table of ['people', 'also'])
    demands.set(table, { rowFilter: onlyEu, actions: { ssn: 'mask-alphanum' } });
});
after(async () => await service[Symbol.asyncDispose]());

const refused = { code: 'PERMISSION_DENIED' };

describe('what a catalog demands of readers', () => {
  it('hides rows and masks columns, whoever asks', async () => {
    assert.deepEqual(await rows(client, 'SELECT count(*), min(region), min(ssn), max(ssn) FROM s.people'), [
      [500n, 'EU', 'nnn-nn-nnnn', 'nnn-nn-nnnn'],
    ]);
    assert.equal(await value(client, "SELECT count(*) FROM s.people WHERE ssn LIKE '123%'"), 0n);
    assert.equal(await value(client, 'SELECT count(*) FROM s.people'), 500n);
  });

  it('has one meaning for each action', async () => {
    const actions = {
      a: 'mask-alphanum',
      b: 'show-first-4',
      c: 'show-last-4',
      d: 'replace-with-null',
      e: 'mask-to-fixed-value',
      f: 'truncate-to-year',
      g: 'truncate-to-month',
      h: 'sha-256-global',
      i: 'sha-256-query-local',
    };
    demands.set('kinds', { actions });
    const [row = []] = await rows(
      client,
      "SELECT a, b, c, d, e, f::VARCHAR, g::VARCHAR, h = sha256('x'), length(i), i IN ('x', sha256('x')) FROM s.kinds",
    );
    assert.deepEqual(row, [
      ...['xx-nnnnn', 'Ab-1nnnn', 'xx-n2345', null, 0n],
      ...['2024-01-01', '2024-05-01 00:00:00', true, 64n, false],
    ]);
  });

  it('refuses the table where it is not known how to do it', async () => {
    const unknown: readonly Demand[] = [
      { actions: { a: 'apply-expression' } },
      { actions: { a: 'mask-unheard-of' } },
      { actions: { e: 'sha-256-global' } },
      { actions: { 98: 'replace-with-null' } },
      { rowFilter: { kind: 'unknown', what: 'a part of the row filter' } },
    ];
    for (const demand of unknown) {
      demands.set('kinds', demand);
      for (const sql of [
        'SELECT e FROM s.kinds',
        'SELECT count(*) FROM s.kinds',
        'EXPLAIN SELECT e FROM s.kinds',
      ])
        await assert.rejects(rows(client, sql), refused, JSON.stringify(demand));
    }
    demands.delete('kinds');
    // Who administers it is told why.
    const details = service.logRecords().map((record) => String(record['error_detail']));
    assert.ok(details.some((detail) => detail.includes('not known here: the action "mask-unheard-of"')));
  });

  it('makes the hashes of one statement comparable, and those of two not', async () => {
    const hashing = { actions: { ssn: 'sha-256-query-local' } };
    demands.set('people', hashing).set('also', hashing);
    assert.equal(await value(client, 'SELECT count(*) FROM s.people JOIN s.also USING (ssn)'), 1000n);
    const first = 'SELECT min(ssn) FROM s.people WHERE id = 1';
    assert.notEqual(await value(client, first), await value(client, first));
    const demand = { rowFilter: onlyEu, actions: { ssn: 'mask-alphanum' } };
    demands.set('people', demand).set('also', demand);
  });

  it('tells nothing of commits and files, and is taken along by what is copied', async () => {
    for (const kind of ['files', 'snapshots', 'partitions', 'manifests'])
      await assert.rejects(rows(client, `SELECT * FROM s."people$${kind}"`), refused, kind);
    await assert.rejects(rows(client, 'SELECT * FROM s.people USING SAMPLE 10'), { code: 'NOT_SUPPORTED' });
    const explained = (await rows(client, 'EXPLAIN ANALYZE SELECT count(*) FROM s.people')).flat();
    assert.doesNotMatch(explained.slice(1).join('\n'), /bytes|files|row groups|manifests/);
    assert.equal(await client.update('CREATE TABLE s.copied AS SELECT * FROM s.people'), 500n);
    assert.equal(await client.update('INSERT INTO s.copied SELECT * FROM s.people'), 500n);
    assert.deepEqual(await rows(client, 'SELECT DISTINCT ssn, region FROM s.copied'), [
      ['nnn-nn-nnnn', 'EU'],
    ]);
    await assert.rejects(rows(client, 'SELECT * FROM s.people AT (VERSION => 1)'), ({ message }: Error) => {
      assert.match(message, /has no snapshot 1\.$/);
      return true;
    });
  });
});

describe('behind a view of its definer', () => {
  const define = (name: string, query: string) =>
    client.update(`CREATE VIEW s.${name} TBLPROPERTIES ('svc.security' = 'definer') AS ${query}`);

  it('no policy holds, but what the catalog demands does', async () => {
    await client.update('CREATE POLICY few ON TABLE s.people ROW FILTER (id < 10) TO admin');
    await define('whole', 'SELECT id, ssn FROM s.people');
    const all = 'SELECT count(*), min(ssn), max(ssn) FROM s.whole';
    assert.deepEqual(await rows(client, all), [[500n, 'nnn-nn-nnnn', 'nnn-nn-nnnn']]);
    for (const from of ['s.whole w JOIN s.people p USING (id)', 's.people p JOIN s.whole w USING (id)'])
      assert.equal(await value(client, `SELECT count(*) FROM ${from}`), 5n, from);
    for (const both of [
      's.whole), (SELECT count(*) FROM s.people',
      's.people), (SELECT count(*) FROM s.whole',
    ])
      assert.deepEqual((await rows(client, `SELECT (SELECT count(*) FROM ${both})`)).flat().sort(), [
        5n,
        500n,
      ]);
    await define('outer', 'SELECT * FROM s.whole');
    assert.equal(await value(client, "SELECT count(*) FROM s.outer WHERE ssn = 'nnn-nn-nnnn'"), 500n);
    await client.update('CREATE POLICY fewer ON TABLE s.whole ROW FILTER (id < 4) TO admin');
    assert.equal(await value(client, 'SELECT count(*) FROM s.whole'), 2n);
    await client.update('DROP POLICY fewer');
    await client.update('DROP POLICY few');
  });

  it('what cannot be done refuses the view, by its own name', async () => {
    const known = demands.get('people') ?? {};
    demands.set('people', { actions: { ssn: 'apply-expression' } });
    await assert.rejects(
      rows(client, 'SELECT id FROM s.outer'),
      ({ code, message }: Error & { code: string }) => {
        assert.deepEqual([code, message], ['PERMISSION_DENIED', 'You may not read lake.s.outer.']);
        return true;
      },
    );
    demands.set('people', known);
  });
});

describe('a mapping table', () => {
  it('that its catalog restricts is read by no policy', async () => {
    await client.update(
      'CREATE POLICY known ON TABLE s.open ROW FILTER (id IN (SELECT p.id FROM s.people p)) TO admin',
    );
    for (const run of [
      () => rows(client, 'SELECT * FROM s.open'),
      () => client.update('INSERT INTO s.open VALUES (2)'),
    ])
      await assert.rejects(run, { code: 'POLICY_NOT_APPLICABLE' });
    await client.update('DROP POLICY known');
  });
});

describe('at another point of its history', () => {
  let first: unknown;
  before(async () => {
    await client.update("CREATE TABLE s.changed AS SELECT 1 AS id, 'EU' AS region, '123-45' AS ssn");
    first = await value(client, 'SELECT snapshot_id FROM s."changed$snapshots"');
    await client.update("CREATE OR REPLACE TABLE s.changed AS SELECT 2 AS id, 'EU' AS region");
  });
  const then = () => value(client, `SELECT ssn FROM s.changed AT (VERSION => ${first})`);

  it('a column is masked that was dropped since', async () => {
    assert.equal(await then(), '123-45');
    demands.set('changed', { actions: { ssn: 'mask-alphanum' } });
    assert.equal(await then(), 'nnn-nn');
    assert.equal(await value(client, 'SELECT id FROM s.changed'), 2);
    // Bounds of former files are there too.
    await assert.rejects(rows(client, 'SELECT * FROM s."changed$files"'), refused);
    await client.update(
      `CREATE VIEW s.former TBLPROPERTIES ('svc.security' = 'definer') AS SELECT ssn FROM s.changed AT (VERSION => ${first})`,
    );
    assert.equal(await value(client, 'SELECT ssn FROM s.former'), 'nnn-nn');
  });

  it('nothing is read where the column that is meant may be there under another id', async () => {
    demands.delete('changed');
    await client.update("CREATE OR REPLACE TABLE s.changed AS SELECT 3 AS id, 'EU' AS region, '678' AS ssn");
    demands.set('changed', { actions: { ssn: 'mask-alphanum' } });
    assert.equal(await value(client, 'SELECT ssn FROM s.changed'), 'nnn');
    await assert.rejects(then, refused);
    await assert.rejects(rows(client, 'SELECT ssn FROM s.former'), refused);
    // A filter's name means the column that has it now: then another one had it.
    const filtered = { kind: 'unary', operator: 'not-null', column: { kind: 'name', name: 'ssn' } } as const;
    demands.set('changed', { rowFilter: filtered });
    assert.equal(await value(client, 'SELECT count(*) FROM s.changed'), 1n);
    await assert.rejects(then, refused);
    // The dropped one's id, and its name is that of another column now.
    demands.set('changed', { actions: { 3: 'mask-alphanum' } });
    await assert.rejects(rows(client, 'SELECT ssn FROM s.changed'), refused);
    await assert.rejects(then, refused);
  });
});
