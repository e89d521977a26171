/** Rules that two processes share on real object storage. Run by `npm run test:peers -- policies`. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { createS3Store } from '@svc/lake';
import { rows } from '../../service/support/results.js';
import { until } from '../../service/support/until.js';
import { openTcpGate, type TcpGate } from '../servers/tcp-gate.js';
import {
  type CoordinatorPlace,
  launchCoordinator,
  type PolicyCoordinator,
  startCoordinator,
} from './policy-coordinators.js';

const { SVC_TEST_S3 = '{}' } = process.env;
const server: {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly bucket: string;
} = JSON.parse(SVC_TEST_S3);
const location = `s3://${server.bucket}/rules/policies.json`;
const store = createS3Store({
  endpoint: server.endpoint,
  access: { kind: 'provider', provide: async () => server },
});

let folder = '';
let gate: TcpGate;
let one: PolicyCoordinator;
let other: PolicyCoordinator;
const place = (name: string): CoordinatorPlace => ({
  ...{ location, endpoint: gate.url, folder: join(folder, name), warehouse: join(folder, 'warehouse') },
  ...{ accessKeyId: server.accessKeyId, secretAccessKey: server.secretAccessKey },
});

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-shared-policies-'));
  gate = await openTcpGate(server.endpoint);
  one = await startCoordinator(place('one'));
  other = await startCoordinator(place('other'));
  await one.client.update('CREATE SCHEMA s');
  await one.client.update('CREATE TABLE s.t AS SELECT i AS id FROM range(100) r(i)');
});
after(async () => {
  await one?.[Symbol.asyncDispose]();
  await other?.[Symbol.asyncDispose]();
  await gate[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

const both = () => [one, other];
/** A statement that is planned just before the rules change is asked again, as clients do. */
async function asked({ client }: PolicyCoordinator, sql: string): Promise<readonly (readonly unknown[])[]> {
  for (;;)
    try {
      return await rows(client, sql);
    } catch (error) {
      if (!(error instanceof QueryError) || error.code !== 'POLICY_CHANGED') throw error;
    }
}
const shown = async (coordinator: PolicyCoordinator) =>
  (await asked(coordinator, 'SELECT count(*) FROM s.t'))[0]?.[0];
const policiesAt = async (coordinator: PolicyCoordinator) =>
  (await asked(coordinator, 'SHOW POLICIES')).map(([name]) => name);
const warnings = (coordinator: PolicyCoordinator) =>
  coordinator.written().split('policies could not be read').length - 1;
const objectText = async () => Buffer.from(await store.read(location)).toString();

describe('a change', () => {
  it('holds at once where it was made, and soon elsewhere', async (t) => {
    const took: number[] = [];
    for (let limit = 10; limit <= 50; limit += 10) {
      await one.client.update(
        `CREATE OR REPLACE POLICY few ON TABLE s.t ROW FILTER (id < ${limit}) TO admin`,
      );
      const began = performance.now();
      await until('it holds elsewhere', async () =>
        (await asked(other, 'SHOW POLICIES')).some((row) => row.includes(`id < ${limit}`)),
      );
      took.push(Math.round(performance.now() - began));
      for (const each of both()) assert.equal(await shown(each), BigInt(limit));
    }
    t.diagnostic(`until it held elsewhere: ${took.join(', ')} ms`);
  });

  it('is lost by none of two that are made at once', async (t) => {
    const make = async ({ client }: PolicyCoordinator, prefix: string): Promise<void> => {
      const names = Array.from({ length: 20 }, (_none, index) => `${prefix}_${index}`);
      await Promise.all(
        names.map((name) => client.update(`CREATE POLICY ${name} ON SCHEMA s ROW FILTER (true) TO nobody`)),
      );
    };
    const began = performance.now();
    await Promise.all([make(one, 'a'), make(other, 'b')]);
    t.diagnostic(`2 x 20 at once took ${Math.round(performance.now() - began)} ms`);
    const document = JSON.parse(await objectText());
    assert.equal(document.policies.length, 41);
    for (const each of both())
      await until('both know all', async () => (await policiesAt(each)).length === 41);
    const drop = async ({ client }: PolicyCoordinator, prefix: string): Promise<void> => {
      for (let index = 0; index < 20; index++) await client.update(`DROP POLICY ${prefix}_${index}`);
    };
    // Each drops what the other one made.
    await Promise.all([drop(one, 'b'), drop(other, 'a')]);
    assert.equal(JSON.parse(await objectText()).policies.length, 1);
  });
});

describe('an object that cannot be used', () => {
  /** Old rules hold at both, both say so, and nothing is changed; then all is as before. */
  async function keepsRules(
    code: string | RegExp,
    damage: () => Promise<void>,
    repair: () => Promise<void>,
  ): Promise<void> {
    const before = both().map(warnings);
    await damage();
    await until('both have noticed', async () =>
      both().every((each, index) => warnings(each) > (before[index] ?? 0)),
    );
    for (const each of both()) {
      assert.equal(await shown(each), 50n);
      await assert.rejects(
        each.client.update('CREATE POLICY p ON SCHEMA s ROW FILTER (true) TO nobody'),
        (error: { code: string; message: string }) => {
          assert.match(error.code, new RegExp(code));
          assert.doesNotMatch(error.message, new RegExp(server.secretAccessKey));
          return true;
        },
      );
    }
    await repair();
    for (const [index, each] of both().entries()) {
      const name = `repaired_${index}`;
      await until('it can be changed again', async () =>
        each.client.update(`CREATE OR REPLACE POLICY ${name} ON SCHEMA s ROW FILTER (true) TO nobody`).then(
          () => true,
          () => false,
        ),
      );
      await each.client.update(`DROP POLICY ${name}`);
    }
  }

  it('keeps the rules from before when it is damaged, gone, or out of reach', async () => {
    const good = await objectText();
    const write = async (text: string) => void (await store.write(location, Buffer.from(text)));
    const repair = () => write(good);
    await keepsRules('CONFIGURATION_ERROR', () => write(good.slice(0, 40)), repair);
    // A failure that lasts is said once a minute: it must be over before the next one is.
    await settled();
    await keepsRules('CONFIGURATION_ERROR', () => write(good.replace('row_filter', 'row_filters')), repair);
    await settled();
    await keepsRules('STORAGE_ERROR', () => store.delete(location), repair);
    await settled();
    await keepsRules(
      /^(STORAGE_ERROR|STORAGE_UNAVAILABLE)$/,
      async () => gate.close(),
      async () => gate.open(),
    );
  });

  /** Both have looked at the repaired object: what they say next is about another fault. */
  async function settled(): Promise<void> {
    const name = 'settled';
    await one.client.update(`CREATE POLICY ${name} ON SCHEMA s ROW FILTER (true) TO nobody`);
    await until('the other looks again', async () => (await policiesAt(other)).includes(name));
    await other.client.update(`DROP POLICY ${name}`);
    await until('the first looks again', async () => !(await policiesAt(one)).includes(name));
  }

  it('keeps a process from starting, and says why', async () => {
    const good = await objectText();
    await store.write(location, Buffer.from('not JSON'));
    try {
      const svc = await launchCoordinator(place('third'));
      const [code] = await svc.exit;
      assert.equal(code, 1);
      assert.match(svc.stdout() + svc.stderr(), /rules\/policies\.json are not valid: it is not JSON/);
    } finally {
      await store.write(location, Buffer.from(good));
    }
  });
});

describe('the keys of the storage', () => {
  it('are in no log, also where they are wrong', async () => {
    const wrong = { ...place('fourth'), secretAccessKey: 'a-wrong-secret-of-the-operator' };
    const svc = await launchCoordinator(wrong);
    const [code] = await svc.exit;
    assert.equal(code, 1);
    const logs = await Promise.all(
      ['one', 'other'].map((name) => readFile(join(folder, name, 'audit.log'), 'utf8')),
    );
    const written = [svc.stdout(), svc.stderr(), one.written(), other.written(), ...logs].join('\n');
    assert.ok(logs.every((log) => log.includes('CREATE OR REPLACE POLICY')));
    for (const key of [server.secretAccessKey, server.accessKeyId, wrong.secretAccessKey])
      assert.ok(!written.includes(key));
  });
});
