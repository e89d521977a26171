import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Channel, credentials, Metadata } from '@grpc/grpc-js';
import { openRawCall } from '../client/raw-call.js';
import {
  BasicAuthSchema,
  HandshakeRequestSchema,
  HandshakeResponseSchema,
  TicketSchema,
} from '../gen/Flight_pb.js';
import { CommandGetTableTypesSchema } from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage, packAny } from '../messages/any.js';
import { connectRawHttp2 } from '../test-support/raw-http2-client.js';
import { startServerAndClient } from '../test-support/server-and-client.js';
import { until } from '../test-support/until.js';

const basic = `Basic ${Buffer.from('alice:secret').toString('base64')}`;

function handshake(port: number, headers: Readonly<Record<string, string>>) {
  const channel = new Channel(`127.0.0.1:${port}`, credentials.createInsecure(), {});
  const metadata = new Metadata();
  for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
  return { channel, call: openRawCall({ channel, method: 'Handshake', metadata }) };
}

for (const [client, messages] of [
  ['pyarrow and ADBC: no message', []],
  ['JDBC: one empty message', [encodeMessage(HandshakeRequestSchema, {})]],
] as const) {
  test(`Basic in the header, ${client}: the bearer comes first and last`, async () => {
    using flight = await startServerAndClient();
    const { channel, call } = handshake(flight.server.port, { authorization: basic });
    for (const message of messages) await call.send(message);
    call.halfClose();
    assert.equal(await call.read(), undefined);
    const bearer = call.headers()?.get('authorization')[0];
    assert.match(String(bearer), /^Bearer session-\d+$/);
    assert.equal(call.trailers()?.get('authorization')[0], bearer);
    channel.close();
  });
}

test('a payload signs in, and its token is accepted as auth-token-bin', async () => {
  using flight = await startServerAndClient();
  const { channel, call } = handshake(flight.server.port, {});
  const payload = encodeMessage(BasicAuthSchema, { username: 'alice', password: 'secret' });
  await call.send(encodeMessage(HandshakeRequestSchema, { payload }));
  const answer = decodeMessage(HandshakeResponseSchema, (await call.read()) ?? Buffer.alloc(0), 'The answer');
  call.halfClose();
  assert.equal(await call.read(), undefined);
  const metadata = new Metadata();
  metadata.set('auth-token-bin', Buffer.from(answer.payload));
  using actions = openRawCall({ channel, method: 'ListActions', metadata });
  await actions.send(Buffer.alloc(0));
  actions.halfClose();
  assert.notEqual(await actions.read(), undefined);
  channel.close();
});

test('a bearer is checked by a handshake', async () => {
  using flight = await startServerAndClient();
  for (const [token, code] of [
    ['session-1', undefined],
    ['session-99', 'UNAUTHENTICATED'],
  ] as const) {
    const { channel, call } = handshake(flight.server.port, { authorization: `Bearer ${token}` });
    call.halfClose();
    if (code === undefined) assert.equal(await call.read(), undefined);
    else await assert.rejects(call.read(), { code });
    channel.close();
  }
});

test('a handshake with nothing, a wrong password or garbage is refused', async () => {
  using flight = await startServerAndClient();
  const wrong = encodeMessage(BasicAuthSchema, { username: 'alice', password: 'wrong' });
  const attempts = [
    { headers: {}, message: encodeMessage(HandshakeRequestSchema, {}), code: 'UNAUTHENTICATED' },
    {
      headers: {},
      message: encodeMessage(HandshakeRequestSchema, { payload: wrong }),
      code: 'UNAUTHENTICATED',
    },
    { headers: {}, message: Buffer.alloc(50, 0xff), code: 'INVALID_ARGUMENT' },
    { headers: {}, message: Buffer.alloc(100_000), code: 'INVALID_ARGUMENT' },
    { headers: { authorization: 'Basic !!' }, message: Buffer.alloc(0), code: 'UNAUTHENTICATED' },
  ];
  for (const { headers, message, code } of attempts) {
    const { channel, call } = handshake(flight.server.port, headers);
    await call.send(message);
    call.halfClose();
    await assert.rejects(call.read(), { code });
    channel.close();
  }
});

test('Basic with a call signs in once and tells the bearer', async () => {
  using flight = await startServerAndClient();
  const client = flight.connect();
  const before = flight.backend.record.signIns;
  await client.planStatement('select 1', { headers: { authorization: basic } });
  await client.planStatement('select 1', { headers: { authorization: basic } });
  assert.equal(flight.backend.record.signIns, before + 1);
});

test('a call without credentials is refused before its body is read', async () => {
  using flight = await startServerAndClient();
  await assert.rejects(flight.connect().planStatement(' '.repeat(10_000_000)), { code: 'UNAUTHENTICATED' });
  assert.equal(flight.backend.record.statements.length, 0);
});

test('one authorization header is accepted and two are refused, whichever comes first', async () => {
  using flight = await startServerAndClient();
  const ticket = encodeMessage(TicketSchema, { ticket: packAny(CommandGetTableTypesSchema, {}) });
  const bearers = [['session-1'], ['session-1', 'session-1'], ['session-1', 'x'], ['x', 'session-1']];
  const isAnswered: boolean[] = [];
  for (const headers of bearers) {
    const raw = await connectRawHttp2(flight.server.port, 65_535);
    raw.call(
      'DoGet',
      headers.map((bearer) => ['authorization', `Bearer ${bearer}`]),
      ticket,
    );
    await until(() => raw.isEnded());
    isAnswered.push(raw.received().length > 0);
    raw.socket.destroy();
  }
  assert.deepEqual(isAnswered, [true, false, false, false]);
});
