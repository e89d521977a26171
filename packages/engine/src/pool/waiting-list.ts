import { QueryError } from '@svc/base';
import type { LeaseRequest } from '../api.js';
import type { PooledHost } from './pooled-host.js';

/** A lease request that has no host yet. */
export interface Waiter {
  readonly owner: string;
  readonly resolve: (host: PooledHost) => void;
  readonly reject: (error: QueryError) => void;
}

/** First come, first served; whoever aborts leaves. */
export class WaitingList {
  readonly #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  get all(): readonly Waiter[] {
    return this.#waiters;
  }

  /** Resolves when the lane gives a host to the request. */
  add(request: LeaseRequest): Promise<PooledHost> {
    const { owner, signal } = request;
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        this.remove(waiter);
        reject(QueryError.from(signal?.reason));
      };
      const leave = () => signal?.removeEventListener('abort', onAbort);
      const waiter: Waiter = {
        owner,
        resolve: (host) => {
          leave();
          resolve(host);
        },
        reject: (error) => {
          leave();
          reject(error);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#waiters.push(waiter);
    });
  }

  remove(waiter: Waiter): void {
    const index = this.#waiters.indexOf(waiter);
    if (index >= 0) this.#waiters.splice(index, 1);
  }

  rejectAll(error: QueryError): void {
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
  }
}
