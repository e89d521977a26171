/** A plan pins what it reads. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { readTicket, rowsOf, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { commitSnapshotOf } from './support/tables.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({
    tables: {
      'sales.counts': 'SELECT i::BIGINT AS id FROM range(1000) r(i)',
      'sales.next': 'SELECT i::BIGINT AS id FROM range(5000, 5010) r(i)',
    },
  });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('a ticket', () => {
  it('run twice gives equal results although a new snapshot was committed in between', async () => {
    const sql = 'SELECT count(*), min(id), max(id) FROM sales.counts';
    const { tickets } = await client.planStatement(sql);
    const { handle } = await client.prepare(sql);
    const before = [[1000n, 0n, 999n]];
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
    await commitSnapshotOf(locationOf('sales.counts'), locationOf('sales.next'));
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
    const after = [[10n, 5000n, 5009n]];
    const replanned = await client.planPrepared(handle);
    assert.deepEqual(rowsOf(await readTicket(client, replanned.tickets[0])), after);
    const fresh = await client.planStatement(sql);
    assert.deepEqual(rowsOf(await readTicket(client, fresh.tickets[0])), after);
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), before);
  });

  it('has one clock, however often and late it runs', async () => {
    const { tickets } = await client.planStatement('SELECT now()::VARCHAR, current_date::VARCHAR');
    const first = rowsOf(await readTicket(client, tickets[0]));
    assert.deepEqual(rowsOf(await readTicket(client, tickets[0])), first);
  });
});

describe('a snapshot that is not the newest', () => {
  it('is read by its id, and listed by nobody else', async () => {
    const sql = `EXPLAIN SELECT * FROM sales.counts`;
    const plan = rowsOf(await readTicket(client, (await client.planStatement(sql)).tickets[0]))
      .flat()
      .join('\n');
    const current = /snapshot (\d+)/.exec(plan)?.[1];
    assert.equal(await value(client, `SELECT count(*) FROM sales.counts FOR VERSION AS OF ${current}`), 10n);
    await assert.rejects(value(client, 'SELECT count(*) FROM sales.counts FOR VERSION AS OF 1'), {
      code: 'SNAPSHOT_NOT_FOUND',
    });
  });
});

function locationOf(table: string): string {
  return service.locations.get(table) ?? '';
}
