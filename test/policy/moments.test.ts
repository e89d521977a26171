/** What is told and done around the moment at which rules are asked: the audit of what EXPLAIN runs, the span, rules that change. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type FlightClient, splitIpcStream } from '@svc/flight';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { rows, value } from '../service/support/results.js';
import { startService, type TestService } from '../service/support/service.js';
import { until } from '../service/support/until.js';

const exporter = new InMemorySpanExporter();
let folder = '';
let service: TestService;
let admin: FlightClient;
let ann: FlightClient;

before(async () => {
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  folder = await mkdtemp(join(tmpdir(), 'svc-policy-moments-'));
  const token = 'the-token-of-ann';
  const sha256 = createHash('sha256').update(token).digest('hex');
  const tokens = join(folder, 'tokens.toml');
  await writeFile(tokens, `[[token]]\nusername = "ann"\nroles = ["analyst"]\nsha256 = "${sha256}"\n`);
  service = await startService({
    tables: { 's.orders': 'SELECT i AS id FROM range(10) r(i)', 's.taken': 'SELECT 7::BIGINT AS id' },
    config: { 'auth.static_tokens_path': tokens, 'metrics.audit_log_path': join(folder, 'audit.log') },
  });
  admin = await service.client();
  ann = service.stranger();
  ann.useBearer(token);
  await admin.update('CREATE POLICY even ON TABLE s.orders ROW FILTER (id % 2 = 0) TO analyst EXCEPT admin');
});
after(async () => {
  await service[Symbol.asyncDispose]();
  trace.disable();
  await rm(folder, { recursive: true, force: true });
});

describe('the moment at which rules are asked', () => {
  it('is a span of the plan, of statements that policies change only', async () => {
    const lineages = async (client: FlightClient) => {
      exporter.reset();
      assert.equal((await rows(client, 'SELECT id FROM s.orders')).length, client === ann ? 5 : 10);
      const spans = exporter.getFinishedSpans();
      return spans.flatMap(({ name, parentSpanContext }) =>
        name === 'svc.policy_rewrite'
          ? [spans.find((each) => each.spanContext().spanId === parentSpanContext?.spanId)?.name]
          : [],
      );
    };
    assert.deepEqual(await lineages(ann), ['svc.plan']);
    assert.deepEqual(await lineages(admin), []);
  });

  it('is in the audit log of EXPLAIN ANALYZE too, which reads as the query does', async () => {
    for (const sql of ['EXPLAIN ANALYZE SELECT id FROM s.orders', 'EXPLAIN SELECT id FROM s.orders']) {
      await rows(ann, sql);
      const line = async () =>
        (await readFile(join(folder, 'audit.log'), 'utf8'))
          .split('\n')
          .find((each) => each.includes(`"${sql}"`) && each.endsWith('}'));
      await until('it is in the audit log', async () => (await line()) !== undefined);
      assert.deepEqual(JSON.parse((await line()) ?? '').policies, ['sql:even'], sql);
    }
  });

  it('comes again before a table is replaced: a policy made while its rows came holds', async () => {
    const columns = { id: vectorFromArray([1n, 2n], new Int64()) };
    const messages = splitIpcStream(tableToIPC(new Table(columns), 'stream'));
    async function* slowly() {
      for (const [index, message] of messages.entries()) {
        if (index === messages.length - 1)
          await admin.update(
            'CREATE POLICY taken ON TABLE s.taken ROW FILTER (id < 5) TO analyst EXCEPT admin',
          );
        yield message;
      }
    }
    const target = { schema: 's', table: 'taken', ifNotExists: 'create', ifExists: 'replace' } as const;
    await assert.rejects(ann.ingest(target, slowly()), { code: 'PERMISSION_DENIED' });
    assert.equal(await value(admin, "SELECT string_agg(id::VARCHAR, ',') FROM s.taken"), '7');
  });
});
