/** Which executors are left alone for a while because they were lost, or answered what they should not, or are busy. */

export interface ExecutorHealthOptions {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  /** Of one that was lost. */
  readonly longestMs?: number;
}

/** See `FailureKind`. */
export type BlameKind = 'executor' | 'refused' | 'leaving' | 'busy';

const firstQuarantineMs = 500;
const longestQuarantineMs = 30_000;
/** Of one that takes no fragments of this version: it will not learn soon. */
const refusedQuarantineMs = 60_000;
/** A draining one goes away, or comes back as another one under the same name. */
const leavingQuarantineMs = 2000;
/** A busy one has let the task wait for some time already, unless too many wait. */
const firstRestMs = 100;
const longestRestMs = 2000;
/** Names come and go: addresses of containers are never used again. */
const maxKnown = 10_000;
/** So many queries must have lost invocations of a function, and none had one end well, for the function itself to be bad. */
const queriesToBlame = 3;

interface Blame {
  readonly count: number;
  /** Since it took something. */
  readonly rests: number;
  readonly isBusy: boolean;
  readonly untilMs: number;
}

/** Of the process, not of a query: what one query learned spares the next one. */
export class ExecutorHealth {
  readonly #elapsed: () => number;
  readonly #longestMs: number;
  readonly #blames = new Map<string, Blame>();
  /** Queries that lost an invocation of a function since one has ended well. */
  readonly #losers = new Map<string, Set<string>>();

  constructor({ elapsed, longestMs = longestQuarantineMs }: ExecutorHealthOptions) {
    this.#elapsed = elapsed;
    this.#longestMs = longestMs;
  }

  /** All that was lost with an executor at a time is one blame. */
  blame(name: string, kind: BlameKind): void {
    const now = this.#elapsed();
    const known = this.#blames.get(name);
    const isLeftAlone = known !== undefined && now < known.untilMs;
    if (isLeftAlone && (kind === 'busy' || !known.isBusy)) return;
    const isFault = kind === 'executor' || kind === 'refused';
    const count = (known?.count ?? 0) + (isFault ? 1 : 0);
    const rests = (known?.rests ?? 0) + (kind === 'busy' ? 1 : 0);
    const untilMs = now + this.#durationMs(kind, count, rests);
    this.#blames.delete(name);
    this.#blames.set(name, { count, rests, isBusy: kind === 'busy', untilMs });
    for (const oldest of this.#blames.keys()) {
      if (this.#blames.size <= maxKnown) break;
      this.#blames.delete(oldest);
    }
  }

  /**
   * One invocation was lost of a function, whose name stands for many sandboxes: what a query does to its own is nobody
   * else's matter, so the function is to blame only where several queries in a row have lost theirs.
   */
  blameInvocation(name: string, kind: BlameKind, queryId: string): void {
    const losers = this.#losers.get(name) ?? new Set();
    this.#losers.set(name, losers.add(queryId));
    if (losers.size < queriesToBlame) return;
    this.#losers.delete(name);
    this.blame(name, kind);
  }

  /** It ended a split as it should. */
  praise(name: string): void {
    this.#losers.delete(name);
    const known = this.#blames.get(name);
    if (known !== undefined && this.#elapsed() >= known.untilMs) this.#blames.delete(name);
  }

  /** How long it is still left alone; 0 for one that may be used. */
  quarantineMs(name: string): number {
    return Math.max(0, (this.#blames.get(name)?.untilMs ?? 0) - this.#elapsed());
  }

  /** Whether it can be reached: it may be used, or is only left alone for being busy. */
  isThere(name: string): boolean {
    return this.#blames.get(name)?.isBusy === true || this.quarantineMs(name) === 0;
  }

  get quarantined(): number {
    const now = this.#elapsed();
    return [...this.#blames.values()].filter(({ isBusy, untilMs }) => !isBusy && untilMs > now).length;
  }

  #durationMs(kind: BlameKind, count: number, rests: number): number {
    switch (kind) {
      case 'executor':
        return doubled(firstQuarantineMs, count, this.#longestMs);
      case 'busy':
        return doubled(firstRestMs, rests, longestRestMs);
      case 'refused':
        return refusedQuarantineMs;
      case 'leaving':
        return leavingQuarantineMs;
    }
  }
}

function doubled(firstMs: number, count: number, longestMs: number): number {
  return Math.min(firstMs * 2 ** Math.min(count - 1, 16), longestMs);
}
