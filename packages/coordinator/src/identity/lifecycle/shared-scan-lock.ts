import { randomBytes } from 'node:crypto';
import {
  abortable,
  delay,
  type Logger,
  linkAbort,
  type Metrics,
  QueryError,
  throwIfAborted,
} from '@svc/base';
import type { ScanLock } from './scan-lock.js';
import { createSparseWarning } from './sparse-warning.js';

/** A server that keeps one value under one key for all coordinators. Every call ends by itself within a second or so. */
export interface LockServer {
  /** Puts the value where there is none, for so long. Whether it did. */
  take(value: string, ttlMs: number): Promise<boolean>;
  /** Keeps the value for so long from now. Whether it is there. */
  keep(value: string, ttlMs: number): Promise<boolean>;
  /** Removes the value if it is there, and never another one. */
  release(value: string): Promise<void>;
  close(): void;
}

export interface SharedScanLockOptions {
  readonly server: LockServer;
  readonly metrics: Pick<Metrics, 'tokenScanLocks'>;
  readonly logger: Logger;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly timings?: LockTimings;
}

export interface LockTimings {
  readonly waitMs: number;
  /** Between two attempts, at least; at most twice that. */
  readonly retryMs: number;
  /** How long the lock outlives a holder that is gone or stalls. A working one keeps it three times as often. */
  readonly ttlMs: number;
}

const defaultTimings: LockTimings = { waitMs: 5000, retryMs: 100, ttlMs: 15_000 };

/**
 * A lock on a server that may be slow, away or wrong: it delays the work by 5 seconds at most, and never stops it. A
 * holder that stalls loses it after 15 seconds, and cannot free it under the next one, whose value is another.
 */
export function createSharedScanLock(options: SharedScanLockOptions): ScanLock {
  const { server, metrics, logger, timings = defaultTimings } = options;
  const warnOfMiss = createSparseWarning(logger, 'token scan goes on without the lock that it waited for');
  const warnOfLoss = createSparseWarning(logger, 'token scan lost its lock, other coordinators may scan too');

  return {
    async run(work, signal) {
      const value = randomBytes(16).toString('hex');
      const attempt = await acquire(value, options, signal);
      try {
        throwIfAborted(signal);
        metrics.tokenScanLocks.inc({ outcome: attempt.isHeld ? 'held' : 'missed' });
        if (attempt.isHeld) await keepDuring(value, () => work(true));
        else {
          warnOfMiss({ error_message: attempt.problem ?? 'another coordinator holds it' });
          await work(false);
        }
      } finally {
        if (attempt.isHeld || attempt.mayHold) await server.release(value).catch(() => {});
      }
    },
    close: () => server.close(),
  };

  async function keepDuring(value: string, work: () => Promise<void>): Promise<void> {
    let isDone = false;
    const keep = async () => {
      try {
        if (await server.keep(value, timings.ttlMs)) return;
        // Gone with a restart of the server: it is free unless another one has it.
        if (!isDone && !(await server.take(value, timings.ttlMs))) warnOfLoss();
      } catch (error) {
        warnOfLoss({ error_message: messageOf(error) });
      }
    };
    const keeper = setInterval(() => void keep(), timings.ttlMs / 3).unref();
    try {
      await work();
    } finally {
      isDone = true;
      clearInterval(keeper);
    }
  }
}

interface Attempt {
  readonly isHeld: boolean;
  /** An attempt that has had no answer may have been served all the same. */
  readonly mayHold: boolean;
  /** Of the last call to the server that failed. */
  readonly problem: string | undefined;
}

/** Never rejects. */
async function acquire(
  value: string,
  { server, random, timings = defaultTimings }: SharedScanLockOptions,
  signal: AbortSignal,
): Promise<Attempt> {
  using link = linkAbort(
    signal,
    timings.waitMs,
    () => new QueryError('CANCELLED', 'The lock was not had in time.'),
  );
  let problem: string | undefined;
  let mayHold = false;
  const tryOnce = async () => {
    const isUncertain = mayHold;
    mayHold = true;
    try {
      // What is there may be our own: an earlier attempt was served, but its answer lost.
      const isHeld =
        (await server.take(value, timings.ttlMs)) ||
        (isUncertain && (await server.keep(value, timings.ttlMs)));
      mayHold = isHeld;
      return isHeld;
    } catch (error) {
      problem = messageOf(error);
      return false;
    }
  };
  try {
    while (!(await abortable(tryOnce(), link.signal))) {
      await delay(timings.retryMs * (1 + random()), link.signal);
    }
    return { isHeld: true, mayHold, problem };
  } catch {
    const isSilent = mayHold && problem === undefined;
    return { isHeld: false, mayHold, problem: isSilent ? 'the server does not answer' : problem };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
