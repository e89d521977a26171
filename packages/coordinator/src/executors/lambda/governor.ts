/**
 * How many invocations run beside each other. Lambda starts a number of sandboxes in ten seconds and refuses more; it
 * refuses too what is above the account's quota, which nobody here knows. So starts are paced, a refusal halves what may
 * run, and every invocation that ends well gives one back.
 */
import { abortable, throwIfAborted } from '@svc/base';

export interface GovernorOptions {
  readonly maxConcurrency: number;
  /** Sandboxes that may be started at once, and again in every ten seconds. */
  readonly startsPerTenSeconds?: number;
  /** Milliseconds that only go forward. */
  readonly now?: () => number;
}

export interface GovernorStats {
  readonly running: number;
  readonly waiting: number;
  /** What may run now. */
  readonly limit: number;
  /** Sandboxes that are believed to be idle. */
  readonly warm: number;
}

/** A place among those that run. Disposing twice is the same as once. */
export interface Place extends Disposable {
  /** The invocation ended well. */
  succeeded(): void;
}

const rampMs = 10_000;
const defaultStarts = 1000;
/** Refusals of one moment are one refusal. */
const sameRefusalMs = 500;
/** Lambda keeps an idle sandbox for minutes; after this none is counted on. */
const idleSandboxMs = 5 * 60_000;

export class Governor {
  readonly #maxConcurrency: number;
  readonly #startsPerTenSeconds: number;
  readonly #now: () => number;
  readonly #waiting: (() => void)[] = [];
  #limit: number;
  #running = 0;
  /** Sandboxes that are believed to exist. */
  #sandboxes = 0;
  #starts: number;
  #refilledMs: number;
  #refusedMs = Number.NEGATIVE_INFINITY;
  #usedMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor({ maxConcurrency, startsPerTenSeconds = defaultStarts, now }: GovernorOptions) {
    this.#maxConcurrency = maxConcurrency;
    this.#startsPerTenSeconds = startsPerTenSeconds;
    this.#now = now ?? (() => performance.now());
    this.#limit = maxConcurrency;
    this.#starts = startsPerTenSeconds;
    this.#refilledMs = this.#now();
    this.#usedMs = this.#refilledMs;
  }

  stats(): GovernorStats {
    const areForgotten = this.#now() - this.#usedMs > idleSandboxMs;
    return {
      running: this.#running,
      waiting: this.#waiting.length,
      limit: Math.floor(this.#limit),
      warm: areForgotten ? 0 : Math.max(0, this.#sandboxes - this.#running),
    };
  }

  /** In the order of asking. Rejects with the signal's reason. */
  async acquire(signal: AbortSignal): Promise<Place> {
    throwIfAborted(signal);
    if (this.#waiting.length > 0 || !this.#take()) await this.#wait(signal);
    let isHeld = true;
    return {
      succeeded: () => {
        this.#limit = Math.min(this.#maxConcurrency, this.#limit + 1);
      },
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#running -= 1;
        this.#wake();
      },
    };
  }

  /** Lambda has refused an invocation. */
  refused(): void {
    const nowMs = this.#now();
    if (nowMs - this.#refusedMs < sameRefusalMs) return;
    this.#refusedMs = nowMs;
    this.#limit = Math.max(1, Math.min(this.#limit, this.#running) / 2);
    this.#sandboxes = Math.min(this.#sandboxes, this.#running);
  }

  async #wait(signal: AbortSignal): Promise<void> {
    let go = () => {};
    const turn = new Promise<void>((resolve) => {
      go = resolve;
    });
    this.#waiting.push(go);
    this.#wake();
    try {
      await abortable(turn, signal);
    } catch (error) {
      const position = this.#waiting.indexOf(go);
      if (position === -1)
        this.#running -= 1; // Its turn came in the same moment.
      else this.#waiting.splice(position, 1);
      this.#wake();
      throw error;
    }
  }

  /** Whoever is woken has its place already. */
  #wake(): void {
    while (this.#waiting.length > 0 && this.#take()) this.#waiting.shift()?.();
    clearTimeout(this.#timer);
    // Places come back by themselves; starts by time.
    if (this.#waiting.length === 0 || this.#running >= Math.floor(this.#limit)) return;
    const waitMs = ((1 - this.#starts) * rampMs) / this.#startsPerTenSeconds;
    this.#timer = setTimeout(() => this.#wake(), Math.max(1, Math.ceil(waitMs)));
  }

  #take(): boolean {
    const nowMs = this.#now();
    const passedMs = nowMs - this.#refilledMs;
    this.#starts = Math.min(
      this.#startsPerTenSeconds,
      this.#starts + (passedMs / rampMs) * this.#startsPerTenSeconds,
    );
    this.#refilledMs = nowMs;
    if (nowMs - this.#usedMs > idleSandboxMs) this.#sandboxes = this.#running;
    if (this.#running >= Math.floor(this.#limit)) return false;
    if (this.#running >= this.#sandboxes) {
      if (this.#starts < 1) return false;
      this.#starts -= 1;
      this.#sandboxes = this.#running + 1;
    }
    this.#running += 1;
    this.#usedMs = nowMs;
    return true;
  }
}
