/**
 * The service over Nessie and MinIO: users of an OpenID provider that Nessie knows too, and credentials for one table at a
 * time. Run by `npm run test:peers -- nessie`.
 */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { type OidcProvider, startOidcProvider } from '../../service/support/oidc-provider.js';
import { rows } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';
import type { MinioServer } from '../servers/minio-trace.js';
import { type StorageProxy, startStorageProxy } from '../servers/storage-proxy.js';

const { SVC_TEST_NESSIE = '{}' } = process.env;
const peers: {
  readonly storage: MinioServer;
  /** Where `startNessie` is to be imported from. */
  readonly nessieModule: string;
} = JSON.parse(SVC_TEST_NESSIE);

interface Nessie {
  readonly url: string;
  stop(): Promise<void>;
}

interface NessieModule {
  startNessie(
    folder: string,
    servers: { readonly storage: MinioServer; readonly issuer: string },
  ): Promise<Nessie>;
}

const users = { ada: { password: 'word of ada', roles: [] } };

describe('a service over Nessie', () => {
  let folder: string;
  let provider: OidcProvider;
  let nessie: Nessie;
  let storage: StorageProxy;
  let service: TestService;
  let ada: FlightClient;

  const serviceAt = (path: string, settings: Readonly<Record<string, string>> = {}) =>
    startService({
      config: {
        ...settings,
        'catalog.catalog_url': `${nessie.url}${path}`,
        'storage.s3_endpoint': storage.url,
        'auth.idp_url': provider.url,
        'auth.client_id': provider.clientId,
        'auth.client_secret': provider.clientSecret,
      },
    });
  const signedIn = async (to: TestService) => {
    const client = to.stranger();
    await client.signIn('ada', users.ada.password);
    return client;
  };

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'nessie-'));
    provider = await startOidcProvider({ users });
    storage = await startStorageProxy(peers.storage.endpoint);
    const { startNessie }: NessieModule = await import(peers.nessieModule);
    nessie = await startNessie(folder, { storage: peers.storage, issuer: provider.url });
    // Then its prefix has a sign that is escaped: `main|warehouse`.
    service = await serviceAt('/iceberg', { 'catalog.warehouse': 'warehouse' });
    ada = await signedIn(service);
  });
  after(async () => {
    await service?.[Symbol.asyncDispose]();
    await nessie?.stop();
    await storage?.[Symbol.asyncDispose]();
    await provider?.[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  it('comes with the token of its user, without which Nessie says nothing', async () => {
    assert.equal((await fetch(`${nessie.url}/iceberg/v1/config`)).status, 401);
    await ada.update('CREATE SCHEMA sales');
    assert.deepEqual(await rows(ada, 'SHOW TABLES FROM sales'), []);
  });

  it('makes, fills, reads and drops tables and views with the keys that Nessie gives out', async () => {
    await ada.update("CREATE TABLE sales.orders AS SELECT i AS id, 'n' || i AS name FROM range(1000) r(i)");
    await ada.update("INSERT INTO sales.orders VALUES (-1, 'late')");
    assert.deepEqual(await rows(ada, 'SELECT count(*), sum(id)::BIGINT FROM sales.orders'), [
      [1001n, 499_499n],
    ]);
    assert.deepEqual(await rows(ada, 'SELECT name FROM sales.orders WHERE id < 0'), [['late']]);
    await ada.update('CREATE VIEW sales.few AS SELECT id FROM sales.orders WHERE id < 10');
    assert.deepEqual(await rows(ada, 'SELECT count(*) FROM sales.few'), [[11n]]);
    const keys = new Set(storage.calls.map(({ accessKey }) => accessKey));
    assert.ok(keys.size > 0 && !keys.has(peers.storage.accessKeyId));
    await ada.update('DROP VIEW sales.few');
    await ada.update('DROP TABLE sales.orders');
    await assert.rejects(rows(ada, 'SELECT * FROM sales.orders'), { code: 'TABLE_NOT_FOUND' });
  });

  it('finds schemas and tables of any name', async () => {
    await ada.update('CREATE SCHEMA with');
    for (const name of ['a b ü', `x 'y' & "z"`, 'with.dot', '100%', 'a/b', 'plus+']) {
      const quoted = `"${name.replaceAll('"', '""')}"`;
      await ada.update(`CREATE SCHEMA ${quoted}`);
      await ada.update(`CREATE TABLE ${quoted}.${quoted} AS SELECT 7 AS id`);
      assert.deepEqual(await rows(ada, `SELECT id FROM ${quoted}.${quoted}`), [[7]]);
      assert.deepEqual(await rows(ada, `SHOW TABLES FROM ${quoted}`), [[name]]);
      await ada.update(`DROP TABLE ${quoted}.${quoted}`);
      await ada.update(`DROP SCHEMA ${quoted}`);
    }
  });

  it('reads and writes a branch by its address', async () => {
    await ada.update('CREATE TABLE sales.kept AS SELECT 1 AS id');
    await makeBranch('trial');
    await using other = await serviceAt('/iceberg/trial');
    const client = await signedIn(other);
    await client.update('INSERT INTO sales.kept VALUES (2)');
    await client.update('CREATE TABLE sales.extra AS SELECT 3 AS id');
    assert.deepEqual(await rows(client, 'SELECT count(*) FROM sales.kept'), [[2n]]);
    assert.deepEqual(await rows(ada, 'SELECT count(*) FROM sales.kept'), [[1n]]);
    await assert.rejects(rows(ada, 'SELECT * FROM sales.extra'), { code: 'TABLE_NOT_FOUND' });
  });

  /** From where `main` is, by Nessie's own API. */
  async function makeBranch(name: string): Promise<void> {
    const { access_token: token } = await provider.tokensOf('ada');
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const trees = `${nessie.url}/api/v2/trees`;
    const { reference }: { readonly reference: unknown } = JSON.parse(
      await (await fetch(`${trees}/main`, { headers })).text(),
    );
    const body = JSON.stringify(reference);
    const made = await fetch(`${trees}?name=${name}&type=BRANCH`, { method: 'POST', headers, body });
    assert.equal(made.status, 200, await made.text());
  }
});
