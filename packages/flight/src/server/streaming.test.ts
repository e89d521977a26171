/** DoGet in each way it can run: without copying, with one copy, and both under TLS. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { tableFromIPC } from 'apache-arrow';
import { joinIpcStream } from '../arrow/ipc-message.js';
import type { ResultStream } from '../backend.js';
import { FlightDataSchema, TicketSchema } from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import { encodeTicket } from '../messages/command.js';
import { selfSignedCertificate } from '../test-support/certificate.js';
import {
  createFakeBackend,
  type FakeBackend,
  type FakeRecord,
  wideResult,
} from '../test-support/fake-backend.js';
import { connectRawHttp2 } from '../test-support/raw-http2-client.js';
import { readAll, startServerAndClient } from '../test-support/server-and-client.js';
import { until } from '../test-support/until.js';

const MEBIBYTE = 1024 * 1024;
const tls = await selfSignedCertificate();

function wideBackend(bodyBytes: number, count: number): FakeBackend {
  return createFakeBackend((_sql, _context, record) => wideResult(bodyBytes, count, record));
}

/** Messages in shared memory that is filled with garbage as soon as it is given back, as a reused slot would be. */
function reusedMemory(result: ResultStream): ResultStream {
  return {
    ...result,
    messages: (async function* () {
      for await (const message of result.messages) {
        const body = Buffer.from(new SharedArrayBuffer(message.body.length));
        body.set(message.body);
        yield {
          ...message,
          body,
          release: () => {
            body.fill(0xee);
            message.release();
          },
        };
      }
    })(),
  };
}

for (const [name, options] of [
  ['without copying', { zeroCopy: true }],
  ['with one copy', { zeroCopy: false }],
  ['without copying, TLS', { zeroCopy: true, tls }],
  ['with one copy, TLS', { zeroCopy: false, tls }],
] as const) {
  test(`${name}: 32 MiB arrive as they were, though memory is reused at once`, async () => {
    const backend = createFakeBackend((_sql, _context, record) =>
      reusedMemory(wideResult(4 * MEBIBYTE, 8, record)),
    );
    using flight = await startServerAndClient(backend, options);
    const messages = await readAll(flight.client, 'wide');
    const table = tableFromIPC(joinIpcStream(messages));
    assert.equal(table.numRows, (8 * 4 * MEBIBYTE) / 64);
    for (const batch of table.batches)
      for (const row of [0, 1, batch.numRows - 1]) {
        const { c0, c7 } = batch.get(row)?.toJSON() ?? {};
        assert.deepEqual([c0, c7], [BigInt(row), row + 7 / 8]);
      }
    assert.deepEqual(countsOf(backend.record), { pulled: 8, released: 8, returned: 0 });
  });

  test(`${name}: a reader that stops lets the server pull no further`, async () => {
    const backend = wideBackend(4 * MEBIBYTE, 1000);
    using flight = await startServerAndClient(backend, options);
    const { tickets } = await flight.client.planStatement('wide');
    const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
    await stream.next();
    await stream.next();
    await settled(backend.record);
    // One is being read, one is on its way (in the client's window and the sockets), one is being written.
    assert.ok(backend.record.pulled <= 4, `${backend.record.pulled} pulled`);
    assert.ok(backend.record.pulled - backend.record.released <= 1);
    await stream.return();
    await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
  });

  test(`${name}: a client that cancels ends the source and gives everything back`, async () => {
    const backend = wideBackend(MEBIBYTE, 1000);
    using flight = await startServerAndClient(backend, options);
    const cancel = new AbortController();
    const { tickets } = await flight.client.planStatement('wide');
    const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0), { signal: cancel.signal });
    await stream.next();
    await stream.next();
    cancel.abort(new QueryError('CANCELLED', 'enough'));
    await assert.rejects(
      async () => {
        for (;;) await stream.next().then(({ done }) => assert.equal(done, false));
      },
      { code: 'CANCELLED' },
    );
    await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
    assert.equal(backend.record.contexts.at(-1)?.signal.reason.code, 'CANCELLED');
    assert.equal((await readFirst(flight, 'wide')).length > 0, true);
  });

  test(`${name}: a client that vanishes ends the source`, async () => {
    const backend = wideBackend(MEBIBYTE, 1000);
    using flight = await startServerAndClient(backend, options);
    const { tickets } = await flight.client.planStatement('wide');
    const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
    await stream.next();
    flight.client.close();
    await stream.return();
    await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
  });

  test(`${name}: a batch above the limit is refused with a code`, async () => {
    const backend = wideBackend(MEBIBYTE, 2);
    using flight = await startServerAndClient(backend, { ...options, limits: { maxSendBytes: 1000 } });
    await assert.rejects(readAll(flight.client, 'wide'), { code: 'RESULT_TOO_LARGE' });
    assert.deepEqual(countsOf(backend.record), { pulled: 1, released: 1, returned: 1 });
  });

  test(`${name}: a result that fails while its reader sleeps is cut off`, async () => {
    const failed = new AbortController();
    const backend = createFakeBackend((_sql, _context, record) => ({
      ...wideResult(MEBIBYTE, 1000, record),
      failed: failed.signal,
    }));
    using flight = await startServerAndClient(backend, options);
    const { tickets } = await flight.client.planStatement('wide');
    const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0));
    await stream.next();
    await settled(backend.record);
    failed.abort(new QueryError('SLOW_CONSUMER', 'too slow'));
    await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
    await assert.rejects(async () => {
      for (;;) if ((await stream.next()).done === true) return;
    });
  });
}

test('the deadline of a call reaches the backend as QUERY_TIMEOUT', async () => {
  const backend = createFakeBackend((_sql, context, record) => ({
    ...wideResult(64, 1, record),
    messages: (async function* () {
      await new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
    })(),
  }));
  using flight = await startServerAndClient(backend);
  const { tickets } = await flight.client.planStatement('wait');
  const stream = flight.client.read(tickets[0] ?? Buffer.alloc(0), { deadlineMs: 500 });
  await stream.next();
  await assert.rejects(stream.next(), { code: 'QUERY_TIMEOUT' });
  const signal = backend.record.contexts.at(-1)?.signal;
  await until(() => signal?.aborted === true);
  assert.equal(signal?.reason.code, 'QUERY_TIMEOUT');
});

test('a call that ends well does not abort its signal', async () => {
  const backend = wideBackend(1000, 3);
  using flight = await startServerAndClient(backend);
  await readAll(flight.client, 'wide');
  await flight.client.planStatement('another');
  assert.deepEqual(
    backend.record.contexts.map(({ signal }) => signal.aborted),
    backend.record.contexts.map(() => false),
  );
});

test('memory of a message that is cut off halfway is never sent with what came into it later', async () => {
  const backend = createFakeBackend((_sql, _context, record) =>
    reusedMemory(wideResult(14 * MEBIBYTE, 2, record)),
  );
  using flight = await startServerAndClient(backend);
  const bearer = [...backend.sessions.keys()][0];
  // The window lets a part of the message onto the connection, where it waits because nobody reads the socket.
  const raw = await connectRawHttp2(flight.server.port, 10 * MEBIBYTE);
  const ticket = encodeMessage(TicketSchema, { ticket: encodeTicket(Buffer.from('wide')) });
  raw.call('DoGet', [['authorization', `Bearer ${bearer}`]], ticket);
  await until(() => raw.socket.bytesRead > 1000);
  raw.socket.pause();
  await settled(backend.record);
  await flight.server.close(1);
  await until(() => backend.record.returned === 1 && backend.record.released === backend.record.pulled);
  const closed = new Promise((resolve) => raw.socket.once('close', resolve));
  raw.socket.resume();
  await closed;
  const data = raw.received();
  assert.ok(data.length > 1000 && data.length < 14 * MEBIBYTE);
  assert.equal(data.includes(Buffer.alloc(64, 0xee)), false);
});

function countsOf({ pulled, released, returned }: FakeRecord) {
  return { pulled, released, returned };
}

/** Resolves once the source has not moved for a hundred turns of the event loop with the socket idle. */
async function settled(record: FakeRecord): Promise<void> {
  let quietTurns = 0;
  let last = -1;
  while (quietTurns < 100) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    const now = record.pulled + record.released;
    quietTurns = now === last ? quietTurns + 1 : 0;
    last = now;
  }
}

async function readFirst(
  flight: Awaited<ReturnType<typeof startServerAndClient>>,
  sql: string,
): Promise<Uint8Array> {
  const { tickets } = await flight.client.planStatement(sql);
  for await (const message of flight.client.read(tickets[0] ?? Buffer.alloc(0))) return message.header;
  return new Uint8Array();
}

test('FlightData without copying is what a protobuf decoder expects', async () => {
  using flight = await startServerAndClient(wideBackend(1000, 1));
  const raw = await connectRawHttp2(flight.server.port, MEBIBYTE);
  const bearer = [...flight.backend.sessions.keys()][0];
  const ticket = encodeMessage(TicketSchema, { ticket: encodeTicket(Buffer.from('wide')) });
  raw.call('DoGet', [['authorization', `Bearer ${bearer}`]], ticket);
  await until(() => raw.isEnded());
  const data = raw.received();
  const messages = [];
  for (let position = 0; position < data.length; ) {
    const length = data.readUInt32BE(position + 1);
    const message = data.subarray(position + 5, position + 5 + length);
    messages.push(decodeMessage(FlightDataSchema, message, 'The message'));
    position += 5 + length;
  }
  assert.deepEqual(
    messages.map(({ dataHeader, dataBody }) => [dataHeader.length > 0, dataBody.length > 0]),
    [
      [true, false],
      [true, true],
    ],
  );
  raw.socket.destroy();
});
