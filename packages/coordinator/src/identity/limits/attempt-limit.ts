/** How many attempts with one key may fail within a window. */
import { linkAbort, QueryError, throwIfAborted } from '@svc/base';

export interface AttemptLimitOptions {
  readonly maxFailures: number;
  /** Attempts with one key that may be under way at once: a flood of them must not use up what checks passwords. */
  readonly maxInFlight: number;
  readonly windowMs: number;
  /** Keys that are remembered. The one whose last failure is the oldest goes first. */
  readonly maxKeys: number;
  /** Attempts of all keys that may wait at once. */
  readonly maxWaiting: number;
  /** Milliseconds of a monotonic clock. */
  readonly elapsed: () => number;
}

/** Longer than any provider takes for a few attempts; a client that still has no place is told so. */
const maxWaitMs = 10_000;

/** A place of an attempt that is under way. It is settled once: with whether the password was wrong. */
export interface AttemptPlace {
  settle(outcome: 'wrong' | 'other'): void;
}

interface Counter {
  /** When attempts failed, oldest first; never more than `maxFailures`. */
  readonly failedAt: number[];
  inFlight: number;
  readonly waiting: Set<() => void>;
}

/**
 * Failures and attempts under way together never exceed the limit, so that attempts at once find out no more than
 * attempts one after the other. An attempt that only those under way keep out waits for them: they may be right, and
 * then give their places back. One that failures keep out is refused.
 */
export class AttemptLimit {
  readonly #options: AttemptLimitOptions;
  readonly #counters = new Map<string, Counter>();
  #waiting = 0;

  constructor(options: AttemptLimitOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#counters.size;
  }

  /** Throws SIGN_IN_LIMITED, or the signal's reason. */
  async enter(key: string, signal: AbortSignal): Promise<AttemptPlace> {
    throwIfAborted(signal);
    const atOnce = this.#tryTake(key);
    if (atOnce !== undefined) return atOnce;
    using limit = linkAbort(signal, maxWaitMs, tooManyAtOnce);
    for (;;) {
      await this.#wait(this.#counterOf(key), limit.signal);
      throwIfAborted(limit.signal);
      const place = this.#tryTake(key);
      if (place !== undefined) return place;
    }
  }

  /** Undefined when attempts under way have all places that are left. Throws SIGN_IN_LIMITED when none is left. */
  #tryTake(key: string): AttemptPlace | undefined {
    const counter = this.#counterOf(key);
    this.#forgetOld(counter);
    if (counter.failedAt.length >= this.#options.maxFailures) throw this.#limited(counter);
    return this.#freePlaces(counter) > 0 ? this.#take(key, counter) : undefined;
  }

  #counterOf(key: string): Counter {
    const known = this.#counters.get(key);
    if (known !== undefined) return known;
    this.#makeRoom();
    const counter: Counter = { failedAt: [], inFlight: 0, waiting: new Set() };
    this.#counters.set(key, counter);
    return counter;
  }

  #take(key: string, counter: Counter): AttemptPlace {
    counter.inFlight += 1;
    let isSettled = false;
    return {
      settle: (outcome) => {
        if (isSettled) return;
        isSettled = true;
        counter.inFlight -= 1;
        if (outcome === 'wrong') this.#recordFailure(key, counter);
        else if (isIdle(counter)) this.#counters.delete(key);
        this.#wakeWhoCanGoOn(counter);
      },
    };
  }

  #recordFailure(key: string, counter: Counter): void {
    counter.failedAt.push(this.#options.elapsed());
    // The map's order is that of the last failures, for `makeRoom`.
    this.#counters.delete(key);
    this.#counters.set(key, counter);
  }

  /** As many as there are places for; all of them when there will be none. */
  #wakeWhoCanGoOn(counter: Counter): void {
    this.#forgetOld(counter);
    const isOver = counter.failedAt.length >= this.#options.maxFailures;
    wake(counter, isOver ? counter.waiting.size : this.#freePlaces(counter));
  }

  #freePlaces({ failedAt, inFlight }: Counter): number {
    const { maxFailures, maxInFlight } = this.#options;
    return Math.min(maxFailures - failedAt.length, maxInFlight) - inFlight;
  }

  async #wait(counter: Counter, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= this.#options.maxWaiting) throw tooManyAtOnce();
    let leave: (() => void) | undefined;
    this.#waiting += 1;
    try {
      await new Promise<void>((resolve) => {
        leave = () => resolve();
        counter.waiting.add(leave);
        signal.addEventListener('abort', leave, { once: true });
      });
    } finally {
      this.#waiting -= 1;
      if (leave !== undefined) {
        counter.waiting.delete(leave);
        signal.removeEventListener('abort', leave);
      }
      // Whoever was woken and goes away hands the place on.
      if (signal.aborted) this.#wakeWhoCanGoOn(counter);
    }
  }

  #limited(counter: Counter): QueryError {
    const { windowMs, elapsed } = this.#options;
    const oldest = counter.failedAt[0] ?? elapsed();
    const seconds = Math.max(1, Math.ceil((oldest + windowMs - elapsed()) / 1000));
    return new QueryError(
      'SIGN_IN_LIMITED',
      `Too many wrong passwords: try again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`,
    );
  }

  #forgetOld(counter: Counter): void {
    const limit = this.#options.elapsed() - this.#options.windowMs;
    const kept = counter.failedAt.findIndex((failedAt) => failedAt > limit);
    counter.failedAt.splice(0, kept < 0 ? counter.failedAt.length : kept);
  }

  /** Called for each new key: what is over goes by and by, and what is not when there is no room. */
  #makeRoom(): void {
    let looked = 0;
    for (const [key, counter] of this.#counters) {
      this.#forgetOld(counter);
      const isFull = this.#counters.size >= this.#options.maxKeys;
      if (isIdle(counter) || (isFull && counter.inFlight === 0)) this.#counters.delete(key);
      looked += 1;
      if (looked >= 4 && this.#counters.size < this.#options.maxKeys) return;
    }
  }
}

function isIdle({ failedAt, inFlight, waiting }: Counter): boolean {
  return failedAt.length === 0 && inFlight === 0 && waiting.size === 0;
}

function wake({ waiting }: Counter, count: number): void {
  let left = count;
  for (const resolve of waiting) {
    if (left <= 0) return;
    left -= 1;
    waiting.delete(resolve);
    resolve();
  }
}

function tooManyAtOnce(): QueryError {
  return new QueryError('SIGN_IN_LIMITED', 'Too many clients are signing in: try again in 1 second.');
}
