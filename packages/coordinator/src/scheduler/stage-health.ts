/** Which executors one stage may use: those that nobody shall, and those that it leaves alone for its own failures only. */
import type { FragmentExecutor } from '@svc/fragment-fn';
import { type BlameKind, ExecutorHealth } from './executor-health.js';

/** Invocations of a stage are lost one after the other where its function or its splits are bad: not all in one moment. */
const longestPauseMs = 2000;

export interface StageHealthOptions {
  readonly health: ExecutorHealth;
  readonly elapsed: () => number;
  readonly queryId: string;
}

export class StageHealth {
  readonly #health: ExecutorHealth;
  /** Functions: a name of theirs stands for many sandboxes, of which other queries have theirs. */
  readonly #own: ExecutorHealth;
  readonly #queryId: string;

  constructor({ health, elapsed, queryId }: StageHealthOptions) {
    this.#health = health;
    this.#own = new ExecutorHealth({ elapsed, longestMs: longestPauseMs });
    this.#queryId = queryId;
  }

  blame({ name, kind: place }: FragmentExecutor, kind: BlameKind): void {
    if (place !== 'lambda') {
      this.#health.blame(name, kind);
      return;
    }
    this.pause(name);
    this.#health.blameInvocation(name, kind, this.#queryId);
  }

  /** Nobody is to blame, but what follows at once would go the same way. */
  pause(name: string): void {
    this.#own.blame(name, 'executor');
  }

  praise(name: string): void {
    this.#health.praise(name);
    this.#own.praise(name);
  }

  mayUse({ name }: FragmentExecutor): boolean {
    return this.#health.quarantineMs(name) === 0 && this.#own.quarantineMs(name) === 0;
  }

  /** Whether there is somebody to wait for. */
  isThere({ name }: FragmentExecutor): boolean {
    return this.#health.isThere(name);
  }
}
