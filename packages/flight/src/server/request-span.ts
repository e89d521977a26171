import { status } from '@grpc/grpc-js';
import type { OpenSpan } from '@svc/base';
import { type FlightMethod, serviceName } from './service-definition.js';

/** OpenTelemetry's conventions for a call of gRPC. */
export function rpcAttributes(method: FlightMethod): Readonly<Record<string, string>> {
  return { 'rpc.system': 'grpc', 'rpc.service': serviceName, 'rpc.method': method };
}

/** Statuses that are a server's errors by the same conventions; others are for the client to judge. */
const serverErrors: ReadonlySet<status> = new Set([
  status.UNKNOWN,
  status.DEADLINE_EXCEEDED,
  status.UNIMPLEMENTED,
  status.INTERNAL,
  status.UNAVAILABLE,
  status.DATA_LOSS,
]);

/** Without a status the client has gone before there was one. */
export function endRequest(span: OpenSpan, sent: status = status.CANCELLED): void {
  span.describe({ 'rpc.grpc.status_code': sent });
  span.end(serverErrors.has(sent) ? status[sent] : undefined);
}
