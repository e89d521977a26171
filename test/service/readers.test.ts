/** Clients that go, and clients that stop reading. */
import assert from 'node:assert/strict';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { rows, value } from './support/results.js';
import { startService, type TestService, type TestServiceOptions } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

/** 84 million rows, 4 GB: nobody in this file reads it to its end. */
const large = 'SELECT a.id, a.region, b.note FROM sales.orders a, sales.items b';

let service: TestService;
afterEach(async () => await service[Symbol.asyncDispose]());

async function start(config: TestServiceOptions['config'] = {}): Promise<void> {
  service = await startService({ tables: standardTables, config: { 'query.max_concurrent': 1, ...config } });
}

/** Begins to read a statement and stops after the first rows have come. */
async function sleeper(client: FlightClient, sql: string) {
  const { tickets } = await client.planStatement(sql);
  const messages = client.read(tickets[0] ?? new Uint8Array());
  await messages.next();
  await messages.next();
  return messages;
}

const leasedHosts = () => service.metric('svc_engine_hosts{state="leased"}');

describe('a client that is gone in mid-stream', () => {
  beforeEach(() => start());

  const endings: Readonly<Record<string, (client: FlightClient, messages: AsyncGenerator) => Promise<void>>> =
    {
      'by cancelling its call': async (_client, messages) => {
        await messages.return(undefined);
      },
      'with its connection': async (client) => client.close(),
      'with its session': async (client) => {
        await client.action('CloseSession', new Uint8Array());
      },
    };
  for (const [title, leave] of Object.entries(endings)) {
    it(`frees its host and its place ${title}`, async () => {
      const client = await service.client();
      const messages = await sleeper(client, large);
      assert.equal(await leasedHosts(), 1);
      await leave(client, messages);
      const next = await service.client();
      assert.equal(await value(next, 'SELECT count(*) FROM sales.orders'), 20_480n);
      await until('no query is active', async () => (await service.metric('svc_active_queries')) === 0);
      await until('no host is leased', async () => (await leasedHosts()) === 0);
      const failed = service.logRecords().filter(({ message }) => message === 'query failed');
      assert.equal(failed.length, 1);
      const expected = title.includes('session') ? 'SESSION_LOST' : 'CANCELLED';
      assert.equal(failed[0]?.error_code, expected);
      assert.ok(Number(failed[0]?.rows) > 0);
    });
  }

  it('gives its staged files back', async () => {
    const [file = ''] = await readdir(join(service.locations.get('sales.orders') ?? '', 'data'));
    const path = join(service.locations.get('sales.orders') ?? '', 'data', file);
    const links = async () => (await stat(path)).nlink;
    const client = await service.client();
    const messages = await sleeper(client, large);
    assert.equal(await links(), 2);
    await messages.return(undefined);
    await until('no host is leased', async () => (await leasedHosts()) === 0);
    await service.coordinator.close(0);
    assert.equal(await links(), 1);
  });

  it('leaves no engine process behind when the service is closed', async () => {
    const client = await service.client();
    await sleeper(client, large);
    await service.coordinator.close(0);
    assert.deepEqual(await readdir(join(service.folder, 'data', 'engine')), []);
  });
});

describe('a queued query whose client goes', () => {
  it('leaves the queue without having run', async () => {
    await start();
    const client = await service.client();
    const messages = await sleeper(client, large);
    const other = await service.client();
    const { tickets } = await other.planStatement('SELECT count(*) FROM sales.items');
    const stop = new AbortController();
    const waiting = other.read(tickets[0] ?? new Uint8Array(), { signal: stop.signal }).next();
    await until('it is queued', async () => (await service.metric('svc_queue_depth')) === 1);
    stop.abort();
    await assert.rejects(waiting, { code: 'CANCELLED' });
    await until('it has left', async () => (await service.metric('svc_queue_depth')) === 0);
    await messages.return(undefined);
  });

  it('is refused when too many wait already', async () => {
    await start({ 'query.max_queued': 0 });
    const client = await service.client();
    const messages = await sleeper(client, large);
    const other = await service.client();
    await assert.rejects(value(other, 'SELECT count(*) FROM sales.items'), {
      code: 'QUEUE_FULL',
      retryable: true,
    });
    await messages.return(undefined);
  });
});

describe('more sleepers than hosts', () => {
  it('cannot keep others from anything when their results fit the spool', async () => {
    await start();
    const client = await service.client();
    const sql = 'SELECT a.id, a.region, b.note FROM sales.orders a, (SELECT * FROM sales.items LIMIT 30) b';
    const sleepers = [];
    for (let count = 0; count < 2; count += 1) sleepers.push(await sleeper(client, sql));
    const other = await service.client();
    assert.equal(await value(other, 'SELECT 1'), 1);
    assert.equal(await value(other, 'SELECT count(*) FROM sales.orders'), 20_480n);
    for (const messages of sleepers) {
      let rest = 0;
      for await (const { body } of messages) rest += body.length;
      assert.ok(rest > 20_000_000);
    }
  });

  it('cannot keep SELECT 1, SHOW or planning from answering when they do not', async () => {
    await start({ 'query.spool_bytes': 0 });
    const client = await service.client();
    const messages = await sleeper(client, large);
    const waiting = [1, 2].map(() => sleeper(client, large).catch(() => undefined));
    await until('two more wait', async () => (await service.metric('svc_queue_depth')) === 2);
    const other = await service.client();
    assert.equal(await value(other, 'SELECT 1'), 1);
    assert.deepEqual(await rows(other, 'SHOW CATALOGS'), [['lake']]);
    assert.ok((await rows(other, 'EXPLAIN SELECT * FROM sales.orders')).length > 3);
    client.close();
    await messages.next().catch(() => undefined);
    await Promise.all(waiting);
  });

  it('of statements that make their rows up cannot keep others from small statements and from planning', async () => {
    await start();
    const client = await service.client();
    const endless = 'SELECT i, md5(i::VARCHAR) FROM range(1000000000) r(i)';
    await sleeper(client, endless);
    const waiting = [1, 2].map(() => sleeper(client, endless).catch(() => undefined));
    await until('two more wait', async () => (await service.metric('svc_queue_depth')) === 2);
    const other = await service.client();
    assert.equal(await value(other, 'SELECT 1'), 1);
    assert.ok((await rows(other, 'EXPLAIN SELECT * FROM sales.orders')).length > 3);
    client.close();
    await Promise.all(waiting);
  });

  it('lose their result when they stay over the budget, with an error that says why', async () => {
    await start({ 'query.spool_bytes': 0, 'query.slow_client_timeout_secs': 1 });
    const client = await service.client();
    const messages = await sleeper(client, large);
    const other = await service.client();
    assert.equal(await value(other, 'SELECT count(*) FROM sales.orders'), 20_480n);
    await assert.rejects(
      async () => {
        for await (const _message of messages);
      },
      { code: 'SLOW_CONSUMER' },
    );
  });
});
