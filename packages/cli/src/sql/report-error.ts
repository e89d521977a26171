import { type ErrorCode, QueryError } from '@svc/base';
import { exitCodes } from '../exit-codes.js';
import { UsageError } from '../usage-error.js';
import { OutputError } from './output/sink.js';
import { visibleLines } from './output/visible-text.js';

/** How a message says where the statement stands. */
export interface ErrorPlace {
  readonly name: string | undefined;
  readonly line: number;
}

/** `query.sql:12: [TABLE_NOT_FOUND] …`; the place in the statement is in the message. */
export function errorText(caught: unknown, place?: ErrorPlace): string {
  const where = place?.name === undefined ? '' : `${place.name}:${place.line}: `;
  if (caught instanceof OutputError || caught instanceof UsageError)
    return `svc: ${where}${visibleLines(caught.message)}\n`;
  const error = QueryError.from(caught);
  const detail =
    error.code === 'INTERNAL_ERROR' && error.cause instanceof Error ? `\n${error.cause.stack ?? ''}` : '';
  return `svc: ${where}[${error.code}] ${visibleLines(error.message)}${detail}\n`;
}

const exitCodeByError: Readonly<Partial<Record<ErrorCode, number>>> = {
  CONFIGURATION_ERROR: exitCodes.usage,
  PEER_UNAVAILABLE: exitCodes.connection,
  UNAUTHENTICATED: exitCodes.connection,
  INSECURE_TRANSPORT: exitCodes.connection,
  SESSION_EXPIRED: exitCodes.connection,
  SESSION_LOST: exitCodes.connection,
  CANCELLED: exitCodes.interrupted,
};

export function exitCodeOf(caught: unknown): number {
  if (caught instanceof UsageError) return exitCodes.usage;
  if (caught instanceof OutputError) return exitCodes.output;
  return exitCodeByError[QueryError.from(caught).code] ?? exitCodes.failed;
}
