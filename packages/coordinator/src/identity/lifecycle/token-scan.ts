/**
 * Renews the tokens of sessions before they expire (spec sections 3.1 and 5.5): each scan takes every session whose tokens
 * expire within 60 seconds, in both modes of signing in. A session whose tokens cannot be renewed is marked expired.
 */
import {
  abortable,
  delay,
  errorFields,
  type Logger,
  linkAbort,
  type Metrics,
  QueryError,
  throwIfAborted,
} from '@svc/base';
import { type RenewTokens, renewalBufferMs, type SessionTokens } from '../identity-provider.js';
import type { Session } from '../session.js';
import type { ScanLock } from './scan-lock.js';

export interface TokenScanOptions {
  readonly sessions: () => readonly Session[];
  readonly lock: ScanLock;
  readonly metrics: Pick<Metrics, 'tokenRenewals' | 'tokenScanDuration'>;
  readonly logger: Logger;
  /** Milliseconds since 1970, as expiries are told. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. Default: the process's. */
  readonly elapsed?: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly timings: TokenScanTimings;
}

export interface TokenScanTimings {
  /** Renewals of one scan begin spread over so much time for each, so that the provider does not get them at once … */
  readonly spreadEachMs: number;
  /** … but over no more than this. */
  readonly spreadMs: number;
  /** Of one renewal, the provider's retries included. */
  readonly deadlineMs: number;
}

const maxConcurrent = 8;
export const defaultSpread = { spreadEachMs: 20, spreadMs: 2000 } as const;

interface Renewal {
  readonly session: Session;
  readonly tokens: SessionTokens;
  readonly renew: RenewTokens;
}

/** One scan. Rejects only when its signal aborts: what fails for a session is that session's. */
export type TokenScan = (signal: AbortSignal) => Promise<void>;

export function createTokenScan(options: TokenScanOptions): TokenScan {
  const { sessions, lock, metrics, now, elapsed = () => performance.now() } = options;
  /** When tokens end by the clock that is never set, as the first scan that saw them found. */
  const endOf = new WeakMap<SessionTokens, number>();

  /** By either clock: one that was set back would let tokens expire unnoticed, for as long as it is behind. */
  function leftMs(tokens: SessionTokens): number {
    const byWallMs = tokens.expiresAtMs - now();
    const end = endOf.get(tokens) ?? elapsed() + byWallMs;
    endOf.set(tokens, end);
    return Math.min(byWallMs, end - elapsed());
  }

  return async (signal) => {
    if (dueRenewals(sessions(), leftMs).length === 0) return;
    const since = performance.now();
    try {
      // Looked up again: what was due may have ended, or more come, during the wait for the lock.
      await lock.run(
        (isAlone) => renewAll(dueRenewals(sessions(), leftMs), { ...options, isAlone, signal }),
        signal,
      );
    } finally {
      metrics.tokenScanDuration.observe((performance.now() - since) / 1000);
    }
  };
}

/** The soonest to expire first. */
function dueRenewals(
  sessions: readonly Session[],
  leftMs: (tokens: SessionTokens) => number,
): readonly Renewal[] {
  const due: Renewal[] = [];
  for (const session of sessions) {
    const { tokens, renew, isExpired, closed } = session;
    if (tokens === undefined || renew === undefined || isExpired || closed.aborted) continue;
    if (leftMs(tokens) <= renewalBufferMs) due.push({ session, tokens, renew });
  }
  return due.sort((left, right) => left.tokens.expiresAtMs - right.tokens.expiresAtMs);
}

interface Scan extends TokenScanOptions {
  readonly isAlone: boolean;
  readonly signal: AbortSignal;
}

async function renewAll(due: readonly Renewal[], scan: Scan): Promise<void> {
  const { random, logger, isAlone, signal, timings } = scan;
  const sinceMs = performance.now();
  const eachMs = Math.min(timings.spreadEachMs, timings.spreadMs / due.length);
  const waiting = due.entries();
  const renewNext = async () => {
    // All of them take from the one iterator.
    for (const [index, renewal] of waiting) {
      const startsInMs = (index + random()) * eachMs - (performance.now() - sinceMs);
      if (startsInMs > 0) await delay(startsInMs, signal);
      throwIfAborted(signal);
      await renewOne(renewal, scan);
    }
  };
  await Promise.all(Array.from({ length: Math.min(maxConcurrent, due.length) }, renewNext));
  logger.log('debug', 'token scan finished', {
    sessions: due.length,
    duration_ms: Math.round(performance.now() - sinceMs),
    alone: isAlone,
  });
}

async function renewOne({ session, tokens, renew }: Renewal, scan: Scan): Promise<void> {
  const { metrics, logger, signal, timings } = scan;
  const who = { session_id: session.label, user: session.identity.username };
  using link = linkAbort([signal, session.closed], timings.deadlineMs, () => overdue(timings.deadlineMs));
  try {
    // A provider that does not heed the signal is not waited for.
    const { roles, ...renewed } = await abortable(renew(tokens, link.signal), link.signal);
    throwIfAborted(link.signal);
    session.tokens = renewed;
    if (roles !== undefined) session.identity = { ...session.identity, roles };
    metrics.tokenRenewals.inc({ outcome: 'renewed' });
    logger.log('debug', 'session tokens renewed', who);
  } catch (error) {
    // Not a failure to renew: nobody needs the tokens any more.
    if (signal.aborted || session.closed.aborted) {
      metrics.tokenRenewals.inc({ outcome: 'abandoned' });
      return;
    }
    session.isExpired = true;
    metrics.tokenRenewals.inc({ outcome: 'failed' });
    logger.log('warn', 'session expired: its tokens could not be renewed', { ...who, ...errorFields(error) });
  }
}

function overdue(deadlineMs: number): QueryError {
  return new QueryError(
    'IDENTITY_PROVIDER_UNAVAILABLE',
    `The identity provider did not renew the tokens within ${deadlineMs / 1000} seconds.`,
  );
}
