/** Row filters as a check on rows that are added, by every door: the user `ann` has the role `analyst`, and the filters are for it. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type FlightClient, splitIpcStream } from '@svc/flight';
import { Int64, Table, tableToIPC, Utf8, vectorFromArray } from 'apache-arrow';
import { rows, value } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';
import { until } from '../service/support/until.js';

let service: TestService;
let folder = '';
let admin: FlightClient;
let ann: FlightClient;

const refusedIn = (schema: string) => ({
  code: 'POLICY_CHECK_FAILED',
  message: new RegExp(
    `^A row is not one that you may add to lake\\.${schema}\\.\\w+: nothing was written\\.$`,
  ),
});
const refused = refusedIn('s');

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-policy-insert-'));
  const token = 'the-token-of-ann';
  const sha256 = createHash('sha256').update(token).digest('hex');
  const tokensPath = join(folder, 'tokens.toml');
  await writeFile(tokensPath, `[[token]]\nusername = "ann"\nroles = ["analyst"]\nsha256 = "${sha256}"\n`);
  const sales = "SELECT 0::BIGINT AS id, 'EU' AS region, 'first' AS note";
  service = await startService({
    tables: {
      's.orders': sales,
      's.archive': sales,
      's.mixed': `SELECT i::BIGINT AS id, CASE WHEN i % 2 = 0 THEN 'EU' ELSE 'US' END AS region,
          CASE WHEN i % 2 = 0 THEN '7' ELSE 'secret-' || i END AS code FROM range(20000) r(i)`,
      's.coded': "SELECT 0::BIGINT AS id, '1' AS code",
      's.moments': "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00' AS moment",
      's.defaults': sales,
      's.regions': `SELECT * FROM (VALUES ('EU', 'ann', 'none', TIMESTAMPTZ '2999-01-01 00:00:00+00'), ('US', 'bob', 'secret of bob',
          TIMESTAMPTZ '2999-01-01 00:00:00+00'), ('ASIA', 'ann', 'none', TIMESTAMPTZ '1999-01-01 00:00:00+00')) t(region, who, secret, ends)`,
      'filtered.other': 'SELECT 1 AS id',
    },
    config: {
      'auth.static_tokens_path': tokensPath,
      'metrics.audit_log_path': join(folder, 'audit.log'),
    },
    prepare: async (_catalogPath, locations) =>
      await withDefault(locations.get('s.defaults') ?? '', 'region', 'EU'),
  });
  admin = await service.client();
  ann = service.stranger();
  ann.useBearer(token);
  const mapped = 'region IN (SELECT m.region FROM s.regions m WHERE m.who = current_user AND m.ends > now())';
  for (const sql of [
    `CREATE POLICY orders ON TABLE s.orders ROW FILTER (${mapped}) TO analyst EXCEPT admin`,
    "CREATE POLICY archive ON TABLE s.archive ROW FILTER (EXISTS (SELECT 1 FROM s.regions m WHERE m.region = archive.region AND m.who = 'ann')) TO analyst EXCEPT admin",
    "CREATE POLICY mixed ON TABLE s.mixed ROW FILTER (region = 'EU') TO analyst EXCEPT admin",
    'CREATE POLICY coded ON TABLE s.coded ROW FILTER (CAST(code AS INT) > 0) TO analyst EXCEPT admin',
    'CREATE SCHEMA masked',
    'CREATE SCHEMA fallible',
    `CREATE POLICY fallible ON SCHEMA fallible ROW FILTER (CAST(code AS INTEGER) > 424242 AND lower(tier) <> 'hush') TO analyst EXCEPT admin`,
    'CREATE SCHEMA typed',
    'CREATE POLICY typed ON SCHEMA typed ROW FILTER (tenant_id + 424242 > 0) TO analyst EXCEPT admin',
    'CREATE POLICY masked ON SCHEMA masked COLUMN MASK ssn (NULL) TO analyst EXCEPT admin',
    'CREATE POLICY moments ON TABLE s.moments ROW FILTER (moment <= now()) TO analyst EXCEPT admin',
    "CREATE POLICY defaults ON TABLE s.defaults ROW FILTER (region = 'EU') TO analyst EXCEPT admin",
    "CREATE POLICY filtered ON SCHEMA filtered ROW FILTER (id IN (SELECT length(m.region) FROM s.regions m WHERE m.who = 'ann')) TO analyst EXCEPT admin",
  ])
    await admin.update(sql);
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** What a row has in the column where the statement gives it no value. */
async function withDefault(location: string, column: string, text: string): Promise<void> {
  const path = join(location, 'metadata', 'v1.metadata.json');
  const metadata = await readFile(path, 'utf8');
  const changed = metadata.replace(
    new RegExp(`("name": ?"${column}")`, 'g'),
    `$1, "write-default": ${JSON.stringify(text)}`,
  );
  assert.notEqual(changed, metadata);
  await writeFile(path, changed);
}

const count = (table: string) => value(admin, `SELECT count(*) FROM ${table}`);

/** Nothing of a statement is there after it failed. */
async function refusedWhole(sql: string, table: string): Promise<void> {
  const before = await count(table);
  await assert.rejects(ann.update(sql), refused, sql);
  assert.equal(await count(table), before, sql);
}

describe('a filter with a mapping table', () => {
  it('lets rows in that its user would see', async () => {
    assert.equal(await ann.update("INSERT INTO s.orders VALUES (1, 'EU', 'a'), (2, 'EU', NULL)"), 2n);
    assert.equal(await ann.update("INSERT INTO s.orders SELECT i, 'EU', 'b' FROM range(3) r(i)"), 3n);
    assert.equal(await count('s.orders'), 6n);
  });

  it('refuses the whole statement for one row that it hides, or of which it says nothing', async () => {
    for (const values of [
      "(3, 'EU', 'x'), (4, 'US', 'x')",
      "(5, 'ASIA', 'x')",
      "(6, NULL, 'x')",
      "(7, 'EU', 'x'), (8, NULL, 'x')",
    ])
      await refusedWhole(`INSERT INTO s.orders VALUES ${values}`, 's.orders');
    await refusedWhole(
      "INSERT INTO s.orders SELECT i, CASE WHEN i = 9999 THEN 'US' ELSE 'EU' END, '' FROM range(10000) r(i)",
      's.orders',
    );
    await refusedWhole('INSERT INTO s.orders (id, note) VALUES (9, NULL)', 's.orders');
  });

  it('checks each row of parameters', async () => {
    const insert = async (regions: readonly string[]): Promise<bigint> => {
      const { handle } = await ann.prepare('INSERT INTO s.orders (id, region) VALUES (?, ?)');
      assert.ok(handle !== undefined);
      const columns = {
        p0: vectorFromArray(
          regions.map((_region, index) => BigInt(index)),
          new Int64(),
        ),
        p1: vectorFromArray(regions, new Utf8()),
      };
      return await ann.updatePrepared(handle, tableToIPC(new Table(columns), 'stream'));
    };
    assert.equal(await insert(['EU', 'EU', 'EU']), 3n);
    await assert.rejects(insert(['EU', 'EU', 'US']), refused);
  });

  it('reads the mapping table beside a query that reads it too', async () => {
    const query = 'SELECT id, region, note FROM s.orders';
    const shown = await value(ann, `SELECT count(*) FROM (${query})`);
    assert.equal(await ann.update(`INSERT INTO s.archive ${query}`), shown);
    assert.equal(
      await ann.update("INSERT INTO s.archive SELECT 1, region, secret FROM s.regions WHERE region = 'EU'"),
      1n,
    );
    await refusedWhole('INSERT INTO s.archive SELECT 1, region, secret FROM s.regions', 's.archive');
  });

  it('tells nothing of the values of a mapping table that it fails on', async () => {
    await admin.update('CREATE TABLE s.failing (id BIGINT)');
    await admin.update(
      'CREATE POLICY failing ON TABLE s.failing ROW FILTER (id = (SELECT max(CAST(m.secret AS INT)) FROM s.regions m)) TO analyst EXCEPT admin',
    );
    await assert.rejects(
      ann.update('INSERT INTO s.failing VALUES (1)'),
      ({ code, message }: { code: string; message: string }) => {
        assert.equal(code, 'EVALUATION_ERROR');
        assert.doesNotMatch(message, /secret|bob|none/);
        return true;
      },
    );
  });

  it('refuses everything once the mapping table is gone', async () => {
    await admin.update("CREATE TABLE s.passing AS SELECT 'EU' AS region");
    await admin.update('CREATE TABLE s.lost (region VARCHAR)');
    await admin.update(
      'CREATE POLICY lost ON TABLE s.lost ROW FILTER (region IN (SELECT p.region FROM s.passing p)) TO analyst EXCEPT admin',
    );
    assert.equal(await ann.update("INSERT INTO s.lost VALUES ('EU')"), 1n);
    await admin.update('DROP TABLE s.passing');
    await assert.rejects(ann.update("INSERT INTO s.lost VALUES ('EU')"), {
      code: 'POLICY_NOT_APPLICABLE',
      message: 'A policy of lake.s.lost cannot be applied; ask who administers it.',
    });
  });
});

describe('a filter that fails on a row', () => {
  /** Neither what the policy says, nor what it made of the row. */
  const tellsNothing = ({ code, message }: { code: string; message: string }) => {
    assert.equal(code, 'EVALUATION_ERROR');
    assert.match(message, /^An expression failed on a row that was to be added to lake\.(s|fallible)\.\w+\./);
    assert.doesNotMatch(message, /LINE|CAST|CASE|INT|424242|lower|hush|tier|wrong/i);
    return true;
  };

  it('says so of its table and nothing else, by INSERT', async () => {
    const before = await count('s.coded');
    await assert.rejects(ann.update("INSERT INTO s.coded VALUES (1, 'wrong')"), tellsNothing);
    await assert.rejects(
      ann.update("INSERT INTO s.coded SELECT i, 'wrong' || i FROM range(3) r(i)"),
      tellsNothing,
    );
    assert.equal(await count('s.coded'), before);
  });

  it('by CREATE TABLE AS, and by INSERT into what that made', async () => {
    const made = "CREATE TABLE fallible.made AS SELECT '500000' AS code, 'open' AS tier";
    await assert.rejects(ann.update(made.replace('500000', 'wrong')), tellsNothing);
    assert.equal(await ann.update(made), 1n);
    await assert.rejects(ann.update("INSERT INTO fallible.made VALUES ('wrong', 'x')"), tellsNothing);
    await assert.rejects(ann.update("INSERT INTO fallible.made VALUES ('99999999999', 'x')"), tellsNothing);
    await assert.rejects(ann.update("INSERT INTO fallible.made VALUES ('5', 'x')"), refusedIn('fallible'));
  });

  it('by an ingest', async () => {
    const ingest = (name: string, code: string) => {
      const columns = { code: vectorFromArray([code], new Utf8()), tier: vectorFromArray(['x'], new Utf8()) };
      return ann.ingest(
        { schema: 'fallible', table: name, ifNotExists: 'create', ifExists: 'append' },
        splitIpcStream(tableToIPC(new Table(columns), 'stream')),
      );
    };
    await assert.rejects(ingest('sent', 'wrong'), tellsNothing);
    assert.equal(await ingest('sent', '500000'), 1n);
    await assert.rejects(ingest('sent', 'wrong'), tellsNothing);
  });

  it('and one that does not bind to the columns is not applicable, as on reading', async () => {
    const notApplicable = {
      code: 'POLICY_NOT_APPLICABLE',
      message: 'A policy of lake.typed.made cannot be applied; ask who administers it.',
    };
    const wrong = "CREATE TABLE typed.made AS SELECT 'abc' AS tenant_id";
    await assert.rejects(ann.update(wrong), notApplicable);
    await admin.update(wrong);
    await assert.rejects(ann.update("INSERT INTO typed.made VALUES ('abc')"), notApplicable);
    await assert.rejects(rows(ann, 'SELECT * FROM typed.made'), notApplicable);
    assert.equal(await ann.update('CREATE TABLE typed.right AS SELECT 7 AS tenant_id'), 1n);
  });
});

describe('a filter with now()', () => {
  it('has the moment of the statement', async () => {
    assert.equal(await ann.update('INSERT INTO s.moments SELECT now()'), 1n);
    await refusedWhole('INSERT INTO s.moments SELECT now() + INTERVAL 1 MICROSECOND', 's.moments');
    assert.equal(await ann.update("INSERT INTO s.moments VALUES (TIMESTAMPTZ '2020-01-01 00:00:00+00')"), 1n);
    await refusedWhole("INSERT INTO s.moments VALUES (TIMESTAMPTZ '2999-01-01 00:00:00+00')", 's.moments');
  });
});

describe('a column that is left out', () => {
  it('is checked with the default that is written', async () => {
    assert.equal(await ann.update('INSERT INTO s.defaults (id) VALUES (1)'), 1n);
    assert.equal(await value(admin, 'SELECT region FROM s.defaults WHERE id = 1'), 'EU');
    await refusedWhole("INSERT INTO s.defaults (id, region) VALUES (2, 'US')", 's.defaults');
    await refusedWhole('INSERT INTO s.defaults (id, region) VALUES (2, NULL)', 's.defaults');
    await admin.update(
      "CREATE OR REPLACE POLICY defaults ON TABLE s.defaults ROW FILTER (region = 'US') TO analyst EXCEPT admin",
    );
    await refusedWhole('INSERT INTO s.defaults (id) VALUES (3)', 's.defaults');
  });
});

describe('rows of tables whose rows are hidden in part', () => {
  it('are checked where they are seen, and no other is', async () => {
    assert.equal(await ann.update('INSERT INTO s.coded SELECT id, code FROM s.mixed'), 10000n);
    assert.equal(
      await ann.update("INSERT INTO s.coded SELECT id, code FROM s.mixed WHERE code = '7'"),
      10000n,
    );
  });
});

describe('a table that is made in a schema with a filter', () => {
  it('has only rows that its maker would see', async () => {
    assert.equal(await ann.update('CREATE TABLE filtered.made AS SELECT 2::BIGINT AS id'), 1n);
    assert.deepEqual(await rows(ann, 'SELECT id FROM filtered.made'), [[2n]]);
    await assert.rejects(ann.update('CREATE TABLE filtered.bad AS SELECT i AS id FROM range(5) r(i)'), {
      code: 'POLICY_CHECK_FAILED',
    });
    await assert.rejects(ann.update('CREATE TABLE filtered.bad AS SELECT 1 AS other'), {
      code: 'POLICY_NOT_APPLICABLE',
    });
    await assert.rejects(rows(admin, 'SELECT * FROM filtered.bad'), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(ann.update("CREATE TABLE masked.bad AS SELECT 1 AS id, 'x' AS ssn"), {
      code: 'PERMISSION_DENIED',
      message: /ssn/,
    });
    await ann.update('CREATE TABLE filtered.empty (id BIGINT)');
    await assert.rejects(ann.update('INSERT INTO filtered.empty VALUES (3)'), {
      code: 'POLICY_CHECK_FAILED',
    });
    assert.equal(await admin.update('CREATE TABLE filtered.of_admin AS SELECT 3::BIGINT AS id'), 1n);
  });

  it('is replaced and dropped by admins only', async () => {
    for (const sql of [
      'DROP TABLE filtered.made',
      'CREATE OR REPLACE TABLE filtered.made AS SELECT 2::BIGINT AS id',
      'CREATE OR REPLACE TABLE filtered.made (id BIGINT)',
      'CREATE VIEW filtered.seen AS SELECT 2::BIGINT AS id',
    ])
      await assert.rejects(ann.update(sql), { code: 'PERMISSION_DENIED' }, sql);
  });
});

describe('an ingest', () => {
  const ingest = (table: string, ids: readonly bigint[], regions: readonly (string | null)[]) => {
    const [schema = '', name = ''] = table.split('.');
    const columns = { id: vectorFromArray(ids, new Int64()), region: vectorFromArray(regions, new Utf8()) };
    return ann.ingest(
      { schema, table: name, ifNotExists: 'create', ifExists: 'append' },
      splitIpcStream(tableToIPC(new Table(columns), 'stream')),
    );
  };

  it('has its rows checked, and none is left of one that fails', async () => {
    assert.equal(await ingest('s.orders', [20n, 21n], ['EU', 'EU']), 2n);
    const before = await count('s.orders');
    await assert.rejects(ingest('s.orders', [22n, 23n], ['EU', 'US']), refused);
    await assert.rejects(ingest('s.orders', [24n], [null]), refused);
    assert.equal(await count('s.orders'), before);
    assert.equal(await ingest('filtered.sent', [2n], ['x']), 1n);
    await assert.rejects(ingest('filtered.not_sent', [2n, 5n], ['x', 'y']), { code: 'POLICY_CHECK_FAILED' });
    await assert.rejects(rows(admin, 'SELECT * FROM filtered.not_sent'), { code: 'TABLE_NOT_FOUND' });
  });

  it('and INSERT leave in the audit log which policies checked them', async () => {
    await ann.update("INSERT INTO s.orders VALUES (30, 'EU', 'audited')");
    await assert.rejects(ann.update("INSERT INTO s.orders VALUES (31, 'US', 'not taken')"), refused);
    const linesOf = async (text: string) =>
      (await readFile(join(folder, 'audit.log'), 'utf8'))
        .split('\n')
        .filter((line) => line.includes(text) && line.endsWith('}'))
        .map((line) => JSON.parse(line).policies);
    for (const text of ["'audited'", "'not taken'"]) {
      await until('it is in the audit log', async () => (await linesOf(text)).length > 0);
      assert.deepEqual((await linesOf(text))[0], ['sql:orders']);
    }
    const ofIngests = (await linesOf('rows of the client')).map((names) => names.join());
    assert.ok(ofIngests.includes('sql:orders'), ofIngests.join(' '));
  });
});
