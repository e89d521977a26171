import assert from 'node:assert/strict';
import { connect, createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import type { QueryError } from '@svc/base';
import { createFlightClient } from '../client/flight-client.js';
import { createFakeBackend, wideResult } from '../test-support/fake-backend.js';
import { startServerAndClient } from '../test-support/server-and-client.js';
import { until } from '../test-support/until.js';

/** A result that ends when the test says so. */
function heldBackend() {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const backend = createFakeBackend((_sql, context, record) => ({
    ...wideResult(64, 1, record),
    messages: (async function* () {
      yield* wideResult(64, 1, record).messages;
      await Promise.race([
        held,
        new Promise((_resolve, reject) => {
          context.signal.addEventListener('abort', () => reject(context.signal.reason));
        }),
      ]);
      yield* wideResult(64, 1, record).messages;
    })(),
  }));
  return { backend, letGo };
}

test('a draining server signs nobody in, and lets running calls finish', async () => {
  const { backend, letGo } = heldBackend();
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('held');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  const closed = flight.server.close(60_000);
  await assert.rejects(
    flight.client.signIn('alice', 'secret'),
    (error: QueryError) => error.code === 'SHUTTING_DOWN' && error.retryable,
  );
  await flight.client.closePrepared(Buffer.from('old'));
  letGo();
  let count = 0;
  for await (const _message of stream) count++;
  assert.equal(count, 2);
  await closed;
});

test('a draining server leaves statements to its backend, and does not wait for those that come late', async () => {
  const { backend, letGo } = heldBackend();
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('held');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  const closed = flight.server.close(60_000);
  await flight.client.prepare('another');
  const late = flight.client.read((await flight.client.planStatement('late')).tickets[0] ?? Buffer.alloc(0));
  await late.next();
  assert.ok(backend.record.statements.includes('late'));
  await stream.return();
  await closed;
  await assert.rejects(async () => {
    for await (const _message of late);
  });
  letGo();
});

test('what runs beyond the deadline ends with SHUTTING_DOWN', async () => {
  const { backend } = heldBackend();
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('held');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  await stream.next();
  const closed = flight.server.close(1);
  await assert.rejects(stream.next(), { code: 'SHUTTING_DOWN' });
  await closed;
  await flight.server.close(1);
});

test('a client that does not read holds nothing up', async () => {
  const backend = createFakeBackend((_sql, _context, record) => wideResult(4_000_000, 1000, record));
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('wide');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  await flight.server.close(1);
  await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
});

test('destroy cuts a stream off and gives everything back', async () => {
  const backend = createFakeBackend((_sql, _context, record) => wideResult(1_000_000, 1000, record));
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('wide');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  flight.server.destroy();
  flight.server.destroy();
  await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
  await assert.rejects(flight.client.planStatement('another'), { code: 'PEER_UNAVAILABLE' });
});

test('a peer that no longer answers is found by keepalive', async () => {
  const backend = createFakeBackend((_sql, _context, record) => wideResult(1_000_000, 1000, record));
  using flight = await startServerAndClient(backend, { keepalive: { timeMs: 1000, timeoutMs: 1000 } });
  const sockets: Socket[] = [];
  const relay = createServer((near) => {
    const far = connect(flight.server.port, '127.0.0.1');
    sockets.push(near, far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  const client = createFlightClient({ host: '127.0.0.1', port: (relay.address() as { port: number }).port });
  await client.signIn('alice', 'secret');
  const { tickets } = await client.planStatement('wide');
  const stream = client.read(tickets[0] ?? Buffer.alloc(0));
  await stream.next();
  for (const socket of sockets) socket.unpipe().pause();
  await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
  client.close();
  for (const socket of sockets) socket.destroy();
  relay.close();
  await stream.return();
});
