import { status } from '@grpc/grpc-js';
import { type ErrorCode, errorCodes, QueryError } from '@svc/base';

/** For statuses without one of our codes: made by gRPC itself, or by another server. */
const codeByStatus: Readonly<Partial<Record<status, ErrorCode>>> = {
  [status.CANCELLED]: 'CANCELLED',
  [status.INVALID_ARGUMENT]: 'INVALID_ARGUMENT',
  [status.DEADLINE_EXCEEDED]: 'QUERY_TIMEOUT',
  [status.PERMISSION_DENIED]: 'PERMISSION_DENIED',
  [status.RESOURCE_EXHAUSTED]: 'RESULT_TOO_LARGE',
  [status.UNIMPLEMENTED]: 'NOT_SUPPORTED',
  [status.UNAUTHENTICATED]: 'UNAUTHENTICATED',
};

/** The error behind a status: the server's own code where the text begins with one, as ours does. */
export function errorOfStatus(code: status, details: string): QueryError {
  const [, name, message] = /^\[([A-Z_]+)\] (.*)$/s.exec(details) ?? [];
  if (name !== undefined && message !== undefined && isErrorCode(name)) return new QueryError(name, message);
  return new QueryError(codeByStatus[code] ?? 'PEER_UNAVAILABLE', details);
}

function isErrorCode(name: string): name is ErrorCode {
  return Object.hasOwn(errorCodes, name);
}
