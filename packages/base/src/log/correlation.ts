import type { LogContext } from './context.js';

/**
 * The correlation fields a caller sent along (specification sections 2.9, 4.1 and 8), from headers by lower-case name.
 * What is not valid is left out and the request goes on. They never authenticate anybody.
 */
export function correlationFields(header: (name: string) => string | undefined): LogContext {
  const request = correlationValue(header('x-request-id'));
  const session = correlationValue(header('x-session-id'));
  return {
    ...traceFields(header('traceparent')),
    ...(request === undefined ? {} : { request_id: request }),
    ...(session === undefined ? {} : { session_id: session }),
  };
}

function correlationValue(text: string | undefined): string | undefined {
  return text !== undefined && /^[A-Za-z0-9._:-]{1,128}$/.test(text) ? text : undefined;
}

/** W3C Trace Context, version 00; a later version may append fields, and an all-zero id is invalid. */
function traceFields(traceparent: string | undefined): Pick<LogContext, 'trace_id' | 'span_id'> {
  const match = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/.exec(traceparent ?? '');
  if (match === null) return {};
  const [, version, traceId = '', spanId = '', rest] = match;
  if (version === 'ff' || (version === '00' && rest !== undefined)) return {};
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return {};
  return { trace_id: traceId, span_id: spanId };
}
