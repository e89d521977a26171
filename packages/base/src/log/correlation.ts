import { createTraceState, isSpanContextValid, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { currentScope, type LogContext, withScope } from './context.js';

type HeaderReader = (name: string) => string | undefined;

/**
 * Runs `body` with what the caller sent to follow the call by (specification sections 2.9, 4.1 and 8), from headers by
 * lower-case name; a header that came twice is none. What is not valid is left out and the request goes on. It never
 * authenticates anybody, and is read before anybody is authenticated.
 */
export function withCorrelation<T>(header: HeaderReader, body: () => T): T {
  const parent = traceParent(header('traceparent'));
  const fields = correlationFields(header);
  if (parent === undefined) return withScope({ fields, trace: ROOT_CONTEXT }, body);
  const state = header('tracestate');
  const remote = {
    ...parent,
    isRemote: true,
    ...(state !== undefined && { traceState: createTraceState(state) }),
  };
  return withScope({ fields, trace: trace.setSpanContext(ROOT_CONTEXT, remote) }, body);
}

/** As fields of log records. */
export function correlationFields(header: HeaderReader): LogContext {
  const parent = traceParent(header('traceparent'));
  const credentials = header('authorization') ?? '';
  const request = correlationValue(header('x-request-id'), credentials);
  const session = correlationValue(header('x-session-id'), credentials);
  return {
    ...(parent === undefined ? {} : { trace_id: parent.traceId, span_id: parent.spanId }),
    ...(request === undefined ? {} : { request_id: request }),
    ...(session === undefined ? {} : { session_id: session }),
  };
}

/** Headers for calls that this one makes to services of ours and to catalogs, by which they know what they are part of. */
export function outgoingCorrelation(): Readonly<Record<string, string>> {
  const scope = currentScope();
  const span = trace.getSpanContext(scope.trace);
  const { request_id: requestId } = scope.fields;
  const isTraced = span !== undefined && isSpanContextValid(span);
  const state = isTraced ? span.traceState?.serialize() : undefined;
  return {
    ...(isTraced && {
      traceparent: `00-${span.traceId}-${span.spanId}-${(span.traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`,
    }),
    ...(state && { tracestate: state }),
    ...(requestId !== undefined && { 'x-request-id': requestId }),
  };
}

const shortestCredential = 8;

/** Whoever sends a bearer as an id, too, does not find it in our logs. */
function correlationValue(text: string | undefined, credentials: string): string | undefined {
  if (text === undefined || !/^[A-Za-z0-9._:-]{1,128}$/.test(text)) return undefined;
  return text.length >= shortestCredential && credentials.includes(text) ? undefined : text;
}

/** W3C Trace Context, version 00; a later version may append fields, and an all-zero id is invalid. */
function traceParent(header: string | undefined) {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-[^,]*)?$/.exec(header ?? '');
  if (match === null) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}
