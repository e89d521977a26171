import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { createLogger, parseLogFilter, QueryError, silentLogger } from '@svc/base';
import { type AdminServer, startAdmin } from './admin-server.js';
import type { AdminBackend, StatusDocument } from './backend.js';

describe('the health port', () => {
  it('answers /healthz with a plain ok, ready or not', async () => {
    await using admin = await start({ isReady: () => false });
    const response = await fetch(`${admin.healthUrl}/healthz`);
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type') ?? '', /^text\/plain/);
    assert.equal(await response.text(), 'ok');
  });

  it('follows the backend on /readyz', async () => {
    let ready = false;
    await using admin = await start({ isReady: () => ready });
    assert.deepEqual(await get(`${admin.healthUrl}/readyz`), [503, 'initializing']);
    ready = true;
    assert.deepEqual(await get(`${admin.healthUrl}/readyz?verbose=1`), [200, 'ready']);
  });

  it('serves the status document as the backend gives it', async () => {
    await using admin = await start({});
    const response = await fetch(`${admin.healthUrl}/api/v1/status`);
    assert.equal(response.headers.get('content-type'), 'application/json');
    assert.deepEqual(await response.json(), statusDocument);
  });

  it('has no dashboard and no read API', async () => {
    await using admin = await start({});
    for (const path of ['', '/api/v1/queries?state=all', '/api/v1/queries/q1', '/api/v1/overview'])
      assert.equal((await get(`${admin.healthUrl}${path}`))[0], 404, path);
    for (const path of ['/api/v1/workers', '/api/v1/metrics/history', '/metrics', '/healthz/', '//healthz'])
      assert.equal((await get(`${admin.healthUrl}${path}`))[0], 404, path);
  });

  it('answers HEAD like GET without a body, and other methods with what is allowed', async () => {
    await using admin = await start({});
    const head = await fetch(`${admin.healthUrl}/healthz`, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('content-length'), await head.text()], [200, '2', '']);
    const wrong = await fetch(`${admin.healthUrl}/healthz`, { method: 'DELETE' });
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD']);
    const refresh = await fetch(`${admin.healthUrl}/api/v1/catalogs/refresh`);
    assert.deepEqual([refresh.status, refresh.headers.get('allow')], [405, 'POST']);
  });
});

describe('the metrics port', () => {
  it('serves the text exposition and nothing else', async () => {
    await using admin = await start({ metricsText: async () => 'svc_rows_returned_total 5\n' });
    const response = await fetch(`${admin.metricsUrl}/metrics`);
    assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
    assert.equal(await response.text(), 'svc_rows_returned_total 5\n');
    for (const path of ['', '/healthz', '/api/v1/status'])
      assert.equal((await get(`${admin.metricsUrl}${path}`))[0], 404);
  });

  it('answers 500 without the reason when the backend fails, and logs the reason with the caller’s ids', async () => {
    const lines: string[] = [];
    const logger = createLogger('svc::admin', {
      write: (line) => lines.push(line),
      filter: parseLogFilter('error'),
    });
    const metricsText = async (): Promise<string> => Promise.reject(new Error('registry is broken'));
    await using admin = await start({ metricsText }, logger);
    const headers = { 'x-request-id': 'scrape-1', 'x-session-id': 'not valid!' };
    const response = await fetch(`${admin.metricsUrl}/metrics`, { headers });
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /registry/);
    const record = new Map(Object.entries(JSON.parse(lines.join(''))));
    assert.equal(record.get('request_id'), 'scrape-1');
    assert.equal(record.get('session_id'), undefined);
    assert.match(String(record.get('error_detail')), /registry is broken/);
  });
});

describe('ports', () => {
  it('puts the probes one above the metrics', async () => {
    const port = await freePairOfPorts();
    await using admin = await start({}, silentLogger, port);
    assert.equal(admin.metricsUrl, `http://127.0.0.1:${port}`);
    assert.equal(admin.healthUrl, `http://127.0.0.1:${port + 1}`);
  });

  it('names port and key when one is taken, and opens neither', async () => {
    const port = await freePairOfPorts();
    await using taken = await occupy(port + 1);
    assert.ok(taken.listening);
    await assert.rejects(start({}, silentLogger, port), (error) => {
      assert.ok(error instanceof QueryError && error.code === 'CONFIGURATION_ERROR');
      assert.match(error.message, new RegExp(`Port ${port + 1} .*\`metrics\\.prometheus_port\``));
      return true;
    });
    await using again = await occupy(port);
    assert.ok(again.listening);
  });

  it('names the key of an address this machine does not have', async () => {
    const options = { backend: backend({}), bindAddress: '192.0.2.1', metricsPort: 0, logger: silentLogger };
    await assert.rejects(startAdmin(options), /`server\.bind_address`/);
  });

  it('writes an IPv6 address in brackets', async (context) => {
    const options = { backend: backend({}), bindAddress: '::1', metricsPort: 0, logger: silentLogger };
    const admin = await startAdmin(options).catch(() => undefined);
    if (admin === undefined) return context.skip('This machine has no IPv6 loopback.');
    await using opened = admin;
    assert.deepEqual(await get(`${opened.healthUrl}/healthz`), [200, 'ok']);
  });
});

describe('the end', () => {
  it('comes at once when nothing is in progress, and may be asked for again', async () => {
    const admin = await start({});
    await get(`${admin.healthUrl}/healthz`);
    await admin.close(60_000);
    await admin.close(60_000);
    await admin.destroy();
    await assert.rejects(fetch(`${admin.healthUrl}/healthz`));
  });

  it('lets a request in progress finish', async () => {
    const scrape = gate();
    const admin = await start({ metricsText: scrape.wait });
    const answer = get(`${admin.metricsUrl}/metrics`);
    await scrape.entered;
    const closed = admin.close(60_000);
    scrape.open();
    assert.deepEqual(await answer, [200, 'done']);
    await closed;
  });

  it('cuts off what is still in progress at the deadline, and at once when destroyed', async () => {
    for (const end of [(admin: AdminServer) => admin.close(1), (admin: AdminServer) => admin.destroy()]) {
      const scrape = gate();
      const admin = await start({ metricsText: scrape.wait });
      const answer = assert.rejects(get(`${admin.metricsUrl}/metrics`));
      await scrape.entered;
      await end(admin);
      await answer;
      scrape.open();
    }
  });
});

const statusDocument: StatusDocument = {
  status: 'ACTIVE',
  node: { role: 'coordinator', version: '0.1.0', engineVersion: '1.5.5', uptimeSeconds: 7 },
  workers: { total: 1, healthy: 1, healthyUrls: ['grpc://127.0.0.1:50051'] },
};

function backend(overrides: Partial<AdminBackend>): AdminBackend {
  return {
    isReady: () => true,
    status: () => statusDocument,
    metricsText: async () => '',
    authorizeAdmin: async () => ({ username: 'ada' }),
    refreshCatalogs: async () => {},
    ...overrides,
  };
}

function start(
  overrides: Partial<AdminBackend>,
  logger = silentLogger,
  metricsPort = 0,
): Promise<AdminServer> {
  return startAdmin({ backend: backend(overrides), bindAddress: '127.0.0.1', metricsPort, logger });
}

async function get(url: string): Promise<readonly [number, string]> {
  const response = await fetch(url);
  return [response.status, await response.text()];
}

/** A metrics text that is not ready before `open`. */
function gate(): { wait(): Promise<string>; entered: Promise<void>; open(): void } {
  let open = (): void => undefined;
  let enter = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const entered = new Promise<void>((resolve) => {
    enter = resolve;
  });
  const wait = async (): Promise<string> => {
    enter();
    await opened;
    return 'done';
  };
  return { wait, entered, open };
}

async function occupy(port: number): Promise<Server & AsyncDisposable> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return server;
}

async function freePairOfPorts(): Promise<number> {
  for (;;) {
    await using first = await occupy(0);
    const { port } = first.address() as AddressInfo;
    const second = await occupy(port + 1).catch(() => undefined);
    if (second === undefined) continue;
    await using closing = second;
    assert.ok(closing.listening);
    return port;
  }
}
