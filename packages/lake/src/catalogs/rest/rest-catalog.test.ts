import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { TestServer } from '../../storage/testing/test-server.js';
import type { WritableCatalog } from '../writable-catalog.js';
import { createRestCatalog } from './rest-catalog.js';
import {
  endless,
  type Handler,
  html,
  json,
  loadedOrders,
  problem,
  type RestServer,
  startRestServer,
} from './testing/rest-server.js';

const orders = { namespace: ['sales'], name: 'orders' };
const noChange = { requirements: [], updates: [] };
let rest: RestServer;
let server: TestServer;
let on: RestServer['on'];
let tokens: string[];
let catalog: WritableCatalog;

beforeEach(async () => {
  rest = await startRestServer();
  ({ server, on } = rest);
  tokens = ['eyJhbGciOiJub25lIn0.e30.'];
  catalog = newCatalog();
});
afterEach(() => rest[Symbol.asyncDispose]());

describe('the configuration of a REST catalog', () => {
  it('is asked once, with the warehouse and the token of the user, and places all paths', async () => {
    on('GET /v1/config', json({ defaults: { prefix: 'x' }, overrides: { prefix: 'a b/c' } }));
    on('GET /v1/a%20b/c/namespaces', json({ namespaces: [['sales']] }));
    await catalog.listNamespaces([]);
    assert.deepEqual(await catalog.listNamespaces([]), [['sales']]);
    const [config, ...others] = server.requests;
    assert.equal(config?.url, '/v1/config?warehouse=w%26h');
    assert.deepEqual(
      server.requests.map(({ headers }) => headers.authorization),
      Array(3).fill(`Bearer ${tokens[0]}`),
    );
    assert.equal(others.length, 2);
    assert.deepEqual(new Set(server.requests.map(({ headers }) => headers['x-request-id'])), new Set(['r1']));
  });

  it('may have a prefix that is escaped already, wholly or in part', async () => {
    for (const [prefix, path] of [
      ['main%7Cware%20house', 'main%7Cware%20house'],
      ['main|a%7cb', 'main%7Ca%7cb'],
      ['100%/?#%2', '100%25/%3F%23%252'],
    ]) {
      on('GET /v1/config', json({ defaults: { prefix }, overrides: {} }));
      on(`GET /v1/${path}/namespaces`, json({ namespaces: [['sales']] }));
      assert.deepEqual(await newCatalog().listNamespaces([]), [['sales']], prefix);
    }
  });

  it('is an error when it fails, never a guess, and is asked again', async () => {
    for (const answer of [html(200), html(404), json([1]), problem(400, 'BadRequest')]) {
      on('GET /v1/config', answer);
      await assert.rejects(catalog.listNamespaces([]), { code: 'CATALOG_ERROR' });
    }
    assert.deepEqual(new Set(server.requests.map(({ url }) => url)).size, 1);
    on('GET /v1/config', json({ defaults: {}, overrides: {} }));
    on('GET /v1/namespaces', json({ namespaces: [] }));
    assert.deepEqual(await catalog.listNamespaces([]), []);
  });

  it('is an error when it is not what it should be', async () => {
    const separators = ['', '%', '%zz', '/', 'a b'].map((text) => ({
      defaults: { 'namespace-separator': text },
    }));
    for (const wrong of [{ endpoints: 'all' }, { endpoints: [1] }, { overrides: [] }, ...separators]) {
      on('GET /v1/config', json(wrong));
      await assert.rejects(catalog.listNamespaces(['a']), { code: 'CATALOG_ERROR' }, JSON.stringify(wrong));
    }
  });

  it('does not send tokens to another place over an open line', async () => {
    on('GET /v1/config', json({ defaults: {}, overrides: { uri: 'http://elsewhere.example' } }));
    await assert.rejects(catalog.listNamespaces([]), {
      code: 'CATALOG_ERROR',
      message: /http:\/\/elsewhere\.example, which is neither/,
    });
  });
});

describe('the names of a REST catalog', () => {
  it('are percent-encoded, levels with the separator that the service names', async () => {
    await assert.rejects(catalog.loadTable({ namespace: ['a b', 'c/ü'], name: 'd.e?f' }));
    assert.ok(
      server.requests.some(({ url }) => url.startsWith('/v1/namespaces/a%20b%1Fc%2F%C3%BC/tables/d.e%3Ff?')),
    );
    on('GET /v1/config', json({ defaults: {}, overrides: { 'namespace-separator': '%2E' } }));
    on('GET /v1/namespaces', json({ namespaces: [['a', 'b']] }));
    catalog = newCatalog();
    await catalog.listNamespaces(['a', 'x']);
    assert.match(server.requests.at(-1)?.url ?? '', /parent=a\.x/);
  });

  it('are no steps in a path', async () => {
    // An address's parser takes `%2E%2E` for a step too.
    for (const [level, name] of [
      ['..', 'x'],
      ['x', '..'],
      ['x', '.'],
    ] as const)
      await assert.rejects(catalog.loadTable({ namespace: [level], name }), { code: 'INVALID_ARGUMENT' });
  });

  it('say which schema is meant in one way only', async () => {
    for (const namespace of [['', '', ''], ['a', ''], ['', 'a'], ['a\u001fb']])
      for (const asked of [
        () => catalog.loadTable({ namespace, name: 'x' }),
        () => catalog.listRelations(namespace),
        () => catalog.listNamespaces(namespace),
        () => catalog.namespaceExists(namespace),
      ])
        await assert.rejects(asked, { code: 'SCHEMA_NOT_FOUND' });
    assert.ok(server.requests.every(({ url }) => url.startsWith('/v1/config')));
  });

  it('come page by page, and not for ever', async () => {
    on('GET /v1/namespaces/sales/tables', (request, response) => {
      const isFirst =
        (request.url ?? '').includes('pageToken=&') || (request.url ?? '').endsWith('pageToken=');
      const identifiers = [{ namespace: ['sales'], name: isFirst ? 'b' : 'a' }];
      json({ identifiers, ...(isFirst && { 'next-page-token': 'p2' }) })(request, response, Buffer.alloc(0));
    });
    const listed = await catalog.listTables(['sales']);
    assert.deepEqual(
      listed.map(({ name }) => name),
      ['a', 'b'],
    );
    on('GET /v1/namespaces/sales/tables', json({ identifiers: [], 'next-page-token': 'again' }));
    await assert.rejects(catalog.listTables(['sales']), {
      code: 'CATALOG_ERROR',
      message: /does not come to an end/,
    });
    // A server that knows no pages answers everything each time.
    on('GET /v1/namespaces/sales/tables', json({ identifiers: [orders] }));
    assert.deepEqual(await catalog.listTables(['sales']), [orders]);
  });

  it('of a schema that is not there are an error, also where it is listed as an empty one', async () => {
    for (const kind of ['tables', 'views']) on(`GET /v1/namespaces/sales/${kind}`, json({ identifiers: [] }));
    on('GET /v1/namespaces', json({ namespaces: [['sale']] }));
    await assert.rejects(catalog.listRelations(['sales']), {
      code: 'SCHEMA_NOT_FOUND',
      message: 'Schema "sales" does not exist; did you mean "sale"?',
    });
    on('GET /v1/namespaces/sales', json({ namespace: ['sales'] }));
    assert.deepEqual(await catalog.listRelations(['sales']), []);
  });

  it('that are not there are answered with near ones, as far as the user may list them', async () => {
    on('GET /v1/namespaces/sales/tables', json({ identifiers: [orders] }));
    await assert.rejects(catalog.loadTable({ ...orders, name: 'oders' }), {
      code: 'TABLE_NOT_FOUND',
      message: 'Table "sales.oders" does not exist; did you mean "orders"?',
    });
    on('GET /v1/namespaces/sales/tables', problem(403, 'ForbiddenException'));
    await assert.rejects(catalog.loadTable({ ...orders, name: 'oders' }), {
      code: 'TABLE_NOT_FOUND',
      message: 'Table "sales.oders" does not exist.',
    });
  });
});

describe('views of a REST catalog that does not say which endpoints it has', () => {
  it('are listed beside its tables, if it has any', async () => {
    on('GET /v1/namespaces/sales/tables', json({ identifiers: [orders] }));
    on('GET /v1/namespaces/sales/views', json({ identifiers: [{ ...orders, name: 'v' }] }));
    const listed = await catalog.listRelations(['sales']);
    assert.deepEqual(
      listed.map(({ identifier, kind }) => [identifier.name, kind]),
      [
        ['orders', 'table'],
        ['v', 'view'],
      ],
    );
  });

  for (const answer of [problem(404, 'NoSuchEndpoint'), html(400), problem(406, 'Unsupported')])
    it('are none where it knows nothing of them', async () => {
      on('GET /v1/namespaces/sales/tables', json({ identifiers: [orders] }));
      on('GET /v1/namespaces/sales/views', answer);
      on('GET /v1/namespaces/sales/views/v', answer);
      assert.equal((await catalog.listRelations(['sales'])).length, 1);
      await assert.rejects(catalog.loadView({ ...orders, name: 'v' }), { code: 'TABLE_NOT_FOUND' });
    });

  it('may be refused or not answered for: then it is an error', async () => {
    on('GET /v1/namespaces/sales/views/v', problem(403, 'Forbidden'));
    await assert.rejects(catalog.loadView({ ...orders, name: 'v' }), { code: 'PERMISSION_DENIED' });
    on('GET /v1/namespaces/sales/views/v', problem(503, 'x'));
    await assert.rejects(catalog.loadView({ ...orders, name: 'v' }), { code: 'CATALOG_ERROR' });
  });
});

describe('what a REST catalog refuses', () => {
  const cases: readonly (readonly [number, string, string])[] = [
    [401, 'NotAuthorizedException', 'UNAUTHENTICATED'],
    [419, 'AuthenticationTimeoutException', 'UNAUTHENTICATED'],
    [403, 'ForbiddenException', 'PERMISSION_DENIED'],
    [404, 'NoSuchTableException', 'TABLE_NOT_FOUND'],
    [404, 'NoSuchNamespaceException', 'SCHEMA_NOT_FOUND'],
    [406, 'UnsupportedOperationException', 'NOT_SUPPORTED'],
    [400, 'BadRequestException', 'CATALOG_ERROR'],
    [418, 'Teapot', 'CATALOG_ERROR'],
    [503, 'ServiceUnavailableException', 'CATALOG_ERROR'],
  ];
  for (const [status, type, code] of cases)
    it(`is told apart: ${status} ${type}`, async () => {
      on('GET /v1/namespaces/sales/tables', json({ identifiers: [] }));
      on('GET /v1/namespaces/sales/tables/orders', problem(status, type));
      await assert.rejects(catalog.loadTable(orders), { code });
    });

  it('is tried again once where the token was renewed meanwhile', async () => {
    tokens = ['old', 'old', 'new'];
    on('GET /v1/namespaces', (request, response) => {
      const answer =
        request.headers.authorization === 'Bearer new' ? json({ namespaces: [] }) : problem(401, 'x');
      answer(request, response, Buffer.alloc(0));
    });
    assert.deepEqual(await catalog.listNamespaces([]), []);
  });

  it('is no token in any message', async () => {
    on('GET /v1/namespaces', (request, response, body) =>
      problem(400, `Bad ${request.headers.authorization} ${tokens[0]}`)(request, response, body),
    );
    await assert.rejects(catalog.listNamespaces([]), (error: Error) => !error.message.includes('eyJ'));
  });
});

describe('a REST catalog that is not well', () => {
  it('is asked again when a failure may pass', async () => {
    let failures = 0;
    on('GET /v1/namespaces', (request, response, body) => {
      if (failures++ === 0) response.destroy();
      else (failures === 2 ? problem(503, 'x') : json({ namespaces: [] }))(request, response, body);
    });
    assert.deepEqual(await catalog.listNamespaces([]), []);
    assert.equal(failures, 3);
  });

  it('answers HTML, a cut body, a bomb or without end: an error each time, and bounded', async () => {
    const bomb: Handler = (_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(8 * 1024 * 1024)));
    const cut: Handler = (_request, response) => response.writeHead(200).end('{"namespaces": [');
    for (const handler of [html(200), cut, bomb, endless(200)]) {
      on('GET /v1/namespaces', handler);
      await assert.rejects(newCatalog(4 * 1024 * 1024).listNamespaces([]), { code: 'CATALOG_ERROR' });
    }
  });

  it('is asked for no more of a failure than says what it is', async () => {
    on('GET /v1/namespaces', endless(403));
    await assert.rejects(catalog.listNamespaces([]), { code: 'PERMISSION_DENIED' });
  });

  it('that says a byte now and then ends with its time', async () => {
    let timer: NodeJS.Timeout | undefined;
    on('GET /v1/namespaces', (_request, response) => {
      timer = setInterval(() => response.write(' '), 20);
      response.once('close', () => clearInterval(timer));
    });
    const slow = createRestCatalog(rest.place({ maxAnswerMs: 200 }), {
      user: 'ada',
      accessToken: () => 'token',
    });
    await assert.rejects(slow.listNamespaces([]), { code: 'CATALOG_ERROR', message: /takes too long/ });
  });

  it('keeps nobody waiting who has given up, also while its configuration hangs', async () => {
    on('GET /v1/config', () => undefined);
    const giveUp = new AbortController();
    const listing = catalog.listNamespaces([], { signal: giveUp.signal });
    giveUp.abort();
    await assert.rejects(listing, { code: 'CANCELLED' });
  });

  it('that hangs ends with its time, and with the signal', async () => {
    on('GET /v1/namespaces', () => undefined);
    await assert.rejects(newCatalog().listNamespaces([]), { code: 'CATALOG_ERROR', message: /silent/ });
    const signal = AbortSignal.abort();
    await assert.rejects(catalog.listNamespaces([], { signal }), { code: 'CANCELLED' });
  });

  it('is left alone for a while after it did not answer several times', async () => {
    on('GET /v1/namespaces', problem(503, 'x'));
    for (let call = 0; call < 5; call += 1) await assert.rejects(catalog.listNamespaces([]));
    const asked = server.requests.length;
    await assert.rejects(catalog.listNamespaces([]), { code: 'CATALOG_ERROR', message: /left alone/ });
    assert.equal(server.requests.length, asked);
  });
});

describe('a REST catalog that answers one request badly', () => {
  for (const status of [429, 500])
    it(`is not left alone for it: ${status}`, async () => {
      on('GET /v1/namespaces/sales/tables/orders', problem(status, 'x'));
      on('GET /v1/namespaces', json({ namespaces: [] }));
      for (let call = 0; call < 6; call += 1)
        await assert.rejects(catalog.loadTable(orders), {
          code: 'CATALOG_ERROR',
          message: new RegExp(`answers ${status} for table "sales.orders"`),
        });
      assert.deepEqual(await catalog.listNamespaces([]), []);
    });
});

describe('a change through a REST catalog', () => {
  const table = 'POST /v1/namespaces/sales/tables/orders';

  it('that another writer overtook is a conflict, and one of a table to be made says that it exists', async () => {
    on(table, problem(409, 'CommitFailedException'));
    await assert.rejects(catalog.commitTable(orders, noChange), { code: 'COMMIT_CONFLICT', retryable: true });
    const creation = { requirements: [{ type: 'assert-create' }] as const, updates: [] };
    await assert.rejects(catalog.commitTable(orders, creation), { code: 'ALREADY_EXISTS' });
  });

  it('whose answer is lost or says 500, 502 or 504 is unknown, and is sent once', async () => {
    const lost: Handler = (_request, response) => response.destroy();
    for (const handler of [lost, ...[500, 502, 504].map((status) => problem(status, 'x'))]) {
      const before = server.requests.length;
      on(table, handler);
      await assert.rejects(newCatalog().commitTable(orders, noChange), { code: 'COMMIT_OUTCOME_UNKNOWN' });
      assert.equal(server.requests.length - before, 2, 'configuration and change');
    }
  });

  it('that the service had no time for is sent again', async () => {
    let calls = 0;
    on(table, (request, response, body) => {
      calls += 1;
      problem(calls < 3 ? 503 : 409, 'x')(request, response, body);
    });
    await assert.rejects(catalog.commitTable(orders, noChange), { code: 'COMMIT_CONFLICT' });
    assert.equal(calls, 3);
  });

  it('tells a schema with something in it from other refusals', async () => {
    on('DELETE /v1/namespaces/sales', problem(409, 'NamespaceNotEmptyException'));
    await assert.rejects(catalog.dropNamespace(['sales']), { code: 'SCHEMA_NOT_EMPTY' });
    on('DELETE /v1/namespaces/sales', problem(403, 'ForbiddenException'));
    await assert.rejects(catalog.dropNamespace(['sales']), { code: 'PERMISSION_DENIED' });
    on('POST /v1/namespaces', problem(409, 'AlreadyExistsException'));
    await assert.rejects(catalog.createNamespace(['sales']), { code: 'ALREADY_EXISTS' });
  });
});

describe('the files of a table in a REST catalog', () => {
  it('are opened only with credentials that the catalog gave out for it', async () => {
    on('GET /v1/namespaces/sales/tables/orders', json(loadedOrders({})));
    const { store } = await catalog.loadTable(orders);
    await assert.rejects(store.read('s3://lake/orders/data/a'), {
      code: 'STORAGE_ACCESS_DENIED',
      message: 'The catalog gave this user no credentials for "sales.orders" (s3://lake/orders/data/a).',
    });
    await assert.rejects(store.read('/etc/passwd'), { code: 'NOT_SUPPORTED' });
    await assert.rejects(store.read('http://127.0.0.1/x'), { code: 'NOT_SUPPORTED' });
  });

  it('outside of every prefix are not opened, also when a prefix begins alike', async () => {
    const keys = { 's3.access-key-id': 'k', 's3.secret-access-key': 's' };
    const credentials = [{ prefix: 's3://lake/orders', config: keys }];
    on('GET /v1/namespaces/sales/tables/orders', json(loadedOrders({ 'storage-credentials': credentials })));
    const { store } = await catalog.loadTable(orders);
    for (const location of ['s3://lake/orders2/a', 's3://lake2/orders/a', 's3://lake/a'])
      await assert.rejects(store.read(location), { code: 'STORAGE_ACCESS_DENIED' }, location);
  });

  it('that the catalog wants to sign for are refused by name', async () => {
    const config = { 's3.remote-signing-enabled': 'true' };
    on('GET /v1/namespaces/sales/tables/orders', json(loadedOrders({ config })));
    const { store } = await catalog.loadTable(orders);
    await assert.rejects(store.read('s3://lake/orders/a'), {
      code: 'NOT_SUPPORTED',
      message: /sign each request/,
    });
  });

  it('are asked for with delegation, as the user', async () => {
    on('GET /v1/namespaces/sales/tables/orders', json(loadedOrders({})));
    await catalog.loadTable(orders);
    assert.equal(server.requests.at(-1)?.headers['x-iceberg-access-delegation'], 'vended-credentials');
  });
});

function newCatalog(maxAnswerBytes?: number): WritableCatalog {
  const options = maxAnswerBytes === undefined ? {} : { maxAnswerBytes };
  return createRestCatalog(rest.place(options), {
    user: 'ada',
    accessToken: () => (tokens.length > 1 ? tokens.shift() : tokens[0]),
  });
}
