/**
 * Sends requests to storage: no more at a time than the budget holds, again when a failure may pass, and a second time
 * when an answer is late.
 */
import { delay, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type { ByteBudget } from '../byte-budget.js';
import type { Latencies, Lateness } from './latencies.js';
import type { Outcome, Try } from './outcome.js';
import { StorageTraffic } from './storage-traffic.js';

export interface RequestLimits {
  /** Tries of one request, the first included. */
  readonly maxTries: number;
  /** Before the second try; it doubles from there, and a random part of it is left out. */
  readonly firstDelayMs: number;
  readonly maxDelayMs: number;
  /** A server that is silent for so long has lost the request. */
  readonly maxSilenceMs: number;
  /** Whether late requests are sent a second time. */
  readonly hedges: boolean;
}

export const defaultRequestLimits: RequestLimits = {
  maxTries: 6,
  firstDelayMs: 100,
  maxDelayMs: 5000,
  maxSilenceMs: 15_000,
  hedges: true,
};

export interface RequestOptions {
  /** Of the answer; 0 when it is small. */
  readonly bytes: number;
  /** Requests of one kind take about as long. A late one is sent a second time beside the first; without a kind, never. */
  readonly kind?: string;
  /** Names the object. */
  readonly what: string;
  readonly signal?: AbortSignal | undefined;
  /** Replaces the general limit, for requests whose answer takes work or whose body takes time to send. */
  readonly maxSilenceMs?: number;
  /** The error of a server that was silent for too long. Default: storage was. */
  readonly silent?: (what: string, seconds: number) => QueryError;
}

type Attempt<T> = (attempt: Try) => Promise<Outcome<T>>;

export interface RunnerOptions {
  readonly limits?: Partial<RequestLimits> | undefined;
  /** Shared with other runners. Default: its own. */
  readonly traffic?: StorageTraffic | undefined;
  /** The server that is asked: requests to it are compared with each other. */
  readonly place?: string | undefined;
  /** Waited for before each request, and its time is not the server's: loading a client, new credentials. */
  readonly prepare?: (signal: AbortSignal | undefined) => Promise<unknown>;
}

export class RequestRunner {
  readonly #limits: RequestLimits;
  readonly #budget: ByteBudget;
  readonly #minShare: number;
  readonly #latencies: Latencies;
  readonly #prepare: (signal: AbortSignal | undefined) => Promise<unknown>;

  constructor({ limits, traffic = new StorageTraffic(), place = '', prepare }: RunnerOptions = {}) {
    this.#prepare = prepare ?? (async () => undefined);
    this.#limits = { ...defaultRequestLimits, ...limits };
    this.#budget = traffic.budget;
    this.#minShare = traffic.minShareBytes;
    this.#latencies = traffic.latenciesOf(place);
  }

  /** Throws what the try throws, or its last passing failure. Ends soon after an abort, and leaves nothing running. */
  async run<T>(options: RequestOptions, attempt: Attempt<T>): Promise<T> {
    const { maxTries } = this.#limits;
    throwIfAborted(options.signal);
    for (let failures = 0; ; ) {
      await this.#prepare(options.signal);
      const outcome = await this.#attemptInTurn(options, attempt);
      // What has been done has been done, even if its caller went away meanwhile.
      if (outcome.kind === 'done') return outcome.value;
      throwIfAborted(options.signal);
      failures += 1;
      if (outcome.isOverloaded === true) this.#latencies.noteOverload(performance.now());
      if (failures >= maxTries) throw outcome.error;
      await delay(outcome.afterMs ?? this.#delayAfter(failures), options.signal);
    }
  }

  /** The budget is everybody's: nothing of it is held by who waits for credentials, or for a server to recover. */
  async #attemptInTurn<T>(options: RequestOptions, attempt: Attempt<T>): Promise<Outcome<T>> {
    const share = Math.max(options.bytes, this.#minShare);
    await this.#budget.acquire(share, options.signal);
    try {
      return await this.#attemptHedged(options, attempt);
    } finally {
      this.#budget.release(share);
    }
  }

  #delayAfter(failures: number): number {
    const { firstDelayMs, maxDelayMs } = this.#limits;
    return Math.min(firstDelayMs * 2 ** (failures - 1), maxDelayMs) * (0.5 + Math.random() / 2);
  }

  /** The first good answer of one or two tries; when there is none, the failure of the first. */
  async #attemptHedged<T>(options: RequestOptions, attempt: Attempt<T>): Promise<Outcome<T>> {
    using stop = linkAbort(options.signal);
    const running: Promise<Outcome<T>>[] = [];
    const progress = new Progress();
    const start = (isFirst: boolean): Promise<Outcome<T>> => {
      const place = { isFirst, parent: stop.signal, progress: isFirst ? progress : new Progress() };
      const tried = this.#attemptOnce(options, attempt, place);
      running.push(tried);
      tried.catch(() => undefined); // Reported where it is waited for.
      return tried;
    };
    this.#latencies.noteRequest();
    const first = start(true);
    let timer: NodeJS.Timeout | undefined;
    try {
      const { kind } = options;
      if (kind === undefined || !this.#limits.hedges) return await first;
      const second = new Promise<Outcome<T>>((resolve, reject) => {
        const wait = (ms: number): void => {
          timer = setTimeout(() => {
            // Answers that arrived while this process was busy are looked at before the server is called late.
            setImmediate(() => {
              if (timer === undefined) return;
              const late = this.#latencies.lateAfter(kind);
              const leftMs = progress.msUntil(late);
              if (leftMs > 0) wait(leftMs);
              else if (this.#latencies.takeHedge(performance.now())) start(false).then(resolve, reject);
              else wait(late.silenceMs);
            });
          }, ms);
        };
        wait(this.#latencies.lateAfter(kind).silenceMs);
      });
      second.catch(() => undefined);
      const winner = await Promise.race([settled(first), settled(second)]);
      if (isGood(winner) || running.length === 1) return outcomeOf(winner);
      const both = await Promise.all(running.map(settled));
      const best = both.find(isGood) ?? both[0];
      return outcomeOf(best ?? winner);
    } finally {
      clearTimeout(timer);
      timer = undefined;
      stop.abort(new QueryError('CANCELLED', 'The answer was no longer needed.'));
      await Promise.allSettled(running);
    }
  }

  async #attemptOnce<T>(
    { kind, what, maxSilenceMs = this.#limits.maxSilenceMs, silent = silentStorage }: RequestOptions,
    attempt: Attempt<T>,
    { isFirst, parent, progress }: Place,
  ): Promise<Outcome<T>> {
    using abort = linkAbort(parent);
    const silence = silent(what, maxSilenceMs / 1000);
    const timer = setTimeout(() => abort.abort(silence), maxSilenceMs);
    const heard = (): void => {
      timer.refresh();
      progress.note();
    };
    try {
      const outcome = await attempt({ signal: abort.signal, isFirst, heard });
      progress.note();
      if (outcome.kind === 'done' && kind !== undefined) this.#latencies.observe(kind, progress.times());
      return outcome;
    } catch (error) {
      if (abort.signal.reason === silence && !parent.aborted) return { kind: 'again', error: silence };
      throwIfAborted(parent);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }
}

function silentStorage(what: string, seconds: number): QueryError {
  return new QueryError(
    'STORAGE_ERROR',
    `Storage was silent for ${seconds} seconds while ${what} was being accessed.`,
  );
}

/** One of the two requests that a try may be. */
interface Place {
  readonly isFirst: boolean;
  readonly parent: AbortSignal;
  readonly progress: Progress;
}

/** When a request was sent, and when something was last heard of its answer. */
class Progress {
  readonly #beganMs = performance.now();
  #heardMs = this.#beganMs;
  #silenceMs = 0;

  note(): void {
    const nowMs = performance.now();
    this.#silenceMs = Math.max(this.#silenceMs, nowMs - this.#heardMs);
    this.#heardMs = nowMs;
  }

  times(): Lateness {
    return { silenceMs: this.#silenceMs, totalMs: this.#heardMs - this.#beganMs };
  }

  /** 0 or less when the request is late by one of the two. */
  msUntil({ silenceMs, totalMs }: Lateness): number {
    return Math.min(this.#heardMs + silenceMs, this.#beganMs + totalMs) - performance.now();
  }
}

type Settled<T> = { readonly outcome: Outcome<T> } | { readonly outcome: undefined; readonly error: unknown };

async function settled<T>(attempt: Promise<Outcome<T>>): Promise<Settled<T>> {
  try {
    return { outcome: await attempt };
  } catch (error) {
    return { outcome: undefined, error };
  }
}

function isGood<T>(ended: Settled<T>): boolean {
  return ended.outcome?.kind === 'done';
}

function outcomeOf<T>(ended: Settled<T>): Outcome<T> {
  if (ended.outcome === undefined) throw ended.error;
  return ended.outcome;
}
