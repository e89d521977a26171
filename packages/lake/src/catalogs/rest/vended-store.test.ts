import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createMetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { tableJson } from '../../iceberg/testing/table-json.js';
import { openGranted } from '../../storage/open-granted.js';
import { type FakeS3, startFakeS3 } from '../../storage/testing/fake-s3.js';
import { createRestCatalog } from './rest-catalog.js';
import {
  clientOf,
  json,
  loadedOrders,
  problem,
  type RestServer,
  startRestServer,
} from './testing/rest-server.js';

const orders = { namespace: ['sales'], name: 'orders' };
const endpoint = 'GET /v1/namespaces/sales/tables/orders';
const credentialsPath = 'GET /v1/namespaces/sales/tables/orders/credentials';

let rest: RestServer;
let s3: FakeS3;
beforeEach(async () => {
  rest = await startRestServer();
  s3 = await startFakeS3();
  for (const key of ['orders/a', 'orders/eu/b', 'orders/u/b', 'secret/c']) s3.put(key, Buffer.from(key));
});
afterEach(async () => {
  await rest[Symbol.asyncDispose]();
  await s3[Symbol.asyncDispose]();
});

function keys(accessKeyId: string, expiresInMs?: number): Record<string, string> {
  return {
    's3.access-key-id': accessKeyId,
    's3.secret-access-key': 'secret',
    's3.session-token': `session of ${accessKeyId}`,
    ...(expiresInMs !== undefined && { 's3.session-token-expires-at-ms': String(Date.now() + expiresInMs) }),
  };
}

/** The access keys of all requests so far, in their order. */
function keysUsed(): readonly (string | undefined)[] {
  return s3.server.requests.map(({ headers }) => /Credential=([^/]+)/.exec(headers.authorization ?? '')?.[1]);
}

function refuseKey(accessKeyId: string, code: string): void {
  s3.fault = ({ headers }) =>
    headers.authorization?.includes(`Credential=${accessKeyId}/`)
      ? { kind: 'error', status: 400, code }
      : undefined;
}

describe('credentials that a catalog gives out for a table', () => {
  it('are those of the longest prefix of each location', async () => {
    rest.on(
      endpoint,
      json(
        loadedOrders({
          config: { 's3.endpoint': s3.server.url },
          'storage-credentials': [
            { prefix: 's3', config: keys('any') },
            { prefix: 's3://lake/orders/eu', config: keys('eu') },
            { prefix: 's3://lake/orders', config: keys('orders') },
            { prefix: 's3a://lake/orders/', config: keys('orders again') },
            { prefix: 's3://lake/orders/u', config: keys('u') },
          ],
        }),
      ),
    );
    const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
    for (const key of ['orders/a', 'orders/eu/b', 'orders/u/b', 'secret/c'])
      await store.read(`s3://lake/${key}`);
    assert.deepEqual(keysUsed(), ['orders', 'eu', 'u', 'any']);
  });

  it('are used where the catalog says for all tables that storage is; its own keys are not', async () => {
    const own = { 's3.access-key-id': 'catalog', 's3.secret-access-key': 'x' };
    rest.on('GET /v1/config', json({ defaults: own, overrides: { 's3.endpoint': s3.server.url } }));
    rest.on(endpoint, json(loadedOrders({ config: keys('ada') })));
    const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
    await store.read('s3://lake/orders/a');
    rest.on(endpoint, json(loadedOrders({})));
    const none = await clientOf(rest.place(), 'bob').loadTable(orders);
    await assert.rejects(none.store.read('s3://lake/orders/a'), { code: 'STORAGE_ACCESS_DENIED' });
    assert.deepEqual(keysUsed(), ['ada']);
  });

  it('are asked for at their own endpoint where the catalog has one', async () => {
    const credentials = 'GET /v1/{prefix}/namespaces/{namespace}/tables/{table}/credentials';
    rest.on('GET /v1/config', json({ endpoints: [credentials] }));
    rest.on(endpoint, json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys('old') } })));
    const renewed = [{ prefix: 's3://lake/orders', config: keys('new') }];
    rest.on(credentialsPath, json({ 'storage-credentials': renewed }));
    const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
    refuseKey('old', 'ExpiredToken');
    await store.read('s3://lake/orders/a');
    assert.deepEqual(keysUsed(), ['old', 'new']);
    assert.equal(rest.server.requests.at(-1)?.url, '/v1/namespaces/sales/tables/orders/credentials');
  });

  it('are replaced when storage no longer takes them, with the token that the user has then', async () => {
    let token = 'first';
    let given = 'old';
    rest.on(endpoint, (request, response, body) =>
      json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys(given) } }))(
        request,
        response,
        body,
      ),
    );
    const catalog = createRestCatalog(rest.place(), { user: 'ada', accessToken: () => token });
    const { store } = await catalog.loadTable(orders);
    refuseKey('old', 'ExpiredToken');
    [token, given] = ['second', 'new'];
    assert.equal(Buffer.from(await store.read('s3://lake/orders/a')).toString(), 'orders/a');
    assert.deepEqual(keysUsed(), ['old', 'new']);
    assert.equal(rest.server.requests.at(-1)?.headers.authorization, 'Bearer second');
    assert.equal(rest.server.requests.at(-1)?.headers['x-iceberg-access-delegation'], 'vended-credentials');
  });

  it('come with the whole metadata from a catalog that cannot leave out snapshots', async () => {
    const answerOf = (key: string) =>
      json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys(key) } }));
    rest.on(endpoint, answerOf('old'));
    const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
    refuseKey('old', 'ExpiredToken');
    rest.on(endpoint, (request, ...others) =>
      (request.url?.endsWith('?snapshots=refs') ? problem(400, 'IllegalArgumentException') : answerOf('new'))(
        request,
        ...others,
      ),
    );
    await store.read('s3://lake/orders/a');
    assert.deepEqual(keysUsed(), ['old', 'new']);
    rest.on(endpoint, problem(400, 'BadRequestException'));
    refuseKey('new', 'ExpiredToken');
    await assert.rejects(store.read('s3://lake/orders/a'), { code: 'CATALOG_ERROR', message: /answers 400/ });
  });

  it('that cannot be any, or for a server that is none, are an error of the catalog', async () => {
    for (const wrong of [
      { 's3.endpoint': 'storage' },
      { 's3.endpoint': 'file:///etc/passwd' },
      { 's3.region': '' },
      { 'client.region': 'eu/../x' },
      { 's3.access-key-id': 'a\nb: c' },
      { 's3.session-token': 'é' },
      { 's3.secret-access-key': '' },
    ]) {
      rest.on(
        endpoint,
        json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys('k'), ...wrong } })),
      );
      const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
      await assert.rejects(
        store.head('s3://lake/orders/a'),
        { code: 'CATALOG_ERROR' },
        JSON.stringify(wrong),
      );
    }
    assert.deepEqual(keysUsed(), []);
  });

  it('that are not given out again are an error that says so', async () => {
    rest.on(endpoint, json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys('old') } })));
    const { store } = await clientOf(rest.place(), 'ada').loadTable(orders);
    refuseKey('old', 'ExpiredToken');
    rest.on(endpoint, problem(403, 'ForbiddenException'));
    await assert.rejects(store.read('s3://lake/orders/a'), {
      code: 'PERMISSION_DENIED',
      message: /does not allow this user credentials for table "sales\.orders"/,
    });
    assert.deepEqual(keysUsed(), ['old']);
  });
});

describe('credentials of a table that is only to be made', () => {
  const stage = async () =>
    await clientOf(rest.place(), 'ada').stageTable(orders, {
      columns: [{ name: 'a', type: { kind: 'int' } }],
    });
  const answerWith = (accessKeyId: string, location = 's3://lake/orders') =>
    rest.on(
      'POST /v1/namespaces/sales/tables',
      json({ metadata: tableJson(location), config: { 's3.endpoint': s3.server.url, ...keys(accessKeyId) } }),
    );

  it('are renewed by staging it again, and by loading it once it is there', async () => {
    answerWith('old');
    const { store } = await stage();
    refuseKey('old', 'ExpiredToken');
    answerWith('new');
    await store.read('s3://lake/orders/a');
    refuseKey('new', 'ExpiredToken');
    rest.on('POST /v1/namespaces/sales/tables', problem(409, 'AlreadyExistsException'));
    rest.on(endpoint, json(loadedOrders({ config: keys('loaded') })));
    await store.read('s3://lake/orders/a');
    assert.deepEqual(keysUsed(), ['old', 'new', 'new', 'loaded']);
  });

  it('are none when they are for another place', async () => {
    answerWith('old');
    const { store } = await stage();
    refuseKey('old', 'ExpiredToken');
    answerWith('new', 's3://lake/orders-2');
    await assert.rejects(store.read('s3://lake/orders/a'), {
      code: 'STORAGE_ACCESS_DENIED',
      message: /ended while it was being written/,
    });
  });
});

describe('keys of the service itself', () => {
  const openOrders = async (more: object) => {
    rest.on(endpoint, json(loadedOrders(more)));
    return (await clientOf(rest.place({ staticStore: s3.store() }), 'ada').loadTable(orders)).store;
  };

  it('read what lies below the table, where the catalog gives out nothing', async () => {
    const store = await openOrders({});
    assert.equal(Buffer.from(await store.read('s3://lake/orders/eu/b')).toString(), 'orders/eu/b');
    assert.equal(Buffer.from(await store.read('s3a://lake/orders/a')).toString(), 'orders/a');
  });

  it('read nothing else, however it is spelled, and write nothing', async () => {
    const store = await openOrders({});
    for (const location of [
      'secret/c',
      'orders/../secret/c',
      'orders/%2e%2e/secret/c',
      'orders',
      'orders2/a',
    ])
      await assert.rejects(store.read(`s3://lake/${location}`), { code: 'STORAGE_ACCESS_DENIED' }, location);
    const body = Buffer.from('x');
    await assert.rejects(store.write('s3://lake/orders/a', body), { code: 'STORAGE_ACCESS_DENIED' });
    await assert.rejects(store.moveIn('s3://lake/orders/a', '/tmp/x'), { code: 'STORAGE_ACCESS_DENIED' });
    await assert.rejects(store.delete('s3://lake/orders/a'), { code: 'STORAGE_ACCESS_DENIED' });
    assert.deepEqual(keysUsed(), []);
  });

  it('are not used beside credentials of the user', async () => {
    const vended = { prefix: 's3://lake/orders/eu', config: { 's3.endpoint': s3.server.url, ...keys('eu') } };
    const store = await openOrders({ 'storage-credentials': [vended] });
    await assert.rejects(store.read('s3://lake/orders/a'), { code: 'STORAGE_ACCESS_DENIED' });
    await assert.rejects(store.read('s3://lake/secret/c'), { code: 'STORAGE_ACCESS_DENIED' });
    assert.deepEqual(keysUsed(), []);
  });

  it('open no table at the root of a bucket', async () => {
    const metadata = tableJson('s3://lake');
    const store = await openOrders({ metadata });
    await assert.rejects(store.read('s3://lake/secret/c'), { code: 'STORAGE_ACCESS_DENIED' });
  });
});

describe('what is kept of the files of tables', () => {
  it('is found again under the same catalog, table and server only', async () => {
    const place = rest.place();
    const scopeOf = async (more: object, at = place) => {
      rest.on(endpoint, json(loadedOrders(more)));
      return (await clientOf(at, 'ada').loadTable(orders)).store.scope;
    };
    const metadata = (uuid: string) => ({ ...tableJson('s3://lake/orders'), 'table-uuid': uuid });
    const mine = await scopeOf({ metadata: metadata('9c12d441-03fe-4693-9a96-a0705ddf69c1') });
    assert.equal(await scopeOf({ metadata: metadata('9c12d441-03fe-4693-9a96-a0705ddf69c1') }), mine);
    const others = [
      await scopeOf({ metadata: metadata('00000000-03fe-4693-9a96-a0705ddf69c1') }),
      await scopeOf({
        metadata: metadata('9c12d441-03fe-4693-9a96-a0705ddf69c1'),
        config: { 's3.endpoint': 'http://evil' },
      }),
      await scopeOf(
        { metadata: metadata('9c12d441-03fe-4693-9a96-a0705ddf69c1') },
        rest.place({ warehouse: 'other' }),
      ),
    ];
    assert.ok(!others.includes(mine) && !others.includes(undefined));
  });

  it('needs a look at the file with credentials of the user', async () => {
    const files = createMetadataFiles(1 << 20);
    const location = 's3://lake/orders/m.json';
    s3.put('orders/m.json', Buffer.from(JSON.stringify(tableJson('s3://lake/orders'))));
    const place = rest.place();
    const storeFor = async (user: string) => {
      rest.on(endpoint, json(loadedOrders({ config: { 's3.endpoint': s3.server.url, ...keys(user) } })));
      return (await clientOf(place, user).loadTable(orders)).store;
    };
    const [ada, eve] = [await storeFor('ada'), await storeFor('eve')];
    await files.tableMetadata(ada, location);
    s3.fault = ({ headers }) =>
      headers.authorization?.includes('=eve/')
        ? { kind: 'error', status: 403, code: 'AccessDenied' }
        : undefined;
    await assert.rejects(files.tableMetadata(eve, location), { code: 'STORAGE_ACCESS_DENIED' });
    await files.tableMetadata(ada, location);
  });
});

describe('what a table is granted for other machines', () => {
  const grantOf = async (user = 'ada') => {
    const { store } = await clientOf(rest.place(), user).loadTable(orders);
    return store.grant;
  };

  it('is every prefix with its credentials, and where storage is', async () => {
    rest.on('GET /v1/config', json({ overrides: { 's3.endpoint': s3.server.url, 'client.region': 'eu-1' } }));
    const byPrefix = [{ prefix: 's3://lake/orders', config: keys('orders', 3_600_000) }];
    rest.on(endpoint, json(loadedOrders({ config: keys('any'), 'storage-credentials': byPrefix })));
    const grant = await (await grantOf())?.();
    assert.ok(grant?.kind === 's3');
    assert.deepEqual(
      grant.prefixes.map(({ prefix, endpoint: server, region, accessKeyId, sessionToken, expiresAtMs }) => [
        prefix,
        server,
        region,
        accessKeyId,
        sessionToken,
        typeof expiresAtMs,
      ]),
      [
        ['s3://lake/orders', s3.server.url, 'eu-1', 'orders', 'session of orders', 'number'],
        ['', s3.server.url, 'eu-1', 'any', 'session of any', 'undefined'],
      ],
    );
    const store = openGranted(grant, {});
    assert.equal(Buffer.from(await store.read('s3://lake/orders/a')).toString(), 'orders/a');
    const own = (await clientOf(rest.place(), 'ada').loadTable(orders)).store;
    assert.equal(store.scope, own.scope);
  });

  it('is asked for anew when it is near its end, once, and keeps its place', async () => {
    rest.on('GET /v1/config', json({ overrides: { 's3.endpoint': s3.server.url } }));
    let loads = 0;
    rest.on(endpoint, (request, response, body) => {
      loads += 1;
      const config = loads === 1 ? keys('old', 10) : keys('new', 3_600_000);
      json(loadedOrders({ config }))(request, response, body);
    });
    const grant = (await grantOf()) ?? assert.fail();
    await new Promise((resolve) => setTimeout(resolve, 20));
    const granted = await Promise.all([grant(), grant()]);
    for (const each of granted) {
      assert.ok(each.kind === 's3');
      assert.deepEqual(
        each.prefixes.map(({ accessKeyId, endpoint: server }) => [accessKeyId, server]),
        [['new', s3.server.url]],
      );
    }
    assert.equal(loads, 2);
    await grant();
    assert.equal(loads, 2);
  });

  it('is what is at hand while that lasts, when the catalog gives out nothing newer', async ({ mock }) => {
    mock.timers.enable({ apis: ['Date'], now: Date.now() });
    const config = { 's3.endpoint': s3.server.url, ...keys('old', 60_000) };
    rest.on(endpoint, json(loadedOrders({ config })));
    const grant = (await grantOf()) ?? assert.fail();
    rest.on(endpoint, problem(403, 'ForbiddenException'));
    mock.timers.tick(50_000);
    const granted = await grant();
    assert.deepEqual(granted.kind === 's3' && granted.prefixes.map(({ accessKeyId }) => accessKeyId), [
      'old',
    ]);
    mock.timers.tick(10_000);
    await assert.rejects(grant());
  });

  it('is nothing where only keys of the service itself open the files', async () => {
    rest.on(endpoint, json(loadedOrders({})));
    assert.equal(await grantOf(), undefined);
  });
});
