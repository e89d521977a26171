/**
 * The service while its REST catalog is down: what still works and for how long, what fails at once, and that it recovers
 * (docs/catalogs.md, "Without the catalog"). Run by `npm run test:peers -- rest`.
 */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { type OidcProvider, startOidcProvider } from '../../service/support/oidc-provider.js';
import { rows, value } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';
import { until } from '../../service/support/until.js';
import { type CatalogProxy, startCatalogProxy } from '../servers/catalog-proxy.js';
import type { MinioServer } from '../servers/minio-trace.js';
import { type StorageProxy, startStorageProxy } from '../servers/storage-proxy.js';

const { SVC_TEST_REST = '{}' } = process.env;
const server: { readonly url: string; readonly storage: MinioServer } = JSON.parse(SVC_TEST_REST);

const users = { ada: { password: 'word of ada', roles: [] }, bob: { password: 'word of bob', roles: [] } };
const contextSeconds = 30;
const sum = 'SELECT sum(id)::BIGINT FROM outage.t';
const down = { code: 'CATALOG_ERROR', message: /could not be reached|answers 503|left alone/ };
const leftAlone = { code: 'CATALOG_ERROR', message: /left alone/ };

let provider: OidcProvider;
let catalog: CatalogProxy;
let storage: StorageProxy;
let service: TestService;
let nowMs = Date.now();
let ada: FlightClient;
let bob: FlightClient;

before(async () => {
  provider = await startOidcProvider({ users, tokenSeconds: 3600 });
  // The provider's tokens are opaque to the proxy here: who it is does not matter while nobody is answered.
  catalog = await startCatalogProxy(server.url, () => 'somebody');
  storage = await startStorageProxy(server.storage.endpoint);
  service = await startService({
    config: {
      'catalog.catalog_url': catalog.url,
      'storage.s3_endpoint': storage.url,
      'coordinator.session_context_cache_ttl_secs': contextSeconds,
      'auth.idp_url': provider.url,
      'auth.client_id': provider.clientId,
      'auth.client_secret': provider.clientSecret,
    },
    now: () => nowMs,
  });
  [ada, bob] = [await signedIn('ada'), await signedIn('bob')];
  await ada.update('CREATE SCHEMA outage');
  await ada.update('CREATE TABLE outage.t AS SELECT i AS id, i AS unread FROM range(1000) r(i)');
  await ada.update('CREATE VIEW outage.v AS SELECT id + 1 AS id FROM outage.t');
  await bob.update('CREATE TABLE outage.other (id INT)');
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await storage?.[Symbol.asyncDispose]();
  await catalog?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});

async function signedIn(user: keyof typeof users): Promise<FlightClient> {
  const client = service.stranger();
  await client.signIn(user, users[user].password);
  return client;
}

describe('a catalog that is down', () => {
  before(async () => {
    assert.equal(await value(ada, sum), 499_500n);
    assert.equal(await value(ada, 'SELECT max(id) FROM outage.v'), 1000n);
    catalog.fault = () => ({ when: 'before', status: 503 });
  });

  it('leaves a user what it told that user', async () => {
    assert.equal(await value(ada, sum), 499_500n);
    assert.equal(await value(ada, 'SELECT max(id) FROM outage.v'), 1000n);
    assert.equal((await rows(ada, 'DESCRIBE outage.t')).length, 2);
  });

  it('leaves nobody what it told another, and nothing that it was not asked before', async () => {
    await assert.rejects(rows(bob, sum), down);
    await assert.rejects(rows(ada, 'SELECT * FROM outage.other'), down);
  });

  it('takes nothing, and makes nothing look as if it were not there', async () => {
    await assert.rejects(ada.update('INSERT INTO outage.t VALUES (1, 1)'), down);
    await assert.rejects(ada.update('CREATE TABLE outage.new (id INT)'), down);
    await assert.rejects(ada.update('DROP TABLE IF EXISTS outage.other'), down);
  });

  it('is left alone after five requests in a row, and statements fail at once', async () => {
    await until('the breaker opens', async () => {
      const error = await rows(bob, sum).then(
        () => undefined,
        (caught: unknown) => caught,
      );
      return leftAlone.message.test(String(error));
    });
    const { length } = catalog.calls;
    for (const sql of [sum, 'SHOW SCHEMAS', 'SELECT * FROM outage.v'])
      await assert.rejects(rows(bob, sql), leftAlone);
    assert.equal(catalog.calls.length, length);
  });

  it('is not needed by statements without tables, for signing in, or by what was told before', async () => {
    assert.equal(await value(await signedIn('ada'), 'SELECT 1'), 1);
    assert.equal((await rows(bob, 'SHOW CATALOGS')).length, 1);
    assert.equal(await value(ada, sum), 499_500n);
  });

  it('cannot be asked for credentials: files that are not staged are read until these have ended', async () => {
    await until('the credentials have ended', () =>
      [...catalog.keys.values()].every(({ expiresMs }) => expiresMs < Date.now()),
    );
    await assert.rejects(rows(ada, 'SELECT sum(unread) FROM outage.t'), down);
    assert.equal(await value(ada, sum), 499_500n);
  });

  it('was heard long ago: a right that cannot be checked is no right, whatever is staged', async () => {
    nowMs += contextSeconds * 1000 - 1000;
    assert.equal(await value(ada, sum), 499_500n);
    nowMs += 1000;
    const { length } = storage.calls;
    for (const sql of [
      sum,
      'SELECT count(*) FROM outage.t',
      'SELECT max(id) FROM outage.v',
      'DESCRIBE outage.t',
    ])
      await assert.rejects(rows(ada, sql), down);
    assert.equal(storage.calls.length, length);
  });

  it('is asked again when it is back, also about rights that went meanwhile', async () => {
    catalog.fault = () => undefined;
    catalog.refuse = ({ path }) => (path.endsWith('/tables/t') ? 403 : undefined);
    await until(
      'the breaker closes',
      async () => (await rows(ada, 'SHOW SCHEMAS').catch(() => [])).length > 0,
      15_000,
    );
    await assert.rejects(rows(ada, sum), { code: 'PERMISSION_DENIED' });
    catalog.refuse = () => undefined;
    assert.equal(await value(ada, sum), 499_500n);
    assert.equal(await value(bob, sum), 499_500n);
    assert.equal(await ada.update('INSERT INTO outage.t VALUES (1, 1)'), 1n);
    assert.equal((await rows(ada, "SHOW TABLES IN outage LIKE 'new'")).length, 0);
  });
});
