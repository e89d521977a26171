/**
 * Which query's fragment runs next on a free slot of an executor. One dispatcher for the process: a query that has little
 * running comes before one that has much, so that a small query never waits behind a large one for longer than one task takes.
 */
import type { FragmentExecutor } from '@svc/fragment-fn';
import type { ExecutorHealth } from './executor-health.js';

/** A piece of work on an executor. */
export interface Dispatched {
  readonly executor: FragmentExecutor;
  /** Settles when the slot is free again. */
  run(): Promise<void>;
}

export interface WorkSource {
  /** Sources of one query share its turns. */
  readonly queryId: string;
  executors(): readonly FragmentExecutor[];
  /** Of these executors each has a free slot. Nothing: there is nothing to be done now. */
  take(free: readonly FragmentExecutor[]): Dispatched | undefined;
}

interface Turn {
  running: number;
  lastServed: number;
}

export class Dispatcher {
  readonly #health: ExecutorHealth;
  readonly #sources = new Set<WorkSource>();
  readonly #turns = new Map<string, Turn>();
  readonly #usedSlots = new Map<string, number>();
  #served = 0;
  #isPumping = false;
  #isPumpWanted = false;

  constructor(health: ExecutorHealth) {
    this.#health = health;
  }

  /** Tasks that run now. */
  get running(): number {
    let sum = 0;
    for (const used of this.#usedSlots.values()) sum += used;
    return sum;
  }

  /** Asks the source for work from now on, until it is disposed of. What runs by then runs on. */
  add(source: WorkSource): Disposable {
    this.#sources.add(source);
    if (!this.#turns.has(source.queryId)) this.#turns.set(source.queryId, { running: 0, lastServed: 0 });
    this.pump();
    return {
      [Symbol.dispose]: () => {
        this.#sources.delete(source);
        this.#forget(source.queryId);
      },
    };
  }

  /** To be called when a source may have work again. */
  pump(): void {
    this.#isPumpWanted = true;
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#isPumpWanted) {
        this.#isPumpWanted = false;
        while (this.#serveOne());
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #serveOne(): boolean {
    const waiting = [...this.#sources].sort((left, right) => {
      const [a, b] = [this.#turnOf(left), this.#turnOf(right)];
      return a.running - b.running || a.lastServed - b.lastServed;
    });
    for (const source of waiting) {
      const free = source.executors().filter((executor) => this.#isFree(executor));
      const dispatched = free.length === 0 ? undefined : source.take(free);
      if (dispatched === undefined) continue;
      void this.#run(source, dispatched);
      return true;
    }
    return false;
  }

  async #run({ queryId }: WorkSource, { executor, run }: Dispatched): Promise<void> {
    const turn = this.#turns.get(queryId) ?? { running: 0, lastServed: 0 };
    this.#turns.set(queryId, turn);
    turn.running += 1;
    turn.lastServed = ++this.#served;
    const { name } = executor;
    this.#usedSlots.set(name, (this.#usedSlots.get(name) ?? 0) + 1);
    try {
      await run();
    } finally {
      turn.running -= 1;
      const used = (this.#usedSlots.get(name) ?? 1) - 1;
      if (used === 0) this.#usedSlots.delete(name);
      else this.#usedSlots.set(name, used);
      this.#forget(queryId);
      this.pump();
    }
  }

  #isFree({ name, slots }: FragmentExecutor): boolean {
    return (this.#usedSlots.get(name) ?? 0) < slots && this.#health.quarantineMs(name) === 0;
  }

  #turnOf({ queryId }: WorkSource): Turn {
    return this.#turns.get(queryId) ?? { running: 0, lastServed: 0 };
  }

  #forget(queryId: string): void {
    if (this.#turns.get(queryId)?.running !== 0) return;
    for (const source of this.#sources) if (source.queryId === queryId) return;
    this.#turns.delete(queryId);
  }
}
