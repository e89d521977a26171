/** Schemas, as far as policies let their user see and change them: `ann` has the role `analyst`, the local user is the admin. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { getSchemasCommand, getTablesCommand, sessionOptions } from '../service/support/messages.js';
import { readTicket, rows, rowsOf } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';

const token = 'the-token-of-ann';

interface Opened {
  readonly service: TestService;
  readonly admin: FlightClient;
  readonly ann: FlightClient;
}

async function open(folder: string, access: 'allow' | 'deny'): Promise<Opened> {
  const sha256 = createHash('sha256').update(token).digest('hex');
  const tokensPath = join(folder, 'tokens.toml');
  await writeFile(tokensPath, `[[token]]\nusername = "ann"\nroles = ["analyst"]\nsha256 = "${sha256}"\n`);
  const service = await startService({
    tables: Object.fromEntries(
      ['plain', 'theirs', 'own', 'mixed', 'filtered'].map((schema) => [`${schema}.t`, 'SELECT 1 AS id']),
    ),
    config: { 'auth.static_tokens_path': tokensPath, 'policy.default': access },
  });
  const admin = await service.client();
  const ann = service.stranger();
  ann.useBearer(token);
  for (const sql of [
    'GRANT ALL ON SCHEMA theirs TO ROLE hr',
    'GRANT SELECT ON SCHEMA own TO ROLE analyst, hr',
    'GRANT SELECT ON TABLE mixed.t TO ROLE hr',
    'CREATE POLICY f ON SCHEMA filtered ROW FILTER (true) TO hr EXCEPT admin',
  ])
    await admin.update(sql);
  return { service, admin, ann };
}

/** By every door: what a user is told that there is. */
async function schemasOf(client: FlightClient): Promise<readonly string[]> {
  const names = (answer: readonly (readonly unknown[])[], column: number): string =>
    [...new Set(answer.map((row) => String(row[column])))].sort().join(' ');
  const told = async (command: Uint8Array): Promise<readonly (readonly unknown[])[]> =>
    rowsOf(await readTicket(client, (await client.plan(command)).tickets[0]));
  const shown = names(await rows(client, 'SHOW SCHEMAS'), 0);
  const own = `schema_name <> 'information_schema'`;
  const doors: Readonly<Record<string, string>> = {
    schemata: names(
      await rows(client, `SELECT schema_name FROM information_schema.schemata WHERE ${own}`),
      0,
    ),
    GetDbSchemas: names(await told(getSchemasCommand()), 1),
  };
  for (const [door, answer] of Object.entries(doors)) assert.equal(answer, shown, door);
  return shown.split(' ');
}

let folder = '';
let allowing: Opened;
let denying: Opened;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-policy-listing-'));
  allowing = await open(folder, 'allow');
  denying = await open(folder, 'deny');
});
after(async () => {
  await allowing.service[Symbol.asyncDispose]();
  await denying.service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const all = ['filtered', 'mixed', 'own', 'plain', 'theirs'];

/** What a user is told of tables, by two doors. */
async function tablesOf(client: FlightClient): Promise<readonly string[]> {
  const { tickets } = await client.plan(getTablesCommand({ includeSchema: true }));
  const listed = rowsOf(await readTicket(client, tickets[0])).map((row) => `${row[1]}.${row[2]}`);
  const shown = await rows(
    client,
    "SELECT table_schema || '.' || table_name FROM information_schema.tables WHERE table_schema <> 'information_schema'",
  );
  assert.deepEqual(listed.sort(), shown.flat().sort());
  return listed;
}

describe('the list of schemas', () => {
  it('has those in which a user may do something with a table that is there or could be', async () => {
    assert.deepEqual(await schemasOf(allowing.ann), ['mixed', 'own', 'plain']);
    assert.deepEqual(await schemasOf(denying.ann), ['own']);
    assert.deepEqual(await tablesOf(allowing.ann), ['own.t', 'plain.t']);
    assert.deepEqual(await tablesOf(denying.ann), ['own.t']);
  });

  it('has all for admins, and all tables', async () => {
    for (const { admin } of [allowing, denying]) {
      assert.deepEqual(await schemasOf(admin), all);
      assert.deepEqual(
        await tablesOf(admin),
        all.map((schema) => `${schema}.t`),
      );
    }
  });

  it('is what can be used, and no more', async () => {
    for (const { ann } of [allowing, denying]) {
      const listed = await schemasOf(ann);
      for (const schema of [...all, 'nowhere'])
        if (listed.includes(schema)) await ann.update(`USE ${schema}`);
        else await assert.rejects(ann.update(`USE ${schema}`), { code: 'SCHEMA_NOT_FOUND' }, schema);
    }
  });

  it('is what Flight sets as an option of the session, and no more', async () => {
    for (const { ann } of [allowing, denying]) {
      const listed = await schemasOf(ann);
      for (const schema of [...all, 'nowhere']) {
        const [errors] = await ann.action('SetSessionOptions', sessionOptions({ schema }));
        const isRefused = Buffer.from(errors ?? []).includes('schema');
        assert.equal(isRefused, !listed.includes(schema), schema);
      }
    }
  });

  it('is in no policy or grant that is shown', async () => {
    const { admin, ann } = allowing;
    for (const sql of [
      'CREATE SCHEMA secret',
      'CREATE TABLE secret.t (id INT, salary INT)',
      'GRANT SELECT ON SCHEMA secret TO ROLE hr',
      'CREATE POLICY a_secret ON TABLE secret.t COLUMN MASK salary (NULL) TO analyst EXCEPT admin',
      'CREATE POLICY b_secret ON SCHEMA secret ROW FILTER (id > 0) TO PUBLIC EXCEPT admin',
      'CREATE POLICY c_plain ON TABLE plain.t ROW FILTER (id > 0) TO analyst EXCEPT admin',
      'GRANT SELECT ON TABLE filtered.t TO ROLE analyst',
    ])
      await admin.update(sql);
    const shown = async (client: FlightClient, sql: string) =>
      (await rows(client, sql)).map(([name]) => name);
    assert.deepEqual(await shown(admin, 'SHOW POLICIES'), ['a_secret', 'b_secret', 'c_plain', 'f']);
    assert.deepEqual(await shown(ann, 'SHOW POLICIES'), ['c_plain']);
    assert.deepEqual(await shown(ann, 'SHOW POLICIES ON SCHEMA secret'), []);
    assert.deepEqual(await shown(ann, 'SHOW POLICIES ON secret.t'), []);
    // Its schema has a filter that is for others only.
    const grants = await rows(ann, 'SHOW GRANTS');
    assert.deepEqual(
      grants.map(([, , schema]) => schema),
      ['own'],
    );
    for (const sql of [
      'DROP POLICY a_secret',
      'DROP POLICY b_secret',
      'DROP POLICY c_plain',
      'DROP TABLE secret.t',
      'DROP SCHEMA secret',
      'REVOKE SELECT ON SCHEMA secret FROM ROLE hr',
      'REVOKE SELECT ON TABLE filtered.t FROM ROLE analyst',
    ])
      await admin.update(sql);
  });

  it('is in no message', async () => {
    const { ann, admin } = allowing;
    for (const sql of ['SHOW TABLES IN theirz', 'SELECT * FROM theirz.t', 'CREATE TABLE theirz.x (id INT)'])
      await assert.rejects(rows(ann, sql), ({ code, message }: { code: string; message: string }) => {
        assert.equal(code, 'SCHEMA_NOT_FOUND', sql);
        assert.doesNotMatch(message, /theirs/, sql);
        return true;
      });
    await assert.rejects(rows(admin, 'SHOW TABLES IN theirz'), { message: /theirs/ });
    await assert.rejects(ann.update('DROP SCHEMA mixed'), {
      code: 'SCHEMA_NOT_EMPTY',
      message: 'Schema "mixed" is not empty.',
    });
  });
});

describe('schemas and tables', () => {
  const denied = (sql: string) =>
    assert.rejects(allowing.ann.update(sql), { code: 'PERMISSION_DENIED' }, sql);

  it('are made and dropped by whom the rules let', async () => {
    const { ann } = allowing;
    await ann.update('CREATE SCHEMA fresh');
    await ann.update('CREATE TABLE fresh.t (id INT)');
    await ann.update('DROP TABLE fresh.t');
    await ann.update('DROP SCHEMA fresh');
    for (const schema of ['theirs', 'own', 'mixed', 'filtered']) await denied(`DROP TABLE ${schema}.t`);
    await denied('CREATE TABLE theirs.x AS SELECT 1 AS id');
    await denied('CREATE VIEW theirs.x AS SELECT 1 AS id');
  });

  it('are not dropped and made by others once they are empty', async () => {
    const { admin } = allowing;
    await admin.update('DROP TABLE theirs.t');
    await assert.rejects(allowing.ann.update('DROP SCHEMA theirs'), {
      code: 'PERMISSION_DENIED',
      message: 'You may not drop schema lake.theirs.',
    });
    await admin.update('DROP SCHEMA theirs');
    await assert.rejects(allowing.ann.update('CREATE SCHEMA THEIRS'), {
      code: 'PERMISSION_DENIED',
      message: 'You may not make schema lake.THEIRS.',
    });
    await admin.update('CREATE SCHEMA theirs');
  });

  it('are replaced with both privileges only', async () => {
    const { admin, ann } = allowing;
    await admin.update('GRANT DELETE ON SCHEMA own TO ROLE analyst');
    await denied('CREATE OR REPLACE TABLE own.t AS SELECT 2 AS id');
    await denied('CREATE OR REPLACE TABLE own.t (id INT)');
    await denied('INSERT INTO own.t VALUES (2)');
    await ann.update('DROP TABLE own.t');
    await denied('CREATE TABLE own.t (id INT)');
  });

  it('are made by admins alone where what no rule names is denied', async () => {
    const { admin, ann } = denying;
    for (const sql of ['CREATE SCHEMA fresh', 'DROP SCHEMA own', 'DROP SCHEMA plain', 'DROP TABLE plain.t'])
      await assert.rejects(ann.update(sql), { code: 'PERMISSION_DENIED' }, sql);
    await admin.update('CREATE SCHEMA fresh');
    await admin.update('DROP SCHEMA fresh');
  });
});

describe('information_schema behind a view of its definer', () => {
  it('is what its reader is told, in whatever order a statement names both', async () => {
    const { admin, ann } = allowing;
    const definer = "TBLPROPERTIES ('svc.security' = 'definer')";
    await admin.update(
      `CREATE VIEW plain.listed ${definer} AS SELECT table_schema FROM information_schema.tables WHERE table_name = 't'`,
    );
    const told = (client: FlightClient, from: string) =>
      rows(client, `SELECT DISTINCT table_schema FROM ${from} ORDER BY 1`);
    const direct = "information_schema.tables WHERE table_name = 't'";
    const anns = (await told(ann, direct)).flat();
    assert.ok(anns.includes('plain') && !anns.includes('theirs'));
    assert.deepEqual((await told(ann, 'plain.listed')).flat(), anns);
    assert.deepEqual(await told(admin, 'plain.listed'), await told(admin, direct));
    for (const from of [
      'plain.listed l, information_schema.tables t',
      'information_schema.tables t, plain.listed l',
    ]) {
      const both = await rows(
        ann,
        `SELECT DISTINCT t.table_schema, l.table_schema FROM ${from} WHERE t.table_name = 't' ORDER BY ALL`,
      );
      const expected = anns.flatMap((one) => anns.map((other) => [one, other]));
      assert.deepEqual(both, expected, from);
    }
  });
});
