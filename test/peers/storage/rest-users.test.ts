/**
 * The service over a REST catalog that knows its users: whose token and whose credentials each request has, who is refused
 * what, and what becomes of credentials that end and of commits whose answer is lost. Run by `npm run test:peers -- rest`.
 */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import {
  createAppend,
  createMetadataFiles,
  createRestCatalogs,
  describeDataFile,
  planFiles,
} from '@svc/lake';
import { type OidcProvider, startOidcProvider } from '../../service/support/oidc-provider.js';
import { rows, value } from '../../service/support/results.js';
import { startService, type TestService } from '../../service/support/service.js';
import { type CatalogCall, type CatalogProxy, startCatalogProxy } from '../servers/catalog-proxy.js';
import { type MinioServer, type MinioTrace, startMinioTrace } from '../servers/minio-trace.js';
import { type StorageProxy, startStorageProxy } from '../servers/storage-proxy.js';

const { SVC_TEST_REST = '{}' } = process.env;
const server: { readonly url: string; readonly storage: MinioServer } = JSON.parse(SVC_TEST_REST);

const users = {
  ada: { password: 'word of ada', roles: [] },
  bob: { password: 'word of bob', roles: [] },
};

/** Sessions renew tokens with a minute left, every ten seconds: so each is renewed once it is some seconds old. */
const tokenSeconds = 65;

let provider: OidcProvider;
let catalog: CatalogProxy;
let storage: StorageProxy;
let trace: MinioTrace;
let service: TestService;
let ada: FlightClient;
let bob: FlightClient;

before(async () => {
  provider = await startOidcProvider({ users, tokenSeconds });
  catalog = await startCatalogProxy(server.url, userOf);
  storage = await startStorageProxy(server.storage.endpoint);
  trace = await startMinioTrace(server.storage);
  service = await startService({
    config: {
      'catalog.catalog_url': catalog.url,
      'storage.s3_endpoint': storage.url,
      'coordinator.session_context_cache_ttl_secs': 0,
      'auth.idp_url': provider.url,
      'auth.client_id': provider.clientId,
      'auth.client_secret': provider.clientSecret,
    },
  });
  [ada, bob] = [await signedIn('ada'), await signedIn('bob')];
  await ada.update('CREATE SCHEMA own');
  await ada.update('CREATE TABLE own.t AS SELECT i AS id FROM range(1000) r(i)');
});
after(async () => {
  await service?.[Symbol.asyncDispose]();
  await trace?.[Symbol.asyncDispose]();
  await storage?.[Symbol.asyncDispose]();
  await catalog?.[Symbol.asyncDispose]();
  await provider?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  catalog.refuse = () => undefined;
  catalog.fault = () => undefined;
  storage.fault = () => undefined;
  catalog.calls.length = 0;
  storage.calls.length = 0;
});

async function signedIn(user: keyof typeof users): Promise<FlightClient> {
  const client = service.stranger();
  await client.signIn(user, users[user].password);
  return client;
}

/** The provider's tokens say who and until when. */
function userOf(token: string): string | undefined {
  try {
    const claims: { readonly preferred_username: string; readonly exp: number } = JSON.parse(
      Buffer.from(token.split('.')[1] ?? '', 'base64url').toString(),
    );
    return claims.exp * 1000 > Date.now() ? claims.preferred_username : undefined;
  } catch {
    return undefined;
  }
}

function isOf(table: string): (call: CatalogCall) => boolean {
  return ({ path }) => path.endsWith(`/tables/${table}`);
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

describe('a user of a catalog', () => {
  it('is who each request is made for, with the token, the trace and the request id', async () => {
    const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
    const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01`, 'x-request-id': 'report-7' };
    await ada.planStatement('SELECT count(*) FROM own.t WHERE id > 5', { headers });
    assert.ok(catalog.calls.length > 0);
    for (const { user, headers } of catalog.calls) {
      const { traceparent } = headers;
      assert.equal(user, 'ada');
      assert.equal(headers['x-request-id'], 'report-7');
      assert.match(String(traceparent), new RegExp(`^00-${traceId}-`));
    }
  });

  it('reads with credentials of its own, whoever has read the same before', async () => {
    assert.equal(await value(ada, 'SELECT sum(id)::BIGINT FROM own.t'), 499_500n);
    assert.deepEqual(ownersOfRequests(), ['ada']);
    storage.calls.length = 0;
    catalog.calls.length = 0;
    assert.equal(await value(bob, 'SELECT sum(id)::BIGINT FROM own.t'), 499_500n);
    assert.deepEqual(ownersOfRequests(), ['bob']);
    assert.deepEqual(new Set(catalog.calls.map(({ user }) => user)), new Set(['bob']));
    assert.ok(catalog.calls.filter(isOf('t')).every(({ headers }) => headers['if-none-match'] === undefined));
  });

  it('is not sent again what has not changed, and is asked about each time', async () => {
    for (let run = 0; run < 3; run += 1) await rows(ada, 'SELECT max(id) FROM own.t');
    const loads = catalog.calls.filter(isOf('t')).map(({ status }) => status);
    assert.ok(loads.length >= 3 && loads.includes(304), `${loads}`);
  });

  it('is refused what the catalog refuses, each in its own way', async () => {
    const cases = [
      [401, 'UNAUTHENTICATED'],
      [403, 'PERMISSION_DENIED'],
      [404, 'TABLE_NOT_FOUND'],
      [419, 'UNAUTHENTICATED'],
    ] as const;
    for (const [status, code] of cases) {
      catalog.refuse = (call) => (isOf('t')(call) ? status : undefined);
      await assert.rejects(rows(ada, 'SELECT * FROM own.t'), { code }, `${status}`);
    }
  });

  it('is served nothing of a table that it may not load, however lately others have', async () => {
    await rows(ada, 'SELECT * FROM own.t');
    storage.calls.length = 0;
    catalog.refuse = (call) => (call.user === 'bob' && isOf('t')(call) ? 403 : undefined);
    for (const sql of [
      'SELECT * FROM own.t',
      'SELECT count(*) FROM own.t',
      'SELECT max(id) FROM own.t',
      'DESCRIBE own.t',
    ])
      await assert.rejects(rows(bob, sql), { code: 'PERMISSION_DENIED' }, sql);
    assert.deepEqual(storage.calls, []);
  });

  it("is served nothing of another's file that a manifest of its own table names", async () => {
    await bob.update('CREATE TABLE own.bait (id BIGINT)');
    const files = createMetadataFiles(0);
    const open = async (user: 'ada' | 'bob', name: string) => {
      const { access_token: token } = await provider.tokensOf(user);
      const factory = createRestCatalogs({
        ...{ url: catalog.url, warehouse: undefined, correlation: () => ({}), staticStore: undefined },
        ...{ storage: { endpoint: storage.url }, maxKeptBytes: 0 },
      });
      const client = factory.open({ user, accessToken: () => token });
      return { client, table: await client.loadTable({ namespace: ['own'], name }) };
    };
    const victim = (await open('ada', 't')).table;
    const { client, table } = await open('bob', 'bait');
    const [schema] = victim.metadata.schemas;
    assert.ok(schema !== undefined);
    const plan = await planFiles(victim, { kind: 'current' }, { columns: undefined, filters: [] }, { files });
    const { store } = victim;
    const described = plan.files.map(({ location }) =>
      describeDataFile({ location, partition: [] }, { store, schema, properties: new Map() }),
    );
    const { tableUuid, defaultSpecId: specId, currentSchemaId: schemaId } = table.metadata;
    const dataFiles = await Promise.all(described);
    const append = createAppend({ store: table.store, files, dataFiles, tableUuid, specId, schemaId });
    await client.commitTable(table.identifier, await append.prepare(table));
    await rows(ada, 'SELECT * FROM own.t');
    storage.calls.length = 0;
    await assert.rejects(rows(bob, 'SELECT * FROM own.bait'), { code: 'STORAGE_ACCESS_DENIED' });
    await assert.rejects(rows(bob, 'SELECT max(id) FROM own.bait'), { code: 'STORAGE_ACCESS_DENIED' });
    assert.ok(storage.calls.every(({ accessKey }) => catalog.keys.get(accessKey)?.user === 'bob'));
    await bob.update('DROP TABLE own.bait');
  });
});

describe('credentials that end while a query runs', () => {
  before(async () => {
    await ada.update(
      'CREATE TABLE own.parts PARTITIONED BY (p) AS SELECT i AS a, i AS b, i % 40 AS p FROM range(4000) r(i)',
    );
  });

  /** Each read takes so long that the scan needs several lives, and no key is taken after its end. */
  const sumOf = async (
    column: 'a' | 'b',
    endOf: (accessKey: string) => number,
    { readMs, lives }: { readonly readMs: number; readonly lives: number },
  ) => {
    storage.fault = ({ accessKey, location, method }) => {
      if (Date.now() >= endOf(accessKey)) return 'ExpiredToken';
      return method === 'GET' && location.includes('/data/') ? readMs : undefined;
    };
    assert.equal(await value(ada, `SELECT sum(${column})::BIGINT FROM own.parts`), 7_998_000n);
    assert.deepEqual(ownersOfRequests(), ['ada']);
    assert.deepEqual(new Set(catalog.calls.map(({ user }) => user)), new Set(['ada']));
    const keys = new Set(storage.calls.map(({ accessKey }) => accessKey));
    assert.ok(keys.size >= lives, `${keys.size} keys were used`);
  };

  it('are renewed before their end, by their user, for longer than three lives, with the token of then', async () => {
    await sumOf('a', (key) => catalog.keys.get(key)?.expiresMs ?? 0, { readMs: 2200, lives: 4 });
    // It took longer than a token is too young to be renewed, the time to the next renewal, and a life of credentials.
    const tokens = new Set(catalog.calls.map(({ headers }) => headers.authorization));
    assert.ok(tokens.size >= 2, `${tokens.size} tokens`);
  });

  it('are renewed when storage refuses them before the end that was told', async () => {
    let requests = 0;
    let refusedUntil = Number.NEGATIVE_INFINITY;
    // In the middle of the scan, all that were given out until then.
    const endOf = (key: string): number => {
      requests += 1;
      if (requests === 20) refusedUntil = Date.now();
      return (catalog.keys.get(key)?.vendedMs ?? 0) <= refusedUntil ? 0 : Number.POSITIVE_INFINITY;
    };
    await sumOf('b', endOf, { readMs: 900, lives: 2 });
    assert.ok(storage.calls.some(({ status }) => status === 400));
  });
});

describe('a commit through a catalog', () => {
  const commit = ({ method, path }: CatalogCall) => method === 'POST' && path.includes('/tables');
  const count = async () => await value(await signedIn('ada'), 'SELECT count(*) FROM own.c');
  const commits = () => catalog.calls.filter(commit).length;
  before(async () => {
    await ada.update('CREATE TABLE own.c (id BIGINT)');
  });

  it('whose answer is lost, or is one of a gateway, is found to be made, and is sent once', async () => {
    for (const status of ['lost', 500, 502, 504] as const) {
      const rowsBefore = Number(await count());
      catalog.calls.length = 0;
      catalog.fault = (call) => (commit(call) ? { when: 'after', status } : undefined);
      await ada.update('INSERT INTO own.c VALUES (1)');
      assert.equal(commits(), 1, `${status}`);
      assert.equal(Number(await count()), rowsBefore + 1, `${status}`);
    }
  });

  it('that was not made either is an error that says that it is not known, and its files stay', async () => {
    catalog.fault = (call) => (commit(call) ? { when: 'before', status: 502 } : undefined);
    await assert.rejects(ada.update('INSERT INTO own.c VALUES (2)'), { code: 'COMMIT_OUTCOME_UNKNOWN' });
    assert.equal(commits(), 1);
    assert.ok(!storage.calls.some(({ method }) => method === 'DELETE' || method === 'POST'));
  });

  it('that another one overtook is made from fresh metadata', async () => {
    const rowsBefore = Number(await count());
    catalog.calls.length = 0;
    let isFirst = true;
    catalog.fault = (call) => {
      if (!commit(call) || !isFirst) return undefined;
      isFirst = false;
      return { when: 'before', status: 409 };
    };
    await ada.update('INSERT INTO own.c VALUES (3)');
    assert.equal(commits(), 2);
    assert.ok(catalog.calls.filter(isOf('c')).filter(({ method }) => method === 'GET').length >= 2);
    assert.equal(Number(await count()), rowsBefore + 1);
  });

  it('of a new table whose answer is lost is found to be made', async () => {
    let posts = 0;
    catalog.fault = (call) => {
      if (!commit(call)) return undefined;
      posts += 1;
      return posts === 2 ? { when: 'after', status: 'lost' } : undefined; // The first one stages the table.
    };
    await ada.update('CREATE TABLE own.n AS SELECT 7 AS id');
    assert.equal(posts, 2);
    assert.equal(await value(ada, 'SELECT id FROM own.n'), 7);
  });
});

describe("storage's own trace of all of this", () => {
  it("has no request with another user's key, another table's or a static one", async () => {
    const { host } = new URL(storage.url);
    const requests = (await trace.requests()).filter((each) => each.host === host);
    assert.ok(requests.length > 200, `${requests.length} requests`);
    const foreign = requests.filter(({ accessKey, location }) => {
      const key = catalog.keys.get(accessKey);
      return key === undefined || !location.startsWith(`${key.prefix}/`);
    });
    // Bob's manifest that names a file of Ada's table: asked for with his own keys, and refused.
    const bait = foreign.filter(({ accessKey }) => catalog.keys.get(accessKey)?.prefix.endsWith('/own/bait'));
    assert.deepEqual(foreign, bait);
    assert.deepEqual(
      new Set(bait.map(({ accessKey }) => catalog.keys.get(accessKey)?.user)),
      new Set(['bob']),
    );
  });
});
