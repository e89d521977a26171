import { abortable, linkAbort, QueryError } from '@svc/base';

export interface FairSlotsOptions {
  readonly slots: number;
  /** Of each caller, so that none keeps others from waiting too. */
  readonly maxWaiting: number;
  readonly waitMs: number;
}

interface Waiting {
  readonly take: () => void;
}

/**
 * Tasks that run beside each other. A task above them waits for a moment, since its coordinator may not know yet of
 * another's; who has waited is served in turn with the other coordinators, however many tasks each of them has.
 */
export class FairSlots {
  private readonly options: FairSlotsOptions;
  /** In the order in which they are served next. */
  private readonly queues = new Map<string, Waiting[]>();
  private taken = 0;
  private waitingCount = 0;

  constructor(options: FairSlotsOptions) {
    this.options = options;
  }

  get total(): number {
    return this.options.slots;
  }

  get running(): number {
    return this.taken;
  }

  get waiting(): number {
    return this.waitingCount;
  }

  /** Throws QUEUE_FULL and QUEUE_TIMEOUT, both to be tried elsewhere. Disposing gives the slot back, once. */
  async take(caller: string, signal: AbortSignal): Promise<Disposable> {
    if (this.taken < this.options.slots) this.taken += 1;
    else await this.wait(caller, signal);
    let isTaken = true;
    return {
      [Symbol.dispose]: () => {
        if (isTaken) this.giveBack();
        isTaken = false;
      },
    };
  }

  private async wait(caller: string, signal: AbortSignal): Promise<void> {
    const { slots, maxWaiting, waitMs } = this.options;
    let take = () => {};
    const served = new Promise<void>((resolve) => {
      take = resolve;
    });
    const waiting = { take };
    const queue = this.queues.get(caller) ?? [];
    if (queue.length >= maxWaiting)
      throw new QueryError('QUEUE_FULL', `The worker is busy: ${slots} tasks run and ${maxWaiting} wait.`);
    queue.push(waiting);
    this.queues.set(caller, queue);
    this.waitingCount += 1;
    using limit = linkAbort(
      signal,
      waitMs,
      () => new QueryError('QUEUE_TIMEOUT', `The worker is busy: none of its ${slots} slots came free.`),
    );
    try {
      await abortable(served, limit.signal);
    } catch (error) {
      // Served in the same moment: the slot is the next one's.
      if (!this.leave(caller, waiting)) this.giveBack();
      throw error;
    }
  }

  private leave(caller: string, waiting: Waiting): boolean {
    const queue = this.queues.get(caller) ?? [];
    const index = queue.indexOf(waiting);
    if (index < 0) return false;
    queue.splice(index, 1);
    if (queue.length === 0) this.queues.delete(caller);
    this.waitingCount -= 1;
    return true;
  }

  private giveBack(): void {
    for (const [caller, queue] of this.queues) {
      const next = queue.shift();
      // Behind the others, or gone.
      this.queues.delete(caller);
      if (queue.length > 0) this.queues.set(caller, queue);
      if (next === undefined) continue;
      this.waitingCount -= 1;
      next.take();
      return;
    }
    this.taken -= 1;
  }
}
