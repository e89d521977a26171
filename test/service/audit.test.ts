/** The audit log of a running service (specification section 6.1; docs/audit.md). */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { type FlightClient, splitIpcStream } from '@svc/flight';
import { Int32, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { query, readTicket, rows } from './support/results.js';
import { startService, type TestService, type TestServiceOptions } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

/** An aggregate that works for minutes before its first row. */
const endless =
  'SELECT count(*) FROM sales.orders a, sales.orders b, sales.orders c WHERE a.id + b.id * c.id = -1';

interface AuditEntry {
  readonly timestamp: string;
  readonly username: string;
  readonly session_id: string;
  readonly query_text: string;
  readonly query_hash: string;
  readonly statement_type: string;
  readonly client_ip: string;
  readonly duration_ms: number;
  readonly rows_returned: number;
  readonly policies: readonly string[];
  readonly status: string;
}

const fields = [
  ...['timestamp', 'username', 'session_id', 'query_text', 'query_hash', 'statement_type'],
  ...['client_ip', 'duration_ms', 'rows_returned', 'policies', 'status'],
];

let service: TestService;
let folder: string;
let path: string;
/** Lines that were there before the test. */
let seen = 0;

async function start(config: TestServiceOptions['config'] = {}): Promise<FlightClient> {
  folder = await mkdtemp(join(tmpdir(), 'svc-audit-'));
  path = join(folder, 'audit.jsonl');
  seen = 0;
  service = await startService({
    tables: standardTables,
    config: { 'metrics.audit_log_path': path, ...config },
  });
  return await service.client();
}

async function stop(): Promise<void> {
  await service[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
}

async function entries(file = path): Promise<readonly AuditEntry[]> {
  const text = await readFile(file, 'utf8');
  assert.ok(text === '' || text.endsWith('\n'));
  return text
    .split('\n')
    .slice(seen, -1)
    .map((line): AuditEntry => JSON.parse(line));
}

/** The entries, once there are so many; one that is too many would come with them or before. */
async function entriesOnce(count: number): Promise<readonly AuditEntry[]> {
  await until(`${count} lines of the audit log`, async () => (await entries()).length >= count, 20_000);
  const all = await entries();
  assert.equal(all.length, count, JSON.stringify(all.map(({ query_text }) => query_text)));
  return all;
}

describe('spec 6.1: the audit log', () => {
  let client: FlightClient;
  before(async () => {
    client = await start({ 'query.max_sql_bytes': 1024, 'server.trusted_proxies': '127.0.0.0/8' });
  });
  beforeEach(async () => {
    seen = 0;
    seen = (await entries()).length;
  });
  after(stop);

  it('has one line for each query, with every field and no other', async () => {
    const before = Date.now();
    await rows(client, 'SELECT * FROM sales.items LIMIT 3');
    const [entry] = await entriesOnce(1);
    assert.ok(entry !== undefined);
    assert.deepEqual(Object.keys(entry), fields);
    const { timestamp, session_id, duration_ms, ...others } = entry;
    assert.deepEqual(others, {
      username: 'local',
      query_text: 'SELECT * FROM sales.items LIMIT 3',
      query_hash: `sha256:${createHash('sha256').update('SELECT * FROM sales.items LIMIT 3').digest('hex')}`,
      statement_type: 'query',
      client_ip: '127.0.0.1',
      rows_returned: 3,
      policies: [],
      status: 'ok',
    });
    assert.match(timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Date.parse(timestamp) >= before - 1 && Date.parse(timestamp) <= Date.now());
    assert.match(session_id, /^[0-9a-f]{16}$/);
    assert.ok(Number.isInteger(duration_ms) && duration_ms >= 0);
    assert.equal((await stat(path)).mode & 0o777, 0o600);
    assert.equal(await service.metric('svc_audit_records_total{outcome="written"}'), 1);
  });

  it('has one line whichever way a statement was sent', async () => {
    await query(client, 'SHOW TABLES IN sales');
    await client.update('CREATE TABLE sales.t (a INT)');
    await client.update('INSERT INTO sales.t VALUES (1), (2)');
    await query(client, 'INSERT INTO sales.t VALUES (3)');
    const selecting = await client.prepare('SELECT {fn abs(a)} FROM sales.t');
    const { tickets } = await client.planPrepared(selecting.handle);
    for (let run = 0; run < 2; run += 1) await readTicket(client, tickets[0]);
    const dropping = await client.prepare('DROP TABLE sales.t');
    await client.updatePrepared(dropping.handle);
    const all = await entriesOnce(7);
    assert.deepEqual(
      all.map((entry) => [entry.query_text, entry.statement_type, entry.rows_returned, entry.status]),
      [
        ['SHOW TABLES IN sales', 'show_tables', 2, 'ok'],
        ['CREATE TABLE sales.t (a INT)', 'ctas', 0, 'ok'],
        ['INSERT INTO sales.t VALUES (1), (2)', 'insert', 0, 'ok'],
        ['INSERT INTO sales.t VALUES (3)', 'insert', 1, 'ok'],
        ['SELECT {fn abs(a)} FROM sales.t', 'query', 3, 'ok'],
        ['SELECT {fn abs(a)} FROM sales.t', 'query', 3, 'ok'],
        ['DROP TABLE sales.t', 'drop', 0, 'ok'],
      ],
    );
  });

  it('has a line for an upload', async () => {
    const table = new Table({ a: vectorFromArray([1, 2], new Int32()) });
    const target = { schema: 'sales', table: 'up', ifNotExists: 'create', ifExists: 'fail' } as const;
    await client.ingest(target, splitIpcStream(tableToIPC(table, 'stream')));
    const [entry] = await entriesOnce(1);
    assert.deepEqual(
      [entry?.query_text, entry?.statement_type, entry?.rows_returned],
      ['INSERT INTO "sales"."up" FROM rows of the client', 'insert', 0],
    );
  });

  it('has one line for each query that was refused or failed', async () => {
    const long = `SELECT '${'x'.repeat(20_000)}'`;
    const refused = [
      'SELEC',
      "COPY x TO 'y'",
      'SELECT getenv(1)',
      'SELECT * FROM sales.nothing',
      'SELECT 1; SELECT 2',
      long,
    ];
    for (const sql of refused) {
      await assert.rejects(rows(client, sql));
      await assert.rejects(client.prepare(sql));
      await assert.rejects(client.update(sql));
    }
    await assert.rejects(client.update('SELECT 1'), { code: 'INVALID_ARGUMENT' });
    await assert.rejects(rows(client, 'SELECT 1 + CAST(note AS INT) FROM sales.items'));
    const all = await entriesOnce(refused.length * 3 + 2);
    assert.deepEqual(new Set(all.map(({ status }) => status)), new Set(['error']));
    assert.equal(all.filter(({ query_text }) => query_text === long).length, 3);
  });

  it('has a line for a statement whose result nobody came for', async () => {
    await client.planStatement('CREATE TABLE sales.unseen (a INT)');
    await client.prepare('SELECT 1');
    const [entry] = await entriesOnce(1);
    assert.deepEqual(
      [entry?.query_text, entry?.rows_returned, entry?.status],
      ['CREATE TABLE sales.unseen (a INT)', 0, 'ok'],
    );
  });

  it('names the client that a trusted proxy has', async () => {
    const headers = { 'x-forwarded-for': '10.0.0.1, 203.0.113.9' };
    const { tickets } = await client.planStatement('SELECT 1', { headers });
    for await (const _message of client.read(tickets[0] ?? new Uint8Array(), { headers }));
    const [entry] = await entriesOnce(1);
    assert.equal(entry?.client_ip, '203.0.113.9');
  });
});

describe('spec 6.1: at its ends, the audit log', () => {
  afterEach(stop);

  it('has a line for a query that was refused by a full queue, or cancelled in it', async () => {
    const client = await start({ 'query.max_concurrent': 1, 'query.max_queued': 1 });
    const { tickets } = await client.planStatement(endless);
    const aborted = new AbortController();
    const options = { signal: aborted.signal };
    const running = [1, 2].map(() => client.read(tickets[0] ?? new Uint8Array(), options).next());
    const ends = Promise.allSettled(running);
    await until('one waits', async () => (await service.metric('svc_queue_depth')) === 1);
    await assert.rejects(rows(client, 'SELECT count(*) FROM sales.items'), { code: 'QUEUE_FULL' });
    aborted.abort();
    await ends;
    const all = await entriesOnce(3);
    assert.deepEqual(
      all.map(({ query_text, status }) => [query_text, status]),
      [
        ['SELECT count(*) FROM sales.items', 'error'],
        [endless, 'error'],
        [endless, 'error'],
      ],
    );
  });

  it('has a line for a statement that comes while the service shuts down', async () => {
    const client = await start();
    const { tickets } = await client.planStatement('SELECT 1 AS planned_before');
    const held = await begin(client, 'SELECT a.id, a.region, b.note FROM sales.orders a, sales.items b');
    const closed = service.coordinator.close(60_000);
    await assert.rejects(rows(client, 'SELECT 2'), { code: 'SHUTTING_DOWN' });
    await assert.rejects(client.update('DROP TABLE sales.items'), { code: 'SHUTTING_DOWN' });
    await assert.rejects(client.prepare('SELECT 3'), { code: 'SHUTTING_DOWN' });
    await assert.rejects(readTicket(client, tickets[0]), { code: 'SHUTTING_DOWN' });
    await held.return(undefined);
    await closed;
    const texts = (await entries()).map(({ query_text, status }) => [query_text, status]);
    assert.deepEqual(texts.slice(0, 4), [
      ['SELECT 2', 'error'],
      ['DROP TABLE sales.items', 'error'],
      ['SELECT 3', 'error'],
      ['SELECT 1 AS planned_before', 'error'],
    ]);
    assert.equal(texts.length, 5);
  });

  it('has the lines of everything that ended before the service did', async () => {
    const client = await start();
    for (let run = 0; run < 20; run += 1) await rows(client, `SELECT ${run}`);
    await client.planStatement('SELECT 20');
    const { tickets } = await client.planStatement(endless);
    const running = assert.rejects(client.read(tickets[0] ?? new Uint8Array()).next());
    await until('it runs', async () => (await service.metric('svc_engine_hosts{state="leased"}')) === 1);
    await service.coordinator.destroy();
    await running;
    assert.deepEqual(
      (await entries()).map(({ query_text }) => query_text),
      [...Array.from({ length: 20 }, (_none, run) => `SELECT ${run}`), endless, 'SELECT 20'],
    );
  });
});

describe('an audit log that is rotated', () => {
  afterEach(stop);

  it('loses and tears no line', async () => {
    const client = await start();
    const texts = Array.from({ length: 200 }, (_none, run) => `SELECT ${run}`);
    for (const [run, sql] of texts.entries()) {
      await rows(client, sql);
      if (run % 50 !== 25) continue;
      await rename(path, `${path}.${run}`);
      service.coordinator.reopenLogs();
    }
    await service.coordinator.destroy();
    const files = [`${path}.25`, `${path}.75`, `${path}.125`, `${path}.175`, path];
    const all = (await Promise.all(files.map((file) => entries(file)))).flat();
    assert.deepEqual(
      all.map(({ query_text }) => query_text),
      texts,
    );
  });
});

describe('an audit log that cannot be written', () => {
  afterEach(stop);

  it('is a reason not to start, by path and reason', async () => {
    const options = { config: { 'metrics.audit_log_path': '/nowhere/audit.jsonl' } };
    await assert.rejects(startService(options), {
      code: 'CONFIGURATION_ERROR',
      message: /\/nowhere\/audit\.jsonl.*metrics\.audit_log_path.*ENOENT/,
    });
    await start();
  });

  it('lets nothing run until it can, and loses no line', async () => {
    const client = await start();
    await rm(folder, { recursive: true });
    await rows(client, 'SELECT 1');
    await until('a refusal', async () => (await codeOf(rows(client, 'SELECT 2'))) === 'AUDIT_UNAVAILABLE');
    assert.equal(await codeOf(client.update('CREATE TABLE sales.no (a INT)')), 'AUDIT_UNAVAILABLE');
    assert.equal(await codeOf(client.prepare('SELECT 3')), 'AUDIT_UNAVAILABLE');
    await mkdir(folder);
    await until('an answer', async () => (await codeOf(rows(client, 'SELECT 4'))) === undefined);
    assert.equal(await codeOf(rows(client, 'SELECT * FROM sales.no')), 'TABLE_NOT_FOUND');
    const texts = (await entries()).map(({ query_text }) => query_text);
    assert.equal(texts[0], 'SELECT 1');
    assert.ok(texts.includes('CREATE TABLE sales.no (a INT)') && texts.includes('SELECT 3'));
    assert.equal(await service.metric('svc_audit_records_total{outcome="dropped"}'), 0);
  });

  it('is only counted where that is wanted', async () => {
    const client = await start({
      'metrics.audit_log_path': '/dev/full',
      'audit.on_failure': 'count',
    });
    for (let run = 0; run < 3; run += 1) await rows(client, 'SELECT 1');
    await service.coordinator.destroy();
    const failures = service.logRecords().filter(({ target }) => target === 'svc::audit');
    assert.deepEqual(
      failures.map(({ level, message }) => [level, message]),
      [
        ['error', 'The audit log cannot be written.'],
        ['error', 'Lines of the audit log are lost: they could not be written before the end.'],
      ],
    );
  });
});

async function begin(client: FlightClient, sql: string) {
  const { tickets } = await client.planStatement(sql);
  const messages = client.read(tickets[0] ?? new Uint8Array());
  await messages.next();
  return messages;
}

async function codeOf(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}
