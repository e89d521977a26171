import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { KeptLoads } from './kept-loads.js';
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

let rest: RestServer;
beforeEach(async () => {
  rest = await startRestServer();
});
afterEach(() => rest[Symbol.asyncDispose]());

/** Answers 304 to whoever has this version already. */
function versioned(etag: string, more: object = {}): void {
  rest.on(endpoint, (request, response, body) => {
    if (request.headers['if-none-match'] === etag) response.writeHead(304).end();
    else json(loadedOrders(more), 200, { etag })(request, response, body);
  });
}

function askedWith(): readonly (string | undefined)[] {
  return rest.server.requests
    .filter(({ url }) => url.includes('/tables/orders'))
    .map(({ headers }) => headers['if-none-match']);
}

describe('a table that a user has loaded before', () => {
  it('is asked for each time, and not sent again while it is the same', async () => {
    const client = clientOf(rest.place(), 'ada');
    versioned('"v1"');
    const first = await client.loadTable(orders);
    assert.equal((await client.loadTable(orders)).metadata, first.metadata);
    versioned('W/"v2"');
    assert.notEqual((await client.loadTable(orders)).metadata, first.metadata);
    await client.loadTable(orders);
    assert.deepEqual(askedWith(), [undefined, '"v1"', '"v1"', 'W/"v2"']);
  });

  it('is not answered to another user, nor to the same one with another token', async () => {
    const place = rest.place();
    versioned('"v1"');
    await clientOf(place, 'ada').loadTable(orders);
    for (const other of [clientOf(place, 'bob'), clientOf(place, 'ada', 'newer')])
      await other.loadTable(orders);
    assert.deepEqual(askedWith(), [undefined, undefined, undefined]);
    rest.on(endpoint, (_request, response) => response.writeHead(304).end());
    await assert.rejects(clientOf(place, 'eve').loadTable(orders), {
      code: 'CATALOG_ERROR',
      message: /answers 304/,
    });
  });

  it('is loaded before it is kept: the answer to a change has no credentials', async () => {
    const client = clientOf(rest.place(), 'ada');
    rest.on('POST /v1/namespaces/sales/tables/orders', json(loadedOrders({}), 200, { etag: '"v1"' }));
    versioned('"v1"');
    await client.commitTable(orders, { requirements: [], updates: [] });
    await client.loadTable(orders);
    await client.loadTable(orders);
    assert.deepEqual(askedWith(), [undefined, undefined, '"v1"']);
  });

  it('is refused once the catalog refuses it, and forgotten', async () => {
    const client = clientOf(rest.place(), 'ada');
    versioned('"v1"');
    await client.loadTable(orders);
    rest.on(endpoint, problem(403, 'ForbiddenException'));
    await assert.rejects(client.loadTable(orders), { code: 'PERMISSION_DENIED' });
    versioned('"v1"');
    await client.loadTable(orders);
    assert.deepEqual(askedWith(), [undefined, '"v1"', undefined]);
  });

  it('is asked for whole when its credentials are near their end', async () => {
    const client = clientOf(rest.place(), 'ada');
    const keys = { 's3.access-key-id': 'k', 's3.secret-access-key': 's' };
    versioned('"v1"', { config: { ...keys, 's3.session-token-expires-at-ms': String(Date.now() - 1) } });
    await client.loadTable(orders);
    await client.loadTable(orders);
    assert.deepEqual(askedWith(), [undefined, undefined]);
  });
});

describe('what is kept of loaded tables', () => {
  it('has a bound over all users, and goes with its client', async () => {
    const loads = new KeptLoads(45_000);
    const place = rest.place({ loads });
    versioned('"v1"');
    const clients = ['ada', 'bob', 'eve'].map((user) => clientOf(place, user));
    for (const client of clients) await client.loadTable(orders);
    assert.ok(loads.usedBytes > 20_000 && loads.usedBytes <= 45_000, `${loads.usedBytes}`);
    await clients[0]?.loadTable(orders);
    assert.equal(askedWith().at(-1), undefined, 'the least recently used has gone');
    for (const client of clients) client.close?.();
    assert.equal(loads.usedBytes, 0);
  });
});
