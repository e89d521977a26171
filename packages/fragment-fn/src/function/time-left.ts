/** A function ends by its own word and not by that of its sandbox: what it has done then counts. */
import { QueryError } from '@svc/base';
import type { RemoteTask } from '../wire/task-codec.js';

const maxReserveMs = 5_000;
const minReserveMs = 500;
/** Of the reserve, for the last frames. */
const lastWordsMs = 250;

export interface TimeLimits {
  /** Until the work has to end. */
  readonly workMs: number;
  /** Until what was done has to be handed over. */
  readonly answerMs: number;
}

export function timeLimits(remainingMs: number): TimeLimits {
  const reserveMs = Math.min(maxReserveMs, Math.max(minReserveMs, remainingMs / 10));
  return { workMs: Math.max(0, remainingMs - reserveMs), answerMs: Math.max(0, remainingMs - lastWordsMs) };
}

export function timeIsOver(): QueryError {
  return new QueryError(
    'EXECUTOR_TIME_OVER',
    'The time of the function is over: what it has not ended is to be run again.',
  );
}

/** When the first of a task's credentials end, milliseconds since 1970. */
export function credentialsEnd({ grants }: RemoteTask): number {
  const ends = grants.flatMap((grant) =>
    grant?.kind === 's3'
      ? grant.prefixes.map(({ expiresAtMs }) => expiresAtMs ?? Number.POSITIVE_INFINITY)
      : [],
  );
  return Math.min(...ends, Number.POSITIVE_INFINITY);
}

export function credentialsAreOver(cause?: unknown): QueryError {
  return new QueryError(
    'EXECUTOR_TIME_OVER',
    'Credentials end before the function has read all: what it has not ended is to be run again with new ones.',
    { cause },
  );
}

/** Splits of a task are of about one size: what the longest took is what the next may take. */
export class SplitClock {
  readonly #now: () => number;
  #startedMs: number;
  #longestMs = 0;

  constructor(now: () => number) {
    this.#now = now;
    this.#startedMs = now();
  }

  ended(): void {
    const nowMs = this.#now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#startedMs);
    this.#startedMs = nowMs;
  }

  hasTimeForOneMore(endMs: number): boolean {
    return this.#now() + this.#longestMs < endMs;
  }
}
