/** Tickets that are cancelled and renewed. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { startService, type TestService } from './support/service.js';
import { until } from './support/until.js';

let now = Date.now();
let service: TestService;
before(async () => {
  service = await startService({ config: { 'session.handle_ttl_secs': 60 }, now: () => now });
});
after(async () => await service[Symbol.asyncDispose]());

async function ticketOf(client: FlightClient, sql: string): Promise<Uint8Array> {
  const [ticket] = (await client.planStatement(sql)).tickets;
  assert.ok(ticket);
  return ticket;
}

async function readAll(client: FlightClient, ticket: Uint8Array): Promise<number> {
  let count = 0;
  for await (const _message of client.read(ticket)) count++;
  return count;
}

const isIdle = async () => (await service.metric('svc_active_queries')) === 0;

describe('CancelFlightInfo', () => {
  it('ends a running query, wherever it is, and frees what it held', async () => {
    const client = await service.client();
    const computing = 'SELECT sum(hash(a.i + b.i)) FROM range(1000000) a(i), range(1000000) b(i)';
    const streaming = 'SELECT a.i + b.i FROM range(100000) a(i), range(100000) b(i)';
    for (const sql of [computing, streaming]) {
      const ticket = await ticketOf(client, sql);
      const read = readAll(client, ticket);
      const refused = assert.rejects(read, { code: 'CANCELLED' });
      await until('the query to run', async () => !(await isIdle()));
      assert.equal(await client.cancel(ticket), 'cancelling');
      await refused;
      await until('nothing to run', isIdle);
      await assert.rejects(readAll(client, ticket), { code: 'TICKET_EXPIRED' });
    }
  });

  it('ends a query whose client reads no more', async () => {
    const client = await service.client();
    const ticket = await ticketOf(client, 'SELECT a.i + b.i FROM range(100000) a(i), range(100000) b(i)');
    const messages = client.read(ticket);
    await messages.next();
    await messages.next();
    assert.equal(await client.cancel(ticket), 'cancelling');
    await until('nothing to run', isIdle);
    await messages.return();
  });

  it('gives up a ticket that was not used, and takes only those of the session', async () => {
    const client = await service.client();
    const other = await service.client();
    const ticket = await ticketOf(client, 'SELECT 1');
    await assert.rejects(other.cancel(ticket), { code: 'TICKET_INVALID' });
    await assert.rejects(other.renew(ticket), { code: 'TICKET_INVALID' });
    assert.equal(await client.cancel(ticket), 'cancelled');
    await assert.rejects(client.cancel(ticket), { code: 'TICKET_EXPIRED' });
    await assert.rejects(readAll(client, ticket), { code: 'TICKET_EXPIRED' });
  });
});

describe('RenewFlightEndpoint', () => {
  it('keeps a ticket for as long as it says', async () => {
    const client = await service.client();
    const [kept, left] = [await ticketOf(client, 'SELECT 1'), await ticketOf(client, 'SELECT 2')];
    now += 40_000;
    assert.equal(await client.renew(kept), now + 60_000);
    now += 40_000;
    assert.ok((await readAll(client, kept)) > 0);
    await assert.rejects(readAll(client, left), { code: 'TICKET_EXPIRED' });
    await assert.rejects(client.renew(left), { code: 'TICKET_EXPIRED' });
  });
});
