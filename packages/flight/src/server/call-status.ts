import { status } from '@grpc/grpc-js';
import { type Logger, QueryError } from '@svc/base';

/** A gRPC status as grpc-js takes it. */
export interface CallStatus {
  readonly code: status;
  readonly details: string;
}

const MAX_DETAIL_BYTES = 4096;
/** grpc-message travels percent-encoded, and gRPC C++ refuses trailers above 8 KB. */
const MAX_ENCODED_BYTES = 6144;

/**
 * The status of an error. The text begins with the stable code, because JDBC shows nothing but the text. It is
 * well-formed (a lone surrogate would crash the process inside grpc-js), free of NUL, and short enough for a trailer.
 */
export function toCallStatus(error: QueryError): CallStatus {
  return { code: status[error.grpcStatus], details: safeDetails(`[${error.code}] ${error.message}`) };
}

/** Normalises whatever was caught. Defects are logged with their cause; the client learns only that there was one. */
export function reportError(caught: unknown, logger: Logger, method: string): CallStatus {
  const error = QueryError.from(caught);
  if (error.code === 'INTERNAL_ERROR') {
    const cause =
      error.cause instanceof Error ? (error.cause.stack ?? error.cause.message) : String(error.cause);
    logger.log('error', 'A Flight call failed by a defect', { method, cause: cause.slice(0, 8192) });
  }
  return toCallStatus(error);
}

/** Gives statuses that grpc-js makes itself (limits, deadlines, decompression) one of our codes. */
export function withStableCode(code: number, details: string): CallStatus {
  if (code === status.OK || details.startsWith('[')) return { code, details };
  switch (code) {
    case status.RESOURCE_EXHAUSTED:
      return toCallStatus(new QueryError('INVALID_ARGUMENT', `${details}.`));
    case status.DEADLINE_EXCEEDED:
      return toCallStatus(new QueryError('QUERY_TIMEOUT', 'The deadline of the call has passed.'));
    case status.UNIMPLEMENTED:
    case status.INTERNAL:
      return toCallStatus(new QueryError('INVALID_ARGUMENT', `The call is malformed: ${details}.`));
    default:
      return { code, details: safeDetails(details) };
  }
}

function safeDetails(text: string): string {
  // A round trip through UTF-8 replaces lone surrogates.
  const wellFormed = Buffer.from(text.slice(0, MAX_DETAIL_BYTES), 'utf8')
    .toString('utf8')
    .replaceAll('\0', '\ufffd');
  if (fits(wellFormed) && text.length <= MAX_DETAIL_BYTES) return wellFormed;
  const characters = [...wellFormed];
  let low = 0;
  let high = characters.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(`${characters.slice(0, middle).join('')}…`)) low = middle;
    else high = middle - 1;
  }
  return `${characters.slice(0, low).join('')}…`;
}

function fits(text: string): boolean {
  return Buffer.byteLength(text) <= MAX_DETAIL_BYTES && encodeURI(text).length <= MAX_ENCODED_BYTES;
}
