import {
  type Attributes,
  isSpanContextValid,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { QueryError } from '../errors/query-error.js';
import { currentScope, withScope } from '../log/context.js';

/** Specification section 6.3. */
export type SpanName =
  | 'flight_sql.request'
  | 'svc.query'
  | 'svc.plan'
  | 'svc.policy_rewrite'
  | 'dispatch_to_worker'
  | 'svc.worker.scan';

/** A part of the work for a call, as a trace shows it. Costs next to nothing while no tracer is registered. */
export interface OpenSpan {
  /** Runs `body` as this part: spans that it opens are below, and its log records name it. */
  within<T>(body: () => T): T;
  describe(attributes: Attributes): void;
  /** Ends it, once; of an error the trace has the code, and no text. */
  end(errorCode?: string): void;
}

/** Opens a span below the one that is open, or below the caller's. It has the ids of the log records (section 2.9). */
export function openSpan(name: SpanName, attributes: Attributes = {}): OpenSpan {
  const scope = currentScope();
  const kind = name === 'flight_sql.request' ? SpanKind.SERVER : SpanKind.INTERNAL;
  const { query_id, request_id, session_id, user } = scope.fields;
  const ids = Object.entries({ query_id, request_id, session_id, user }).filter(([, id]) => id !== undefined);
  const span = trace
    .getTracer('svc')
    .startSpan(name, { kind, attributes: { ...Object.fromEntries(ids), ...attributes } }, scope.trace);
  const inner = { fields: { ...scope.fields, ...fieldsOf(span) }, trace: trace.setSpan(scope.trace, span) };
  return {
    within: (body) => withScope(inner, body),
    describe: (more) => {
      span.setAttributes(more);
    },
    end(errorCode) {
      if (errorCode !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode });
      span.end();
    },
  };
}

/** Runs `body` as a span of its own. */
export async function withSpan<T>(
  name: SpanName,
  attributes: Attributes,
  body: () => Promise<T>,
): Promise<T> {
  const span = openSpan(name, attributes);
  try {
    const result = await span.within(body);
    span.end();
    return result;
  } catch (error) {
    span.end(QueryError.from(error).code);
    throw error;
  }
}

/** Adds to the span that is open here. */
export function describeSpan(attributes: Attributes): void {
  trace.getSpan(currentScope().trace)?.setAttributes(attributes);
}

function fieldsOf(span: Span) {
  const context = span.spanContext();
  return isSpanContextValid(context) ? { trace_id: context.traceId, span_id: context.spanId } : {};
}
