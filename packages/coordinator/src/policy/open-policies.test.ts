import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { type Config, createLogger, createMetrics, loadConfig, parseLogFilter } from '@svc/base';
import { openPolicies, type Policies } from './open-policies.js';

const signal = new AbortController().signal;
let folder = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-open-policies-'));
});
after(async () => await rm(folder, { recursive: true, force: true }));

const file = `version = 1

[[policies]]
name = "eu"
schema = "sales"
table = "orders"
row_filter = "region = 'EU'"
to = ["analyst"]
except = ["boss"]

[[policies]]
name = "ssn"
catalog = "lake"
schema = "sales"
column = "ssn"
mask = "NULL"
to = ["PUBLIC"]

[[grants]]
schema = "sales"
privileges = ["ALL"]
to = ["analyst", "boss"]
`;

describe('the policies of a service', () => {
  test('are those of SQL and of the rules file, with a version by what they say', async () => {
    const { policies, config } = await opened('both', { rules: file });
    const before = policies.current();
    assert.deepEqual(
      before.policies.map(({ origin, name, target: { catalog, schema, table } }) => [
        origin,
        name,
        catalog,
        schema,
        table,
      ]),
      [
        ['rules-file', 'eu', 'lake', 'sales', 'orders'],
        ['rules-file', 'ssn', 'lake', 'sales', undefined],
      ],
    );
    assert.equal(before.grants.length, 8);
    await policies.change(create('mine'), signal);
    assert.notEqual(policies.current().version, before.version);
    const same = await openPolicies(config, { ...parts(), now: () => 0 });
    assert.equal(same.current().version, policies.current().version);
    await policies.change({ kind: 'drop-policy', name: 'MINE', ifExists: false }, signal);
    assert.equal(policies.current().version, before.version);
    await assert.rejects(policies.change({ kind: 'drop-policy', name: 'eu', ifExists: false }, signal), {
      code: 'POLICY_NOT_FOUND',
    });
    await Promise.all([policies.close(), same.close()]);
  });

  test('follow the rules file once it is still, and keep what holds, loudly, while it is wrong', async () => {
    const { policies, path, log, metrics } = await opened('file', { rules: file });
    const before = policies.current();
    await replace(path, `${file}\n[[policies]]\nname = "half`);
    await policies.refresh();
    assert.equal(log.length, 0, 'it may still be written');
    await policies.refresh();
    await policies.refresh();
    assert.equal(policies.current(), before);
    assert.deepEqual(
      log.map((line) => JSON.parse(line).level),
      ['warn'],
    );
    assert.match(await metrics.text(), /svc_policy_loads_total\{source="rules_file",outcome="failed"\} 1/);
    await rm(path);
    await policies.refresh();
    await policies.refresh();
    assert.equal(policies.current(), before);
    await replace(path, 'version = 1\n');
    await policies.refresh();
    await policies.refresh();
    assert.deepEqual([policies.current().policies, policies.current().grants], [[], []]);
    await policies.close();
  });

  test('that are wrong at the start do not start', async () => {
    for (const rules of ['version = 1\n[[policies]]\n', 'version = 1\npolicy = []\n', 'x', ''])
      await assert.rejects(opened(`wrong${rules.length}`, { rules }), { code: 'CONFIGURATION_ERROR' });
    const missing = configOf('missing', { 'policy.rules_file': join(folder, 'nowhere.toml') });
    await assert.rejects(openPolicies(missing, { ...parts(), now: () => 0 }), {
      code: 'CONFIGURATION_ERROR',
    });
  });
});

function create(name: string) {
  const target = { catalog: 'lake', schema: 's', table: 't' };
  const rule = { kind: 'row-filter', expression: 'true' } as const;
  return {
    kind: 'create-policy',
    policy: { name, origin: 'sql', target, rule, roles: ['a'], except: [] },
    orReplace: false,
  } as const;
}

function parts(log: string[] = []) {
  const logger = createLogger('svc', { write: (line) => log.push(line), filter: parseLogFilter('warn') });
  return { logger, metrics: createMetrics() };
}

function configOf(name: string, settings: Readonly<Record<string, string>>): Config {
  const environment = Object.fromEntries(
    Object.entries({ 'server.data_dir': join(folder, name), ...settings }).map(([key, value]) => [
      `SVC_${key.replace('.', '__').toUpperCase()}`,
      value,
    ]),
  );
  return loadConfig({ environment });
}

async function opened(name: string, { rules }: { readonly rules: string }) {
  const path = join(folder, `${name}.toml`);
  await writeFile(path, rules);
  const log: string[] = [];
  const config = configOf(name, { 'policy.rules_file': path });
  const { logger, metrics } = parts(log);
  const policies: Policies = await openPolicies(config, { logger, metrics, now: () => 0 });
  return { policies, config, path, log, metrics };
}

async function replace(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text);
  await rename(`${path}.new`, path);
}
