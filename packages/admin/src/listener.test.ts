import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { silentLogger } from '@svc/base';
import { type HttpLimits, openListener } from './listener.js';
import { textReply } from './reply.js';
import type { Routes } from './routes.js';

const routes: Routes = new Map([['/healthz', { GET: () => textReply(200, 'ok') }]]);
const shortLimits: HttpLimits = {
  maxHeaderSize: 1024,
  headersTimeout: 50,
  requestTimeout: 100,
  connectionsCheckingInterval: 10,
  keepAliveTimeout: 50,
};

describe('a request that is not right', () => {
  it('is answered 400 when it is not HTTP, has no host or a target that is no path', async () => {
    for (const text of [
      'garbage\r\n\r\n',
      'GET /healthz HTTP/1.1\r\n\r\n',
      'GET /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
      'GET http:// HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    ])
      assert.match(await exchange(text), /^HTTP\/1\.1 400 /, text);
  });

  it('is answered 431 when its headers are too large', async () => {
    const text = `GET /healthz HTTP/1.1\r\nHost: a\r\nX-Long: ${'x'.repeat(4096)}\r\n\r\n`;
    assert.match(await exchange(text), /^HTTP\/1\.1 431 /);
  });

  it('is cut off when it never ends its headers, or never starts', async () => {
    assert.match(await exchange('GET /healthz HTTP/1.1\r\nHost:'), /^HTTP\/1\.1 408 /);
    assert.match(await exchange(''), /^(HTTP\/1\.1 408 |$)/);
  });

  it('is answered without waiting for its body, and the connection ends', async () => {
    const text = 'PUT /healthz HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000000\r\n\r\nabc';
    const answer = await exchange(text);
    assert.match(answer, /^HTTP\/1\.1 405 /);
    assert.match(answer, /\r\nconnection: close\r\n/i);
  });

  it('takes the absolute form that a proxy sends', async () => {
    const text = 'GET http://node:9091/healthz HTTP/1.1\r\nHost: node:9091\r\nConnection: close\r\n\r\n';
    assert.match(await exchange(text), /^HTTP\/1\.1 200 .*\r\n\r\nok$/s);
  });
});

/** Sends raw bytes to a listener with short limits and answers all it sends back before the connection ends. */
async function exchange(text: string): Promise<string> {
  const listener = await openListener({
    purpose: 'test',
    bindAddress: '127.0.0.1',
    port: 0,
    routes,
    clientAddress: (peer) => peer,
    logger: silentLogger,
    limits: shortLimits,
  });
  try {
    const socket = connect(listener.port, '127.0.0.1');
    socket.write(text);
    let answer = '';
    for await (const part of socket.setEncoding('latin1')) answer += part;
    return answer;
  } finally {
    await listener.destroy();
  }
}
