/** Metrics, probes, status and log records of a running service (specification sections 2.8, 2.9, 4.2 and 6.2). */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { readTicket, rows } from './support/results.js';
import { startService, type TestService } from './support/service.js';
import { standardTables } from './support/tables.js';
import { until } from './support/until.js';

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({ tables: standardTables });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('metrics', () => {
  it('count what a query planned, pruned, read and returned, under their names of the specification', async () => {
    const changes = await changesOf(() => rows(client, 'SELECT * FROM sales.orders WHERE id > 20000'));
    const { 'svc_scan_bytes_total{stage="selected"}': selected = 0, ...rest } = changes;
    assert.deepEqual(rest, {
      'svc_query_count_total{status="ok",statement_type="query"}': 1,
      'svc_query_duration_seconds_count{statement_type="query"}': 1,
      'svc_query_duration_seconds_bucket{le="+Inf",statement_type="query"}': 1,
      svc_rows_returned_total: 479,
      'svc_scan_files_total{outcome="planned"}': 1,
      'svc_scan_files_total{outcome="read"}': 1,
      'svc_scan_row_groups_total{outcome="planned"}': 10,
      'svc_scan_row_groups_total{outcome="pruned"}': 9,
      'svc_scan_row_groups_total{outcome="read"}': 1,
      'svc_scan_rows_total{stage="planned"}': 20_480,
      'svc_scan_rows_total{stage="selected"}': 2048,
      'svc_scan_rows_total{stage="read"}': 479,
      'svc_fragment_rows_total{place="here"}': 2048,
      'svc_scan_bytes_total{stage="planned"}': await tableBytes('sales.orders'),
      'svc_scan_bytes_total{stage="read"}': selected,
      'svc_staging_bytes_total{source="storage"}': selected,
    });
    assert.ok(selected > 0 && selected < (await tableBytes('sales.orders')) / 5);
  });

  it('count the same bytes as cached when the query comes again', async () => {
    const changes = await changesOf(() => rows(client, 'SELECT * FROM sales.orders WHERE id > 20000'));
    const selected = changes['svc_scan_bytes_total{stage="selected"}'];
    assert.equal(changes['svc_staging_bytes_total{source="cache"}'], selected);
    assert.equal(changes['svc_scan_bytes_total{stage="read"}'], undefined);
  });

  it('count a file that is read where it lies', async () => {
    const changes = await changesOf(() => rows(client, 'SELECT * FROM sales.items'));
    const selected = changes['svc_scan_bytes_total{stage="selected"}'];
    assert.equal(changes['svc_staging_bytes_total{source="in_place"}'], selected);
    assert.equal(changes['svc_scan_bytes_total{stage="read"}'], selected);
    assert.equal(changes['svc_scan_rows_total{stage="read"}'], 4096);
  });

  it('count statements by type and failures by code', async () => {
    const changes = await changesOf(async () => {
      await rows(client, 'SHOW TABLES IN sales');
      await rows(client, 'DESCRIBE sales.items');
      for (const sql of [
        'SELEC',
        "COPY x TO 'y'",
        'SELECT * FROM sales.nothing',
        'CREATE TEMPORARY TABLE t AS SELECT 1',
      ])
        await assert.rejects(rows(client, sql));
    });
    const counts = Object.entries(changes).filter(([name]) => /^svc_query_(count|errors)/.test(name));
    assert.deepEqual(Object.fromEntries(counts), {
      'svc_query_count_total{status="ok",statement_type="show_tables"}': 1,
      'svc_query_count_total{status="ok",statement_type="utility"}': 1,
      'svc_query_count_total{status="error",statement_type="query"}': 2,
      'svc_query_count_total{status="error",statement_type="utility"}': 1,
      'svc_query_count_total{status="error",statement_type="ctas"}': 1,
      'svc_query_errors_total{code="SYNTAX_ERROR"}': 1,
      'svc_query_errors_total{code="STATEMENT_NOT_ALLOWED"}': 1,
      'svc_query_errors_total{code="TABLE_NOT_FOUND"}': 1,
      'svc_query_errors_total{code="NOT_SUPPORTED"}': 1,
    });
  });

  it('count a statement that writes once, whichever way it was sent', async () => {
    const changes = await changesOf(async () => {
      await client.update('CREATE TABLE sales.counted AS SELECT 1 AS a');
      await client.update('INSERT INTO sales.counted VALUES (2)');
      await rows(client, 'INSERT INTO sales.counted VALUES (3)');
      const { handle } = await client.prepare('DROP TABLE sales.counted');
      await client.updatePrepared(handle);
    });
    const counts = Object.entries(changes).filter(([name]) => /^svc_query_count/.test(name));
    assert.deepEqual(Object.fromEntries(counts), {
      'svc_query_count_total{status="ok",statement_type="ctas"}': 1,
      'svc_query_count_total{status="ok",statement_type="insert"}': 2,
      'svc_query_count_total{status="ok",statement_type="drop"}': 1,
    });
  });

  it('tell what is now: sessions, queries, hosts, memory', async () => {
    const other = await service.client();
    assert.equal(await service.metric('svc_active_sessions'), 2);
    await other.action('CloseSession', new Uint8Array());
    assert.equal(await service.metric('svc_active_sessions'), 1);
    assert.equal(await service.metric('svc_active_queries'), 0);
    assert.equal(await service.metric('svc_queue_depth'), 0);
    assert.equal(await service.metric('svc_healthy_workers'), 1);
    assert.ok((await service.metric('svc_coordinator_memory_limit_bytes')) > 2 ** 28);
    assert.equal(await service.metric('svc_coordinator_memory_pressure'), 0);
    assert.ok((await service.metric('svc_engine_hosts{state="idle"}')) >= 1);
  });
});

describe('probes', () => {
  it('answer as the specification has them', async () => {
    const health = await fetch(`${service.healthUrl}/healthz`);
    assert.deepEqual([health.status, await health.text()], [200, 'ok']);
    assert.equal((await fetch(`${service.healthUrl}/readyz`)).status, 200);
    assert.equal((await fetch(`${service.healthUrl}/api/v1/queries`)).status, 404);
    assert.equal(
      (await fetch(`${service.healthUrl}/api/v1/catalogs/refresh`, { method: 'POST' })).status,
      401,
    );
  });

  it('have a status that names this node as its own worker', async () => {
    const response = await fetch(`${service.healthUrl}/api/v1/status`);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const { node, ...rest } = (await response.json()) as {
      node: { uptimeSeconds: number; engineVersion: string };
    };
    const { uptimeSeconds, engineVersion, ...others } = node;
    assert.ok(Number.isInteger(uptimeSeconds) && uptimeSeconds >= 0);
    assert.match(engineVersion, /1\.5\.5/);
    assert.deepEqual(others, { role: 'coordinator', version: 'test' });
    assert.deepEqual(rest, {
      status: 'ACTIVE',
      workers: { total: 1, healthy: 1, healthyUrls: [service.healthUrl] },
    });
  });
});

describe('the log', () => {
  it('has one record for each statement, with the fields of the specification', async () => {
    const before = service.logLines.length;
    await rows(client, 'SELECT * FROM sales.items LIMIT 3');
    await rows(client, 'SHOW CATALOGS');
    await assert.rejects(rows(client, 'SELECT * FROM sales.nothing'));
    const records = queriesLogged(before);
    assert.deepEqual(
      records.map(({ message, user, statement_type, rows: count, error_code }) => [
        message,
        user,
        statement_type,
        count,
        error_code,
      ]),
      [
        ['query finished', 'local', 'query', 3, undefined],
        ['query finished', 'local', 'show_catalogs', 1, undefined],
        ['query failed', 'local', 'query', 0, 'TABLE_NOT_FOUND'],
      ],
    );
    assert.equal(new Set(records.map(({ query_id }) => query_id)).size, 3);
    for (const record of records) {
      assert.match(String(record.query_id), /^[0-9a-f-]{36}$/);
      assert.match(String(record.session_id), /^[0-9a-f]{16}$/);
      assert.ok(Number.isInteger(record.duration_ms));
    }
  });

  it('has one id for each run of a ticket', async () => {
    const { tickets } = await client.planStatement('SELECT 1');
    const before = service.logLines.length;
    for (let run = 0; run < 2; run += 1) await readTicket(client, tickets[0] ?? new Uint8Array());
    await until('the records of two runs', () => queriesLogged(before).length === 2);
    assert.equal(new Set(queriesLogged(before).map(({ query_id }) => query_id)).size, 2);
  });

  it("has the caller's correlation fields, and drops those that are not valid", async () => {
    const { tickets } = await client.planStatement('SELECT 1');
    const traced = async (headers: Readonly<Record<string, string>>) => {
      const before = service.logLines.length;
      for await (const _message of client.read(tickets[0] ?? new Uint8Array(), { headers }));
      await until('the record of the query', () => queriesLogged(before).length > 0);
      return queriesLogged(before)[0];
    };
    const good = await traced({
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      'x-request-id': 'report-7',
    });
    assert.deepEqual(
      [good?.trace_id, good?.span_id, good?.request_id],
      ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7', 'report-7'],
    );
    const bad = await traced({ traceparent: '00-zz-01', 'x-request-id': 'a b"c' });
    assert.deepEqual([bad?.trace_id, bad?.request_id], [undefined, undefined]);
  });

  it('never holds a password, a bearer, a ticket, or the text of a statement', async () => {
    const secret = 'the-text-of-a-statement';
    const stranger = service.stranger();
    const bearer = await stranger.signIn(service.username, service.password);
    const { tickets } = await stranger.planStatement(`SELECT '${secret}'`);
    const [ticket = new Uint8Array()] = tickets;
    await readTicket(stranger, ticket);
    await assert.rejects(service.stranger().signIn(service.username, `${service.password}-wrong`));
    await assert.rejects(service.stranger().signIn(service.password, 'wrong'));
    const thief = service.stranger();
    thief.useBearer(`${bearer}x`);
    await assert.rejects(rows(thief, 'SELECT 1'));
    const log = service.logLines.join('');
    const handle = Buffer.from(ticket).toString('hex').slice(-64);
    const secrets = [
      service.password,
      bearer,
      secret,
      handle,
      Buffer.from(handle, 'hex').toString('base64').slice(0, 40),
    ];
    for (const each of secrets) assert.equal(log.includes(each), false);
    const basic = Buffer.from(`${service.username}:${service.password}`).toString('base64');
    assert.equal(log.includes(basic), false);
  });

  it('is lines of JSON, one record each, without control characters', () => {
    for (const line of service.logLines) {
      assert.equal(line.indexOf('\n'), line.length - 1);
      assert.doesNotMatch(line.slice(0, -1), /\p{Control}/u);
      const { timestamp, level, target, message } = JSON.parse(line);
      assert.ok(!Number.isNaN(Date.parse(timestamp)) && level && target && message);
    }
  });
});

/** The records of queries after the first `before` lines. One that went well is written a moment after its last row. */
function queriesLogged(before: number) {
  return service
    .logRecords()
    .slice(before)
    .filter(({ target }) => target === 'svc::query');
}

async function tableBytes(name: string): Promise<number> {
  const plan = (await rows(client, `EXPLAIN SELECT * FROM ${name}`)).flat().join('\n');
  return Number(/bytes: \d+ of (\d+)/.exec(plan)?.[1]);
}

/** By how much each sample of a counter or histogram grew; those that did not are left out, and what depends on time. */
async function changesOf(work: () => Promise<unknown>): Promise<Record<string, number>> {
  const before = await samples();
  await work();
  const changes: Record<string, number> = {};
  for (const [name, value] of await samples()) {
    const change = value - (before.get(name) ?? 0);
    if (change !== 0 && isCounter(name)) changes[name] = change;
  }
  return changes;
}

function isCounter(name: string): boolean {
  return /_total(\{|$)|_count\{|le="\+Inf"/.test(name) && !name.startsWith('svc_engine_hosts');
}

async function samples(): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(service.metricsUrl)).text();
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  );
}
