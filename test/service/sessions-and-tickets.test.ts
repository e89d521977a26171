/** Who may call: passwords, sessions, tickets. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { sessionOptions } from './support/messages.js';
import { readTicket, rows, rowsOf, value } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';

const handleTtlMs = 60_000;
const idleTimeoutMs = 600_000;

let service: TestService;
let nowMs = Date.now();
before(async () => {
  service = await startService({
    tables: standardTables,
    now: () => nowMs,
    config: {
      'session.handle_ttl_secs': handleTtlMs / 1000,
      'session.idle_timeout_secs': idleTimeoutMs / 1000,
      'session.max_per_user': 20,
    },
  });
});
after(async () => await service[Symbol.asyncDispose]());

describe('wrong password', () => {
  it('is refused like a wrong user', async () => {
    for (const [username, password] of [
      [service.username, 'wrong'],
      [service.username, ''],
      ['root', service.password],
      ['', ''],
      [service.username, `${service.password}x`],
      [service.username, 'x'.repeat(5_000)],
    ] as const) {
      await assert.rejects(service.stranger().signIn(username, password), {
        code: 'UNAUTHENTICATED',
        message: 'The user name or the password is not right.',
      });
    }
  });

  it('leaves no session', async () => {
    assert.equal(await service.metric('svc_active_sessions'), 0);
  });
});

describe('no session', () => {
  it('is told how to get one', async () => {
    await assert.rejects(rows(service.stranger(), 'SELECT 1'), {
      code: 'UNAUTHENTICATED',
      message: /sign in/,
    });
  });
});

describe('unknown session', () => {
  it('is lost, if its bearer could have been issued by a coordinator', async () => {
    const bearers = {
      garbage: 'UNAUTHENTICATED',
      ['x'.repeat(5_000)]: 'UNAUTHENTICATED',
      [service.password]: 'UNAUTHENTICATED',
      ['x'.repeat(43)]: 'SESSION_LOST',
    };
    for (const [bearer, code] of Object.entries(bearers)) {
      const client = service.stranger();
      client.useBearer(bearer);
      await assert.rejects(rows(client, 'SELECT 1'), { code, message: /sign in again/ });
    }
  });
});

describe('expired session', () => {
  it('that was idle too long must sign in again, and can', async () => {
    const client = await service.client();
    const { tickets } = await client.planStatement('SELECT 1');
    nowMs += idleTimeoutMs + 1;
    await assert.rejects(rows(client, 'SELECT 1'), { code: 'SESSION_EXPIRED' });
    await assert.rejects(readTicket(client, tickets[0]), { code: 'SESSION_EXPIRED' });
    await client.signIn(service.username, service.password);
    assert.equal(await value(client, 'SELECT 1'), 1);
  });

  it('that was closed must sign in again', async () => {
    const client = await service.client();
    await client.action('CloseSession', new Uint8Array());
    await assert.rejects(rows(client, 'SELECT 1'), { code: 'SESSION_LOST' });
  });

  it('that gave way to newer ones of the user must sign in again', async () => {
    const first = await service.client();
    for (let count = 0; count < 20; count += 1) {
      nowMs += 1;
      await service.client();
    }
    await assert.rejects(rows(first, 'SELECT 1'), { code: 'SESSION_EXPIRED' });
    assert.equal(await service.metric('svc_active_sessions'), 20);
  });
});

describe('sessions', () => {
  it('keep their settings to themselves', async () => {
    const [one, other] = [await service.client(), await service.client()];
    await rows(one, 'USE sales');
    await rows(one, "SET TimeZone = 'Asia/Tokyo'");
    const sql = "SELECT current_schema(), TIMESTAMPTZ '2024-01-01 00:00:00+00'::VARCHAR";
    assert.deepEqual(await rows(one, `${sql}, count(*) FROM items`), [
      ['sales', '2024-01-01 09:00:00+09', 4096n],
    ]);
    await assert.rejects(rows(other, 'SELECT count(*) FROM items'), { code: 'SCHEMA_NOT_FOUND' });
    assert.equal(
      await value(other, "SELECT TIMESTAMPTZ '2024-01-01 00:00:00+00'::VARCHAR"),
      '2024-01-01 00:00:00+00',
    );
  });

  it('show and set catalog and schema as session options', async () => {
    const client = await service.client();
    const [before] = await client.action('GetSessionOptions', new Uint8Array());
    assert.match(textOf(before), /catalog.*lake/s);
    await client.action('SetSessionOptions', sessionOptions({ catalog: 'lake', schema: 'sales' }));
    const [set] = await client.action('GetSessionOptions', new Uint8Array());
    assert.match(textOf(set), /schema.*sales/s);
    assert.equal(await value(client, 'SELECT count(*) FROM items'), 4096n);
    const [errors] = await client.action(
      'SetSessionOptions',
      sessionOptions({ schema: 'none', memory: '1' }),
    );
    assert.match(textOf(errors), /schema/);
    assert.match(textOf(errors), /memory/);
    assert.equal(await value(client, 'SELECT count(*) FROM items'), 4096n);
  });
});

describe('garbage ticket', () => {
  it('is invalid, of whatever length', async () => {
    const client = await service.client();
    const [good = new Uint8Array()] = (await client.planStatement('SELECT 1')).tickets;
    const flipped = Uint8Array.from(good);
    flipped[flipped.length - 1] = (flipped.at(-1) ?? 0) ^ 1;
    const garbage = [
      new Uint8Array(),
      Buffer.from('garbage'),
      good.subarray(0, -1),
      good.subarray(1),
      flipped,
      new Uint8Array(1_000_000),
    ];
    for (const ticket of garbage) {
      await assert.rejects(readTicket(client, ticket), { code: 'TICKET_INVALID' });
    }
    assert.deepEqual(rowsOf(await readTicket(client, good)), [[1]]);
  });
});

describe('foreign ticket', () => {
  it('of another session of the same user is invalid', async () => {
    const [owner, other] = [await service.client(), await service.client()];
    const { tickets } = await owner.planStatement('SELECT 1');
    await assert.rejects(readTicket(other, tickets[0]), { code: 'TICKET_INVALID' });
    await assert.rejects(readTicket(service.stranger(), tickets[0]), { code: 'UNAUTHENTICATED' });
    assert.deepEqual(rowsOf(await readTicket(owner, tickets[0])), [[1]]);
  });

  it('of another coordinator is invalid', async () => {
    await using other = await startService();
    const { tickets } = await (await other.client()).planStatement('SELECT 1');
    await assert.rejects(readTicket(await service.client(), tickets[0]), { code: 'TICKET_INVALID' });
  });
});

describe('expired ticket', () => {
  it('says so when nobody used it for too long', async () => {
    const client = await service.client();
    const { tickets } = await client.planStatement('SELECT 1');
    nowMs += handleTtlMs;
    await readTicket(client, tickets[0]);
    nowMs += handleTtlMs + 1;
    await assert.rejects(readTicket(client, tickets[0]), { code: 'TICKET_EXPIRED' });
  });

  it('says so when a thousand newer ones took its place', async () => {
    const client = await service.client();
    const { tickets } = await client.planStatement('SHOW CATALOGS');
    for (let count = 0; count < 10; count += 1)
      await Promise.all(Array.from({ length: 100 }, () => client.planStatement('SHOW CATALOGS')));
    await assert.rejects(readTicket(client, tickets[0]), { code: 'TICKET_EXPIRED' });
  });

  it('of a prepared statement says so after it was closed, and to strangers', async () => {
    const [client, other] = [await service.client(), await service.client()];
    const { handle } = await client.prepare('SELECT 1');
    await assert.rejects(other.planPrepared(handle), { code: 'PREPARED_STATEMENT_NOT_FOUND' });
    await client.closePrepared(handle);
    await assert.rejects(client.planPrepared(handle), { code: 'PREPARED_STATEMENT_NOT_FOUND' });
    await client.closePrepared(handle);
  });
});

function textOf(bytes: Uint8Array | undefined): string {
  return Buffer.from(bytes ?? []).toString('latin1');
}
