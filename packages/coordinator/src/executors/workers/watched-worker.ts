/** One worker under the eyes of the registry: what it said last, and what follows from it. */
import { type Logger, QueryError } from '@svc/base';
import { type KnownFacts, readsOurTasks } from '@svc/fragment-fn';
import type { WorkerAddress } from './worker-address.js';
import type { WorkerExecutor } from './worker-executor.js';

export type WorkerState =
  /** Not asked yet. */
  | 'starting'
  | 'healthy'
  /** It lets what runs finish and takes nothing new. */
  | 'draining'
  /** Of a version whose tasks are not ours. */
  | 'incompatible'
  /** It does not answer, or not as a worker that knows the secret. */
  | 'unhealthy';

/** A worker for status documents and the read API. */
export interface WorkerRecord {
  readonly address: string;
  readonly state: WorkerState;
  readonly version: string | undefined;
  readonly slots: number;
  /** Tasks of this coordinator. */
  readonly running: number;
  /** Tasks of all coordinators, and those that wait, as it said last. */
  readonly runningTotal: number;
  readonly waiting: number;
  /** Milliseconds since 1970. */
  readonly lastSeenMs: number | undefined;
  readonly problem: string | undefined;
}

export interface WatchedWorkerOptions {
  readonly address: WorkerAddress;
  readonly connect: (address: WorkerAddress, onLost: () => void) => WorkerExecutor;
  readonly heartbeatMs: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Resolves after a time, or at the abort. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

/** One answer may get lost on its way. */
const missesToUnhealthy = 2;

export class WatchedWorker {
  readonly executor: WorkerExecutor;
  private readonly options: WatchedWorkerOptions;
  private readonly stop = new AbortController();
  private readonly watching: Promise<void>;
  private nudge = new AbortController();
  private current: WorkerState = 'starting';
  private misses = 0;
  private facts: KnownFacts | undefined;
  private lastSeenMs: number | undefined;
  private problem: string | undefined;

  constructor(options: WatchedWorkerOptions) {
    this.options = options;
    this.executor = options.connect(options.address, () => this.lookNow());
    this.watching = this.watch();
  }

  get state(): WorkerState {
    return this.current;
  }

  get record(): WorkerRecord {
    const { facts } = this;
    return {
      address: this.options.address.text,
      state: this.current,
      version: facts?.version,
      slots: facts?.slots ?? 0,
      running: this.executor.running,
      runningTotal: facts?.running ?? 0,
      waiting: facts?.waiting ?? 0,
      lastSeenMs: this.lastSeenMs,
      problem: this.problem,
    };
  }

  /** Stops looking, and ends what runs unless it is to finish. */
  async close({ afterTasks }: { readonly afterTasks: boolean }): Promise<void> {
    this.stop.abort();
    this.nudge.abort();
    await this.watching;
    if (afterTasks) await this.executor.idle();
    this.executor.close();
  }

  private lookNow(): void {
    this.nudge.abort();
  }

  private async watch(): Promise<void> {
    const { signal } = this.stop;
    while (!signal.aborted) {
      await this.look(signal);
      if (signal.aborted) return;
      // What is to be looked at now while that look is under way is looked at once more.
      await this.options.sleep(this.options.heartbeatMs, this.nudge.signal);
      this.nudge = new AbortController();
    }
  }

  private async look(signal: AbortSignal): Promise<void> {
    try {
      const facts = await this.executor.heartbeat(signal);
      const previous = this.facts;
      this.facts = facts;
      this.lastSeenMs = this.options.now();
      this.misses = 0;
      if (previous !== undefined && previous.bootId !== facts.bootId)
        this.log('info', 'a worker was started again');
      if (!readsOurTasks(facts.reads))
        this.become('incompatible', `it speaks protocol version ${facts.reads.newest}`);
      else this.become(facts.isDraining ? 'draining' : 'healthy', undefined);
    } catch (caught) {
      if (signal.aborted) return;
      this.misses += 1;
      const { message } = QueryError.from(caught);
      const isSure = this.misses >= missesToUnhealthy || this.current === 'starting';
      if (isSure) this.become('unhealthy', message);
      else this.problem = message;
    }
  }

  private become(state: WorkerState, problem: string | undefined): void {
    const isNew = state !== this.current;
    this.current = state;
    this.problem = problem;
    if (!isNew) return;
    this.log(state === 'healthy' || state === 'draining' ? 'info' : 'warn', `a worker is ${state}`);
  }

  private log(level: 'info' | 'warn', message: string): void {
    const { address, logger } = this.options;
    const { problem, facts } = this;
    logger.log(level, message, {
      worker: address.text,
      ...(facts === undefined ? {} : { worker_version: facts.version, slots: facts.slots }),
      ...(problem === undefined ? {} : { problem }),
    });
  }
}
