import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { createLogger, parseLogFilter, QueryError } from '@svc/base';
import { startAdmin } from './admin-server.js';
import type { AdminBackend, AdminCaller } from './backend.js';

const path = '/api/v1/catalogs/refresh';
const admin = { authorization: 'Bearer token-of-ada' };
const json = { ...admin, 'content-type': 'application/json' };

describe('spec 4.4: POST /api/v1/catalogs/refresh', () => {
  it('drops everything without a body, and one user’s with a name', async () => {
    await using gate = await open();
    for (const [body, expected] of [
      [undefined, 'all'],
      ['', 'all'],
      ['{}', 'all'],
      ['{"username":"bob"}', 'session:bob'],
      ['{"username":"a\\"b é"}', 'session:a"b é'],
    ] as const) {
      const response = await gate.post({ headers: json, ...(body !== undefined && { body }) });
      assert.deepEqual([response.status, await response.json()], [200, { invalidated: expected }]);
      assert.equal(response.headers.get('content-type'), 'application/json');
    }
    assert.deepEqual(gate.refreshed, [undefined, undefined, undefined, 'bob', 'a"b é']);
  });

  it('takes nothing else', async () => {
    await using gate = await open();
    for (const [status, body, headers] of [
      [400, '{', json],
      [400, 'null', json],
      [400, '[]', json],
      [400, '"bob"', json],
      [400, '{"username":""}', json],
      [400, '{"username":7}', json],
      [400, '{"username":null}', json],
      [400, `{"username":"${'x'.repeat(257)}"}`, json],
      [400, '{"username":"bob","all":true}', json],
      [400, '{"__proto__":{"username":"bob"}}', json],
      [400, Buffer.from('{"username":"\xff"}', 'latin1'), json],
      [415, '{}', { ...admin, 'content-type': 'text/plain' }],
      [415, '{}', { ...json, 'content-type': 'application/json; charset=utf-16' }],
      [415, '{}', { ...json, 'content-encoding': 'gzip' }],
      [413, `{"username":"${'x'.repeat(70_000)}"}`, json],
    ] as const) {
      const response = await gate.post({ headers, body });
      assert.equal(response.status, status, String(body).slice(0, 60));
      assert.match(await response.text(), /^{"error":{"code":"INVALID_ARGUMENT","message":/);
    }
    assert.deepEqual(gate.refreshed, []);
  });

  it('names the field that it does not know', async () => {
    await using gate = await open();
    const response = await gate.post({ headers: json, body: '{"user":"bob"}' });
    assert.match(await response.text(), /\\"user\\".*\\"username\\"/);
  });

  it('refuses a body without a declared length once it is too long, and answers', async () => {
    await using gate = await open();
    const chunk = `${(8192).toString(16)}\r\n${' '.repeat(8192)}\r\n`;
    const text = await gate.raw(
      'Transfer-Encoding: chunked\r\nContent-Type: application/json\r\nAuthorization: Bearer token-of-ada',
      chunk.repeat(9),
    );
    assert.match(text, /^HTTP\/1\.1 413 /);
  });

  it('asks for the body only of an admin', async () => {
    await using gate = await open();
    const expecting = 'Expect: 100-continue\r\nContent-Type: application/json\r\nContent-Length: 2';
    assert.match(await gate.raw(expecting), /^HTTP\/1\.1 401 /);
    const continued = await gate.raw(`${expecting}\r\nAuthorization: Bearer token-of-ada`, '{}');
    assert.match(continued, /^HTTP\/1\.1 100 .*\r\n\r\nHTTP\/1\.1 200 /s);
  });

  it('answers POST only', async () => {
    await using gate = await open();
    const response = await fetch(gate.url, { headers: admin });
    assert.deepEqual([response.status, response.headers.get('allow')], [405, 'POST']);
  });

  it('says in the log who did it', async () => {
    await using gate = await open();
    await gate.post({ headers: { ...json, 'x-request-id': 'r1' }, body: '{"username":"bob"}' });
    const [record] = gate.records().filter(({ level }) => level === 'info');
    assert.deepEqual([record?.user, record?.invalidated, record?.request_id], ['ada', 'session:bob', 'r1']);
  });
});

describe('spec 7: the admin endpoint', () => {
  it('answers 401 without a token, with a malformed one, and with one in a wrong place', async () => {
    await using gate = await open();
    for (const headers of [
      {},
      { authorization: '' },
      { authorization: 'Bearer' },
      { authorization: 'Bearer two tokens' },
      { authorization: 'Basic bG9jYWw6eA==' },
      { authorization: 'Bearer ö' },
      { cookie: 'authorization=token-of-ada' },
      { 'proxy-authorization': 'Bearer token-of-ada' },
      { 'x-session-id': 'token-of-ada', 'x-request-id': 'token-of-ada' },
    ]) {
      const response = await gate.post({ headers });
      assert.deepEqual(
        [response.status, response.headers.get('www-authenticate')],
        [401, 'Bearer realm="svc"'],
      );
      assert.match(await response.text(), /^{"error":{"code":"UNAUTHENTICATED","message":/);
    }
    assert.equal((await fetch(`${gate.url}?access_token=token-of-ada`, { method: 'POST' })).status, 401);
    assert.deepEqual(gate.callers, []);
  });

  it('answers 401 to two authorization headers, also when both are right', async () => {
    await using gate = await open();
    const twice = 'Authorization: Bearer token-of-ada\r\nAuthorization: Bearer token-of-ada';
    assert.match(await gate.raw(twice), /^HTTP\/1\.1 401 /);
    assert.deepEqual(gate.callers, []);
  });

  for (const [status, code] of [
    [401, 'UNAUTHENTICATED'],
    [401, 'SESSION_EXPIRED'],
    [401, 'SESSION_LOST'],
    [403, 'PERMISSION_DENIED'],
    [503, 'IDENTITY_PROVIDER_UNAVAILABLE'],
    [503, 'SIGN_IN_LIMITED'],
  ] as const) {
    it(`answers ${status} where the service says ${code}, and reads no body`, async () => {
      await using gate = await open(async () => {
        throw new QueryError(code, 'Why.');
      });
      const response = await gate.post({ headers: json, body: '{' });
      assert.deepEqual(
        [response.status, await response.json()],
        [status, { error: { code, message: 'Why.' } }],
      );
      assert.deepEqual(gate.refreshed, []);
    });
  }

  it('answers 500 without the reason to a defect', async () => {
    await using gate = await open(async () => {
      throw new Error('token-of-ada');
    });
    const response = await gate.post({ headers: admin });
    assert.equal(response.status, 500);
    assert.doesNotMatch(await response.text(), /token-of-ada/);
  });

  it('tells the service who calls: of a trusted proxy the one behind it', async () => {
    await using gate = await open(undefined, ['127.0.0.0/8']);
    await gate.post({ headers: { ...admin, 'x-forwarded-for': '10.9.9.9, 203.0.113.9' } });
    assert.deepEqual(
      gate.callers.map(({ clientAddress }) => clientAddress),
      ['203.0.113.9'],
    );
  });
});

interface LogRecord {
  readonly level: string;
  readonly user?: string;
  readonly invalidated?: string;
  readonly request_id?: string;
}

async function open(authorizeAdmin?: AdminBackend['authorizeAdmin'], trustedProxies: readonly string[] = []) {
  const refreshed: (string | undefined)[] = [];
  const callers: AdminCaller[] = [];
  const lines: string[] = [];
  const server = await startAdmin({
    backend: {
      isReady: () => true,
      status: () => ({
        status: 'ACTIVE',
        node: { role: 'coordinator', version: '0', engineVersion: '0', uptimeSeconds: 0 },
        workers: null,
      }),
      metricsText: async () => '',
      authorizeAdmin: async (bearer, caller) => {
        callers.push(caller);
        if (authorizeAdmin !== undefined) return await authorizeAdmin(bearer, caller);
        assert.equal(bearer, 'token-of-ada');
        return { username: 'ada' };
      },
      refreshCatalogs: async (username) => void refreshed.push(username),
    },
    bindAddress: '127.0.0.1',
    metricsPort: 0,
    trustedProxies,
    logger: createLogger('svc::admin', {
      write: (line) => lines.push(line),
      filter: parseLogFilter('trace'),
    }),
  });
  const url = `${server.healthUrl}${path}`;
  return {
    url,
    refreshed,
    callers,
    records: () => lines.map((line): LogRecord => JSON.parse(line)),
    post: (options: Pick<RequestInit, 'headers' | 'body'>) => fetch(url, { ...options, method: 'POST' }),
    /** What is answered to a request of these header lines and this body, to the end of the connection. */
    async raw(headers: string, body = ''): Promise<string> {
      const socket = connect(Number(new URL(url).port), '127.0.0.1');
      socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n\r\n${body}`);
      let answer = '';
      for await (const part of socket.setEncoding('latin1')) answer += part;
      return answer;
    },
    [Symbol.asyncDispose]: () => server.destroy(),
  };
}
