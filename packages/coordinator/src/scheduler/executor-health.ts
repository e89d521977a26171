/** Which executors are left alone for a while because they were lost, or answered what they should not. */

export interface ExecutorHealthOptions {
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
}

const firstQuarantineMs = 500;
const longestQuarantineMs = 30_000;
/** Of one that takes no fragments of this version: it will not learn soon. */
const refusedQuarantineMs = 60_000;
/** A draining one goes away, or comes back as another one under the same name. */
const leavingQuarantineMs = 2000;
/** Names come and go: addresses of containers are never used again. */
const maxKnown = 10_000;

interface Blame {
  count: number;
  untilMs: number;
}

/** Of the process, not of a query: what one query learned spares the next one. */
export class ExecutorHealth {
  readonly #elapsed: () => number;
  readonly #blames = new Map<string, Blame>();

  constructor({ elapsed }: ExecutorHealthOptions) {
    this.#elapsed = elapsed;
  }

  /** All that was lost with an executor at a time is one blame. */
  blame(name: string, kind: 'executor' | 'refused' | 'leaving'): void {
    const now = this.#elapsed();
    const known = this.#blames.get(name);
    if (known !== undefined && now < known.untilMs) return;
    const count = (known?.count ?? 0) + (kind === 'leaving' ? 0 : 1);
    const ms =
      kind === 'executor'
        ? Math.min(firstQuarantineMs * 2 ** Math.min(count - 1, 16), longestQuarantineMs)
        : kind === 'refused'
          ? refusedQuarantineMs
          : leavingQuarantineMs;
    this.#blames.delete(name);
    this.#blames.set(name, { count, untilMs: now + ms });
    for (const oldest of this.#blames.keys()) {
      if (this.#blames.size <= maxKnown) break;
      this.#blames.delete(oldest);
    }
  }

  /** It ended a split as it should. */
  praise(name: string): void {
    const known = this.#blames.get(name);
    if (known !== undefined && this.#elapsed() >= known.untilMs) this.#blames.delete(name);
  }

  /** How long it is still left alone; 0 for one that may be used. */
  quarantineMs(name: string): number {
    return Math.max(0, (this.#blames.get(name)?.untilMs ?? 0) - this.#elapsed());
  }

  get quarantined(): number {
    const now = this.#elapsed();
    return [...this.#blames.values()].filter(({ untilMs }) => untilMs > now).length;
  }
}
