/**
 * Two users, one worker and one function: each is read for with the credentials of its own, and nothing of a query is left
 * in what they write. Run by `npm run test:peers -- fragments`.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { freePorts } from '../../service/support/free-ports.js';
import { type OidcProvider, startOidcProvider } from '../../service/support/oidc-provider.js';
import { value } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';
import { until } from '../../service/support/until.js';
import { type CatalogProxy, startCatalogProxy } from '../servers/catalog-proxy.js';
import { type StorageProxy, startStorageProxy } from '../servers/storage-proxy.js';
import { servers } from './servers.js';
import { WorkerSlot, workerSecret } from './worker-slot.js';

const users = {
  ada: { password: 'planted word of ada', roles: [] },
  bob: { password: 'planted word of bob', roles: [] },
};
const sum = 'SELECT sum(id)::BIGINT FROM private.t';
const total = 4_999_950_000n;

let folder: string;
let provider: OidcProvider;
let catalog: CatalogProxy;
let storage: StorageProxy;
let worker: WorkerSlot;
let service: TestService;
let ada: FlightClient;
let bob: FlightClient;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-leftovers-'));
  provider = await startOidcProvider({ users, tokenSeconds: 3600 });
  catalog = await startCatalogProxy(servers.url, userOf);
  storage = await startStorageProxy(servers.storage.endpoint);
  const [port = 0] = await freePorts(1);
  worker = new WorkerSlot(join(folder, 'worker'), port);
  await worker.start();
  service = await startService({
    config: {
      'catalog.catalog_url': catalog.url,
      'storage.s3_endpoint': storage.url,
      'coordinator.session_context_cache_ttl_secs': 0,
      'auth.idp_url': provider.url,
      'auth.client_id': provider.clientId,
      'auth.client_secret': provider.clientSecret,
      'worker.secret': workerSecret,
      'worker.addresses': worker.address,
      'worker.heartbeat_interval_secs': 0.2,
      'fragments.split_bytes': servers.splitBytes,
    },
  });
  await until('the worker is known', async () => (await service.metric('svc_healthy_workers')) === 1, 30_000);
  [ada, bob] = [await signedIn('ada'), await signedIn('bob')];
  await ada.update('CREATE SCHEMA private');
  await ada.update('CREATE TABLE private.t AS SELECT i AS id FROM range(100000) r(i)');
  for (const client of [ada, bob]) await client.update("SET svc.execution = 'workers'");
});
after(async () => {
  // The catalog is that of other tests too.
  await ada?.update('DROP TABLE private.t');
  await ada?.update('DROP SCHEMA private');
  await service?.[Symbol.asyncDispose]();
  await worker?.kill();
  await storage?.[Symbol.asyncDispose]();
  await catalog?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});
beforeEach(() => {
  catalog.refuse = () => undefined;
  storage.calls.length = 0;
});

describe('a worker of two users', () => {
  it('reads for each with keys of its own', async () => {
    for (const [client, name] of [
      [ada, 'ada'],
      [bob, 'bob'],
    ] as const) {
      storage.calls.length = 0;
      assert.equal(await value(client, sum), total);
      assert.deepEqual(ownersOfRequests(), [name]);
    }
    assert.ok((await tasks()) >= 2);
  });

  it('answers nothing of what a user may not load, whatever it has read for another one', async () => {
    assert.equal(await value(ada, sum), total);
    catalog.refuse = ({ path, user }) => (user === 'bob' && path.endsWith('/tables/t') ? 403 : undefined);
    storage.calls.length = 0;
    const before = await tasks();
    await assert.rejects(value(bob, sum), { code: 'PERMISSION_DENIED' });
    assert.deepEqual([storage.calls.length, (await tasks()) - before], [0, 0]);
  });

  it('keeps nothing of a query but what its cache may', async () => {
    for (const text of [
      sum,
      'SELECT count(*) FROM private.t a JOIN private.t b ON a.id = b.id WHERE a.id > 7',
    ])
      await value(ada, text);
    await assert.rejects(
      value(ada, "SELECT (id || 'planted-word')::BIGINT + sum(id) FROM private.t GROUP BY id"),
    );
    await until('nothing is staged', async () => (await staged()).length === 0);
    const [files, secrets] = [await contents(folder), secretsOfAll()];
    for (const secret of secrets) {
      assert.ok(!worker.output.includes(secret), `the log has ${secret}`);
      for (const { path, bytes } of files) assert.ok(!bytes.includes(secret), `${path} has ${secret}`);
      assert.ok(
        !service.logLines.some((line) => line.includes(secret)),
        `the coordinator's log has ${secret}`,
      );
    }
    assert.ok(secrets.length > 10);
    assert.doesNotMatch(worker.output, /planted|FROM private|eyJ/);
  });
});

function secretsOfAll(): readonly string[] {
  return [workerSecret, users.ada.password, users.bob.password, provider.clientSecret, ...catalog.secrets];
}

async function tasks(): Promise<number> {
  const text = await (await fetch(worker.metricsUrl)).text();
  return Number(/^svc_worker_tasks_total\{outcome="finished"\} (\d+)$/m.exec(text)?.[1]);
}

/** What lies in the folders of the engines, but for the lock of their process. */
async function staged(): Promise<readonly string[]> {
  const engines = join(worker.folder, 'data', 'engine');
  const entries = await readdir(engines, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.lock')).map(({ name }) => name);
}

async function contents(root: string) {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(async (entry) => {
        const path = join(entry.parentPath, entry.name);
        return { path, bytes: await readFile(path) };
      }),
  );
}

/** Whose credentials the requests to storage had, all of which were of a file that these credentials are for. */
function ownersOfRequests(): readonly string[] {
  const owners = storage.calls.map(({ accessKey, location }) => {
    const key = catalog.keys.get(accessKey);
    assert.ok(key !== undefined, `${location} was asked for with a key that nobody was given`);
    assert.ok(location.startsWith(`${key.prefix}/`), `${location} with a key for ${key.prefix}`);
    return key.user;
  });
  return [...new Set(owners)];
}

async function signedIn(user: keyof typeof users): Promise<FlightClient> {
  const client = service.stranger();
  await client.signIn(user, users[user].password);
  return client;
}

/** The provider's tokens say who. */
function userOf(token: string): string | undefined {
  try {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).preferred_username;
  } catch {
    return undefined;
  }
}
