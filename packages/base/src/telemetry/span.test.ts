import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, it } from 'node:test';
import { SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { QueryError } from '../errors/query-error.js';
import { bindScope, currentLogContext, withLogContext } from '../log/context.js';
import { outgoingCorrelation, withCorrelation } from '../log/correlation.js';
import { describeSpan, openSpan, withSpan } from './span.js';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const spanId = 'b7ad6b7169203331';
const caller = {
  traceparent: `00-${traceId}-${spanId}-01`,
  tracestate: 'vendor=opaque',
  'x-request-id': 'report-7',
};

describe('spec 4.1: what a caller sent to follow its call by', () => {
  it('is handed on to outgoing calls while nobody collects traces', async () => {
    await fromCaller(caller, () =>
      withSpan('svc.plan', {}, async () => assert.deepEqual(outgoingCorrelation(), caller)),
    );
  });

  it('is left out where it is not valid', () => {
    fromCaller({ traceparent: '00-zz', tracestate: 'a=b', 'x-request-id': 'a b' }, () => {
      assert.deepEqual(outgoingCorrelation(), {});
      assert.deepEqual(currentLogContext(), {});
    });
    fromCaller({ ...caller, tracestate: '\u0000=,,==,x' }, () => {
      assert.equal('tracestate' in outgoingCorrelation(), false);
    });
    assert.deepEqual(outgoingCorrelation(), {});
  });

  it('holds where a socket brings an event that knows of no call', () => {
    const within = fromCaller(caller, () => bindScope());
    assert.equal(currentLogContext().request_id, undefined);
    assert.equal(
      within(() => currentLogContext().request_id),
      'report-7',
    );
  });
});

describe('spec 6.3: spans', () => {
  const exporter = new InMemorySpanExporter();
  before(() => {
    trace.setGlobalTracerProvider(
      new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
    );
  });
  after(() => trace.disable());
  beforeEach(() => exporter.reset());

  it('begin below the caller’s, and hand themselves on', () => {
    fromCaller(caller, () => {
      const request = openSpan('flight_sql.request', { 'rpc.method': 'DoGet' });
      request.within(() => {
        const { traceparent, tracestate } = outgoingCorrelation();
        assert.match(String(traceparent), new RegExp(`^00-${traceId}-(?!${spanId})[0-9a-f]{16}-01$`));
        assert.equal(tracestate, 'vendor=opaque');
        assert.equal(currentLogContext().span_id, String(traceparent).split('-')[2]);
      });
      request.end();
    });
    const [span] = exporter.getFinishedSpans();
    assert.deepEqual(
      [span?.name, span?.kind, span?.parentSpanContext?.spanId, span?.spanContext().traceId],
      ['flight_sql.request', SpanKind.SERVER, spanId, traceId],
    );
    assert.deepEqual(span?.attributes, { 'rpc.method': 'DoGet', request_id: 'report-7' });
  });

  it('have the ids of the log records, and what is found out later', async () => {
    await withLogContext({ query_id: 'q', session_id: 's', user: 'ada' }, () =>
      withSpan('svc.plan', { statement_type: 'query' }, async () => describeSpan({ more: 1 })),
    );
    assert.deepEqual(exporter.getFinishedSpans()[0]?.attributes, {
      ...{ query_id: 'q', session_id: 's', user: 'ada' },
      ...{ statement_type: 'query', more: 1 },
    });
  });

  it('have the code of an error and not its text', async () => {
    const fails = withSpan('svc.plan', {}, async () => {
      throw new QueryError('TABLE_NOT_FOUND', 'There is no table secret.');
    });
    await assert.rejects(fails, { code: 'TABLE_NOT_FOUND' });
    const [span] = exporter.getFinishedSpans();
    assert.deepEqual(span?.status, { code: SpanStatusCode.ERROR, message: 'TABLE_NOT_FOUND' });
    assert.deepEqual(span?.events, []);
  });
});

function fromCaller<T>(headers: Readonly<Record<string, string>>, body: () => T): T {
  return withCorrelation((name) => headers[name], body);
}
