/** Spans of a running service (specification section 6.3), and how they hang together with their caller's. */
import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import type { FlightClient } from '@svc/flight';
import { startService, type TestService } from './support/service.js';
import { until } from './support/until.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const headers = {
  traceparent: `00-${traceId}-b7ad6b7169203331-01`,
  'x-request-id': 'report-7',
};

describe('spec 6.3: spans', () => {
  const exporter = new InMemorySpanExporter();
  let service: TestService;
  let client: FlightClient;
  before(async () => {
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
    service = await startService();
    client = await service.client();
  });
  after(async () => {
    await service[Symbol.asyncDispose]();
    trace.disable();
  });
  beforeEach(() => exporter.reset());

  /** Name, method or status code, and the name of what it is below, once so many have ended. */
  async function spansOnce(count: number): Promise<readonly ReadableSpan[]> {
    await until(`${count} spans`, () => exporter.getFinishedSpans().length >= count);
    return exporter.getFinishedSpans();
  }

  function lineage(spans: readonly ReadableSpan[], span: ReadableSpan | undefined): readonly string[] {
    if (span === undefined) return [];
    const parent = spans.find((each) => each.spanContext().spanId === span.parentSpanContext?.spanId);
    return [span.name, ...lineage(spans, parent)];
  }

  it('of a query: its plan and its run, each below the request that asked for it, all below the caller', async () => {
    const { tickets } = await client.planStatement('SELECT 1', { headers });
    for await (const _message of client.read(tickets[0] ?? new Uint8Array(), { headers }));
    const spans = await spansOnce(4);
    assert.deepEqual(spans.map((span) => lineage(spans, span).join(' < ')).sort(), [
      'flight_sql.request',
      'flight_sql.request',
      'svc.plan < flight_sql.request',
      'svc.query < flight_sql.request',
    ]);
    const queryIds = spans.flatMap(({ attributes: { query_id } }) => query_id ?? []);
    assert.deepEqual([queryIds.length, new Set(queryIds).size], [2, 1]);
    for (const span of spans) {
      const { user, request_id, session_id } = span.attributes;
      assert.deepEqual([span.spanContext().traceId, user, request_id], [traceId, 'local', 'report-7']);
      assert.match(String(session_id), /^[0-9a-f]{16}$/);
    }
    const requests = spans.filter(({ kind }) => kind === SpanKind.SERVER);
    assert.deepEqual(
      requests.map(({ attributes }) => [attributes['rpc.method'], attributes['rpc.grpc.status_code']]),
      [
        ['GetFlightInfo', 0],
        ['DoGet', 0],
      ],
    );
  });

  it('of an update: one query with its plan, and log records that name it', async () => {
    await client.update('CREATE SCHEMA spans', { headers });
    const spans = await spansOnce(3);
    assert.deepEqual(
      spans.map((span) => lineage(spans, span).join(' < ')),
      ['svc.plan < svc.query < flight_sql.request', 'svc.query < flight_sql.request', 'flight_sql.request'],
    );
    const spanId = spans[1]?.spanContext().spanId;
    const records = () => service.logRecords().filter(({ target }) => target === 'svc::query');
    await until('the record', () => records().some(({ span_id }) => span_id === spanId));
    assert.equal(records().find(({ span_id }) => span_id === spanId)?.trace_id, traceId);
  });

  it('of a failure: its code and no text', async () => {
    await assert.rejects(client.planStatement('SELECT * FROM spans.secret', { headers }));
    const [plan, request] = await spansOnce(2);
    assert.deepEqual(plan?.status, { code: SpanStatusCode.ERROR, message: 'TABLE_NOT_FOUND' });
    assert.equal(request?.attributes['rpc.grpc.status_code'], 5);
    assert.equal(
      JSON.stringify([plan?.attributes, plan?.events, request?.attributes]).includes('secret'),
      false,
    );
  });
});
