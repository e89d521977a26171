/** Statements about policies, over the wire: who may, what is checked, what is kept. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

let service: TestService;
let folder = '';
let admin: FlightClient;
let analyst: FlightClient;
const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-policy-statements-'));
  const tokensPath = join(folder, 'tokens.toml');
  const token = 'the-token-of-the-analyst';
  await writeFile(
    tokensPath,
    `[[token]]\nusername = "ann"\nroles = ["analyst"]\nsha256 = "${sha256(token)}"\n`,
  );
  const rulesPath = join(folder, 'rules.toml');
  await writeFile(
    rulesPath,
    'version = 1\n[[grants]]\nschema = "other"\nprivileges = ["SELECT"]\nto = ["nobody"]\n',
  );
  service = await startService({
    tables: standardTables,
    config: {
      'auth.static_tokens_path': tokensPath,
      'policy.rules_file': rulesPath,
      'metrics.audit_log_path': join(folder, 'audit.log'),
    },
  });
  admin = await service.client();
  analyst = service.stranger();
  analyst.useBearer(token);
});
after(async () => {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

describe('policies by SQL', () => {
  it('are made, shown to whom they concern, replaced and dropped', async () => {
    assert.deepEqual(
      await rows(
        admin,
        "CREATE POLICY north ON TABLE lake.SALES.Orders ROW FILTER (region = 'north') TO analyst, hr EXCEPT boss",
      ),
      [['Policy north holds on lake.sales.orders.']],
    );
    const shown = ['north', 'lake', 'sales', 'orders', 'ROW FILTER', null];
    assert.deepEqual(await rows(admin, 'SHOW POLICIES ON sales.orders'), [
      [...shown, "region = 'north'", 'analyst, hr', 'boss', 'sql'],
    ]);
    assert.deepEqual(await rows(analyst, 'SHOW POLICIES'), [[...shown, null, 'analyst', '', 'sql']]);
    assert.deepEqual(await rows(admin, 'SHOW POLICIES ON SCHEMA other'), []);
    await assert.rejects(rows(admin, 'CREATE POLICY North ON SCHEMA sales ROW FILTER (true) TO hr'), {
      code: 'ALREADY_EXISTS',
    });
    await rows(admin, 'CREATE OR REPLACE POLICY North ON SCHEMA sales ROW FILTER (true) TO hr');
    assert.deepEqual(await rows(analyst, 'SHOW POLICIES'), []);
    assert.deepEqual(await rows(admin, 'DROP POLICY north'), [['Policy north was dropped.']]);
    await assert.rejects(rows(admin, 'DROP POLICY north'), { code: 'POLICY_NOT_FOUND' });
    assert.match(String(await rows(admin, 'DROP POLICY IF EXISTS north')), /nothing had to be changed/);
  });

  it('are durable, and grants with them', async () => {
    await rows(admin, 'GRANT INSERT, SELECT ON sales.orders TO ROLE analyst, hr');
    await rows(admin, 'REVOKE SELECT ON sales.orders FROM ROLE hr');
    const place = ['lake', 'sales', 'orders'];
    assert.deepEqual(await rows(admin, 'SHOW GRANTS ON sales.orders'), [
      ['INSERT', ...place, 'analyst', 'sql'],
      ['INSERT', ...place, 'hr', 'sql'],
      ['SELECT', ...place, 'analyst', 'sql'],
    ]);
    assert.equal((await rows(analyst, 'SHOW GRANTS')).length, 2);
    const kept = JSON.parse(await readFile(join(service.folder, 'data', 'policies.json'), 'utf8'));
    assert.equal(kept.grants.length, 3);
    // What the rules file says stays its own.
    assert.ok((await rows(admin, 'SHOW GRANTS')).some((row) => row.includes('rules-file')));
    await rows(admin, 'REVOKE ALL ON sales.orders FROM ROLE analyst, hr');
  });

  it('are for admins only, and tell others nothing', async () => {
    const refused = { code: 'PERMISSION_DENIED', message: /admins only/ };
    for (const sql of [
      'CREATE POLICY p ON TABLE sales.orders ROW FILTER (true) TO analyst',
      'CREATE POLICY p ON TABLE sales.nowhere ROW FILTER (true) TO analyst',
      'DROP POLICY north',
      'GRANT ALL ON sales.orders TO ROLE analyst',
      'REVOKE ALL ON sales.nowhere FROM ROLE hr',
    ])
      await assert.rejects(rows(analyst, sql), refused, sql);
  });

  it('are on what there is', async () => {
    const on = (target: string) => rows(admin, `CREATE POLICY p ON ${target} ROW FILTER (true) TO analyst`);
    await assert.rejects(on('TABLE sales.nowhere'), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(on('SCHEMA nowhere'), { code: 'SCHEMA_NOT_FOUND' });
    await assert.rejects(on('TABLE elsewhere.sales.orders'), { code: 'CATALOG_NOT_FOUND' });
    await assert.rejects(on('TABLE information_schema.tables'), { code: 'INVALID_ARGUMENT' });
    await assert.rejects(on('TABLE sales."orders$files"'), { code: 'INVALID_ARGUMENT' });
    await assert.rejects(rows(admin, 'GRANT SELECT ON sales.nowhere TO ROLE a'), { code: 'TABLE_NOT_FOUND' });
    await assert.rejects(
      rows(admin, 'CREATE POLICY p ON TABLE sales.orders COLUMN MASK nowhere (NULL) TO analyst'),
      { code: 'BINDING_ERROR', message: /nowhere/ },
    );
  });

  it('leave who changed what in the log, by names, and the statement in the audit log', async () => {
    await rows(admin, "CREATE POLICY quiet ON TABLE sales.orders ROW FILTER (region = 'hidden word') TO hr");
    await rows(admin, 'DROP POLICY quiet');
    const lines = service.logLines.filter((line) => line.includes('an admin changed policies'));
    assert.ok(lines.some((line) => line.includes('"quiet"') && line.includes('create-policy')));
    assert.ok(lines.every((line) => !line.includes('hidden word')));
    let made: string | undefined;
    await until('the statement is in the audit log', async () => {
      const audit = await readFile(join(folder, 'audit.log'), 'utf8');
      made = audit.split('\n').find((line) => line.includes('CREATE POLICY quiet') && line.endsWith('}'));
      return made !== undefined;
    });
    assert.equal(JSON.parse(made ?? '{}').statement_type, 'policy');
  });

  it('are no more than described by preparing them', async () => {
    const { handle } = await admin.prepare(
      'CREATE POLICY prepared ON TABLE sales.orders ROW FILTER (true) TO hr',
    );
    assert.ok(handle !== undefined);
    assert.deepEqual(await rows(admin, 'SHOW POLICIES ON sales.orders'), []);
  });
});
