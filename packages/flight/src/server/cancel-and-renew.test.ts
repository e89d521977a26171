import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { Channel, credentials, Metadata } from '@grpc/grpc-js';
import { openRawCall } from '../client/raw-call.js';
import {
  FlightDescriptor_DescriptorType,
  FlightDescriptorSchema,
  FlightInfoSchema,
  PollInfoSchema,
} from '../gen/Flight_pb.js';
import {
  ActionCancelQueryRequestSchema,
  ActionCancelQueryResult_CancelResult,
  ActionCancelQueryResultSchema,
  CommandGetCatalogsSchema,
  CommandStatementQuerySchema,
} from '../gen/FlightSql_pb.js';
import { decodeMessage, encodeMessage, packAny, unpackAnyOf } from '../messages/any.js';
import { startServerAndClient } from '../test-support/server-and-client.js';

test('CancelFlightInfo and CancelQuery give the ticket of an info to the backend', async () => {
  using flight = await startServerAndClient();
  const { client, backend } = flight;
  const { tickets } = await client.planStatement('select 1');
  const [ticket = new Uint8Array()] = tickets;
  assert.equal(await client.cancel(ticket), 'cancelled');
  const info = encodeMessage(FlightInfoSchema, { endpoint: [{ ticket: { ticket } }] });
  const [answer] = await client.action('CancelQuery', packAny(ActionCancelQueryRequestSchema, { info }));
  assert.equal(
    unpackAnyOf(ActionCancelQueryResultSchema, answer ?? new Uint8Array(), 'The answer').result,
    ActionCancelQueryResult_CancelResult.CANCELLED,
  );
  assert.deepEqual(backend.record.statements, ['select 1', 'cancel select 1', 'cancel select 1']);
});

test('what is answered from metadata cannot be cancelled and does not expire', async () => {
  using flight = await startServerAndClient();
  const [ticket = new Uint8Array()] = (await flight.client.plan(packAny(CommandGetCatalogsSchema, {})))
    .tickets;
  assert.equal(await flight.client.cancel(ticket), 'not-cancellable');
  assert.equal(await flight.client.renew(ticket), undefined);
});

test('RenewFlightEndpoint answers until when', async () => {
  using flight = await startServerAndClient();
  const [ticket = new Uint8Array()] = (await flight.client.planStatement('select 1')).tickets;
  assert.equal(await flight.client.renew(ticket), 1_800_000_000_000);
});

test('bodies without an info, an endpoint or a ticket of ours are refused', async () => {
  using flight = await startServerAndClient();
  const { client } = flight;
  for (const type of ['CancelFlightInfo', 'RenewFlightEndpoint'])
    await assert.rejects(client.action(type, new Uint8Array()), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(client.action('CancelQuery', new Uint8Array()), { code: 'INVALID_ARGUMENT' });
  await assert.rejects(client.cancel(Buffer.from('x')), { code: 'TICKET_INVALID' });
  await assert.rejects(client.renew(Buffer.from('x')), { code: 'TICKET_INVALID' });
});

test('PollFlightInfo answers a complete info at once', async () => {
  using flight = await startServerAndClient();
  const bearer = await flight.client.signIn('alice', 'secret');
  const channel = new Channel(`127.0.0.1:${flight.server.port}`, credentials.createInsecure(), {});
  try {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${bearer}`);
    using call = openRawCall({ channel, method: 'PollFlightInfo', metadata });
    const cmd = packAny(CommandStatementQuerySchema, { query: 'select 1' });
    await call.send(
      encodeMessage(FlightDescriptorSchema, { type: FlightDescriptor_DescriptorType.CMD, cmd }),
    );
    call.halfClose();
    const poll = decodeMessage(PollInfoSchema, (await call.read()) ?? Buffer.of(), 'The answer');
    assert.equal(await call.read(), undefined);
    assert.equal(poll.flightDescriptor, undefined);
    assert.equal(poll.progress, 1);
    const expirationTime = poll.info?.endpoint[0]?.expirationTime;
    assert.equal(expirationTime && timestampMs(expirationTime), 1_700_000_000_000);
  } finally {
    channel.close();
  }
});
