import { abortable, QueryError } from '@svc/base';

export interface AdmissionOptions {
  readonly maxConcurrent: number;
  readonly maxQueued: number;
  readonly queueTimeoutMs: number;
}

interface Waiter {
  readonly admit: () => void;
}

/** A place among the running queries; give it back once. */
export type AdmissionTicket = Disposable;

/**
 * The concurrency cap and its bounded queue, first come first served. A place is held while an engine works for the
 * query, not while a client reads: sleepers do not count.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #queue: Waiter[] = [];
  #running = 0;
  #isDraining = false;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.length;
  }

  /** From now on every new query gets SHUTTING_DOWN; those in the queue still run. */
  drain(): void {
    this.#isDraining = true;
  }

  throwIfDraining(): void {
    if (this.#isDraining) {
      throw new QueryError(
        'SHUTTING_DOWN',
        'The service is shutting down: send the statement again in a moment.',
      );
    }
  }

  /** Throws SHUTTING_DOWN, QUEUE_FULL, QUEUE_TIMEOUT, or the signal's reason. */
  async enter(signal: AbortSignal): Promise<AdmissionTicket> {
    this.throwIfDraining();
    if (this.#running < this.#options.maxConcurrent) {
      this.#running += 1;
      return this.#ticket();
    }
    if (this.#queue.length >= this.#options.maxQueued) {
      throw new QueryError(
        'QUEUE_FULL',
        `${this.#options.maxQueued} queries are waiting already (query.max_queued): try again later.`,
      );
    }
    await this.#wait(signal);
    return this.#ticket();
  }

  async #wait(signal: AbortSignal): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    let isAdmitted = false;
    let waiter: Waiter | undefined;
    const turn = new Promise<void>((resolve, reject) => {
      waiter = {
        admit: () => {
          isAdmitted = true;
          resolve();
        },
      };
      this.#queue.push(waiter);
      timer = setTimeout(() => {
        const seconds = Math.round(this.#options.queueTimeoutMs / 1000);
        reject(
          new QueryError(
            'QUEUE_TIMEOUT',
            `The query waited ${seconds} s for a place (query.queue_timeout_secs).`,
          ),
        );
      }, this.#options.queueTimeoutMs);
    });
    try {
      await abortable(turn, signal);
    } catch (error) {
      const index = waiter ? this.#queue.indexOf(waiter) : -1;
      if (index >= 0) this.#queue.splice(index, 1);
      // Admitted and aborted in the same turn: the place goes to the next one.
      else if (isAdmitted) this.#leave();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #ticket(): AdmissionTicket {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        this.#leave();
      },
    };
  }

  #leave(): void {
    const next = this.#queue.shift();
    if (next) next.admit();
    else this.#running -= 1;
  }
}
