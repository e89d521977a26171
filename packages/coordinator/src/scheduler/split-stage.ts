/** Runs one stage's splits on executors, and has their rows gathered. Ends when each split has ended once. */
import { AsyncResource } from 'node:async_hooks';
import {
  abortable,
  linkAbort,
  type Metrics,
  openSpan,
  outgoingCorrelation,
  QueryError,
  throwIfAborted,
} from '@svc/base';
import type {
  FragmentExecutor,
  FragmentSplit,
  FragmentStatistics,
  FragmentTask,
  SplitEvent,
  SplitRun,
} from '@svc/fragment-fn';
import { isSameSchema } from '../service/schema-check.js';
import type { FragmentReport } from '../tracker/fragment-record.js';
import type { Dispatched, Dispatcher, WorkSource } from './dispatcher.js';
import type { ExecutorHealth } from './executor-health.js';
import { countedAs, failureOn, maxAttempts } from './failure.js';
import type { GatheredRows } from './gathered-rows.js';
import { SplitQueue } from './split-queue.js';
import { StageHealth } from './stage-health.js';
import { TaskRun } from './task-run.js';

export interface SplitStageOptions {
  readonly queryId: string;
  readonly stage: string;
  readonly splits: readonly FragmentSplit[];
  readonly rows: GatheredRows;
  readonly executors: () => readonly FragmentExecutor[];
  readonly dispatcher: Dispatcher;
  readonly health: ExecutorHealth;
  readonly elapsed: () => number;
  readonly metrics: Pick<Metrics, 'fragments' | 'fragmentDuration' | 'fragmentSplits'>;
  /** Where the answer's schema is known, that of the splits must be the same. */
  readonly schema?: Uint8Array | undefined;
  /** Throws what of the task is not there, as a fragment does. */
  taskOf(fragmentId: number, splits: readonly FragmentSplit[], signal: AbortSignal): Promise<FragmentTask>;
  nextFragmentId(): number;
  /** Told of each task that has ended. */
  report(report: FragmentReport): void;
  /** Told of what counts only. */
  count(statistics: FragmentStatistics): void;
  /** How long a stage waits while no executor may be used. */
  readonly patienceMs: number;
}

/** Looks whether a split is late, whether an executor may be used again, and whether there is any left. */
const watchMs = 100;
/** What a task's end may take once it is not wanted any more; then its slot is another's, and the executor to blame. */
const endMs = 1000;

export class SplitStage implements WorkSource {
  readonly queryId: string;
  /** Tasks are begun by whoever frees a slot, and are this query's nevertheless: in logs and traces. */
  readonly #scope = new AsyncResource('SplitStage');
  readonly #options: SplitStageOptions;
  readonly #queue: SplitQueue;
  readonly #health: StageHealth;
  readonly #ended: Promise<void>;
  #settle: { resolve(): void; reject(error: QueryError): void } | undefined;
  readonly #tasks = new Map<TaskRun, Promise<void>>();
  #running = 0;
  #hasFailed = false;
  #idleSinceMs: number | undefined;
  #signal: AbortSignal | undefined;

  constructor(options: SplitStageOptions) {
    this.#options = options;
    this.queryId = options.queryId;
    this.#queue = new SplitQueue(options.splits, options.elapsed);
    this.#health = new StageHealth(options);
    this.#ended = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    this.#ended.catch(() => undefined);
  }

  /** Throws the first error that no other try can mend, or the signal's. No task is left then. */
  async run(signal: AbortSignal): Promise<void> {
    using link = linkAbort(signal);
    this.#signal = link.signal;
    const { dispatcher, rows } = this.#options;
    const place = dispatcher.add(this);
    const watch = setInterval(() => this.#watch(), watchMs);
    watch.unref();
    try {
      await abortable(this.#ended, link.signal);
      rows.complete();
      await this.#lastWords(link.signal);
    } catch (caught) {
      const error = QueryError.from(caught);
      rows.fail(error);
      link.abort(error);
      throw error;
    } finally {
      clearInterval(watch);
      place[Symbol.dispose]();
      link.abort(new QueryError('CANCELLED', 'The stage has ended.'));
      await Promise.all(this.#tasks.values());
    }
  }

  /** Tasks that have answered all their splits say so yet: cut short they would be counted as failures by who runs them. */
  async #lastWords(signal: AbortSignal): Promise<void> {
    const ending = [...this.#tasks].flatMap(([{ ended, states }, end]) =>
      ended === states.length ? [end] : [],
    );
    using limit = linkAbort(signal, endMs);
    await abortable(Promise.all(ending), limit.signal).catch(() => undefined);
  }

  executors(): readonly FragmentExecutor[] {
    return this.#options.executors();
  }

  #usable(): readonly FragmentExecutor[] {
    return this.executors().filter((executor) => this.#health.mayUse(executor));
  }

  take(free: readonly FragmentExecutor[]): Dispatched | undefined {
    const { rows } = this.#options;
    const signal = this.#signal;
    if (signal === undefined || signal.aborted || this.#hasFailed || this.#queue.isDone) return undefined;
    // Late splits are run again all the same: their rows are waited for.
    if (rows.isFull && this.#queue.hasPending) return undefined;
    const mine = free.filter((executor) => this.#health.mayUse(executor));
    if (mine.length === 0) return undefined;
    const taken = this.#queue.take(mine, this.executors(), this.#usable());
    if (taken === undefined) return undefined;
    this.#running += 1;
    this.#idleSinceMs = undefined;
    return {
      executor: taken.executor,
      run: async () => {
        const task = new TaskRun(taken.executor, taken.states, this.#options.elapsed());
        const ended = this.#scope.runInAsyncScope(() => this.#runTask(task, signal));
        this.#tasks.set(task, ended);
        try {
          await ended;
        } finally {
          this.#tasks.delete(task);
          this.#running -= 1;
        }
      },
    };
  }

  #watch(): void {
    const { dispatcher, elapsed, patienceMs, rows } = this.#options;
    dispatcher.pump();
    const isAnyThere = () => this.executors().some((executor) => this.#health.isThere(executor));
    if (this.#running > 0 || rows.isFull || isAnyThere()) this.#idleSinceMs = undefined;
    else {
      this.#idleSinceMs ??= elapsed();
      if (elapsed() - this.#idleSinceMs > patienceMs) this.#fail(noExecutor());
    }
  }

  #fail(error: QueryError): void {
    // Whoever frees its slot asks for more before the stage's end has reached anybody.
    this.#hasFailed = true;
    this.#settle?.reject(error);
  }

  /** Never rejects. */
  async #runTask(task: TaskRun, signal: AbortSignal): Promise<void> {
    const { executor, states } = task;
    const { elapsed, report, stage, nextFragmentId } = this.#options;
    const fragmentId = nextFragmentId();
    let error: QueryError | undefined;
    const span = openSpan('dispatch_to_worker', { worker: executor.name, stage, splits: states.length });
    try {
      using link = linkAbort(signal);
      task.onLeft = () => link.abort(new QueryError('CANCELLED', 'Others were sooner.'));
      await span.within(() => this.#readTask(task, fragmentId, link.signal));
    } catch (caught) {
      error = QueryError.from(caught);
    }
    // The stage may have ended with its last split, and not waited for the end of the answer.
    if (task.ended === states.length) error = undefined;
    const isUnwanted = signal.aborted || states.every(({ status }) => status === 'done');
    if (error !== undefined && !isUnwanted) this.#onFailure(task, error);
    else if (error === undefined) this.#health.praise(executor.name);
    span.end(error?.code);
    task.drop();
    for (const state of states) this.#queue.leave(state, executor.name);
    const { metrics } = this.#options;
    const outcome = error === undefined ? 'ok' : isUnwanted ? 'cancelled' : 'failed';
    metrics.fragments.inc({ executor: executor.kind, outcome });
    metrics.fragmentDuration.observe({ executor: executor.kind }, (elapsed() - task.startedMs) / 1000);
    const again = states.filter(({ attempts }) => attempts > 1).length;
    metrics.fragmentSplits.inc({ outcome: 'sent_again' }, again);
    report({
      fragmentId,
      stage,
      worker: executor.name,
      splits: states.map(({ split }) => split.id),
      ended: task.ended,
      retries: again,
      durationMs: elapsed() - task.startedMs,
      ...task.totals,
      errorCode: isUnwanted && error !== undefined ? 'CANCELLED' : error?.code,
    });
    if (this.#queue.isDone) this.#settle?.resolve();
  }

  async #readTask(task: TaskRun, fragmentId: number, signal: AbortSignal): Promise<void> {
    const { taskOf } = this.#options;
    const splits = task.states.map(({ split }) => split);
    const { request, stores } = await taskOf(fragmentId, splits, signal);
    const { traceparent } = outgoingCorrelation();
    const traced = { ...request, ...(traceparent !== undefined && { traceparent }) };
    const run = await started(task.executor, { request: traced, stores }, signal);
    const events = run.events[Symbol.asyncIterator]();
    let isOver = false;
    try {
      this.#checkSchema(run.schema);
      for (;;) {
        const next = await pulled(events, signal);
        if (next.done === true) break;
        await this.#onEvent(task, next.value, signal);
      }
      isOver = true;
    } finally {
      // An executor that does not let go is not waited for, but has its slot until it does or is to blame.
      if (!isOver) await this.#endEvents(task.executor, events);
    }
    const missing = task.states.find((state) => !task.endedHere.has(state));
    if (missing !== undefined)
      throw lost(task.executor, `ended without having answered split ${missing.split.id}`);
  }

  async #endEvents(executor: FragmentExecutor, events: AsyncIterator<SplitEvent>): Promise<void> {
    using limit = linkAbort(undefined, endMs);
    try {
      await abortable(Promise.resolve(events.return?.()), limit.signal);
    } catch {
      if (limit.signal.aborted) this.#health.blame(executor, 'executor');
    }
  }

  async #onEvent(task: TaskRun, event: SplitEvent, signal: AbortSignal): Promise<void> {
    const state = task.stateOf(event.split);
    if (state === undefined || task.endedHere.has(state)) {
      if (event.kind === 'message') event.message.release();
      throw lost(task.executor, `answered split ${event.split}, which it was not asked for or had ended`);
    }
    if (event.kind === 'message') {
      task.count(state, event.message.rowCount, event.message.body.byteLength);
      if (state.status === 'done') event.message.release();
      else {
        const rows = task.rowsOf(state, this.#options.rows);
        await rows.add(event.message, signal);
      }
      return;
    }
    if (event.rowCount !== BigInt(task.rowCountOf(state)))
      throw lost(
        task.executor,
        `answered ${task.rowCountOf(state)} rows of split ${event.split} and says that they are ${event.rowCount}`,
      );
    task.end(state, event.statistics);
    const durationMs = task.splitDuration(this.#options.elapsed());
    if (this.#queue.end(state, durationMs)) {
      task.rowsOf(state, this.#options.rows).commit();
      this.#options.count(event.statistics);
      this.#options.metrics.fragmentSplits.inc({ outcome: 'ended' });
      this.#health.praise(task.executor.name);
      // Seldom: stages have many tasks, and few splits run twice.
      if (state.runs.length > 1)
        for (const other of this.#tasks.keys()) if (other !== task) other.leaveIfDone();
      if (this.#queue.isDone) this.#settle?.resolve();
    }
  }

  #checkSchema(schema: Uint8Array): void {
    const { rows, schema: announced } = this.#options;
    // Nobody can tell which of two is right, and only one node's answer is what was announced.
    if (!isSameSchema(schema, rows.begin(announced ?? schema)))
      throw new QueryError('INTERNAL_ERROR', 'Fragments of one stage answered different columns.');
  }

  #onFailure(task: TaskRun, error: QueryError): void {
    const { executor } = task;
    const kind = failureOn(executor.kind, error);
    if (kind === 'one-node' || kind === 'final' || error === this.#options.rows.tooLarge) {
      this.#fail(error);
      return;
    }
    // It was enough for some of the task: for the rest there is another's time.
    if (kind === 'over' && task.ended > 0) return;
    if (kind === 'over') this.#health.pause(executor.name);
    else if (kind !== 'again') this.#health.blame(executor, kind);
    // A worker that refuses is not asked again for long; a function is, when its pause is over.
    if (kind === 'refused' && executor.kind !== 'lambda') return;
    // The splits behind the one that was running have nothing to do with it.
    const suspect = task.states.find((state) => !task.endedHere.has(state));
    if (suspect === undefined || suspect.status === 'done') return;
    const counted = countedAs(kind);
    suspect.failures[counted] += 1;
    if (counted === 'executor' || counted === 'again') suspect.failedOn.add(executor.name);
    if (suspect.failures[counted] >= maxAttempts[counted]) this.#fail(error);
  }
}

/** An executor that starts although it is not wanted any more is told so when it has. */
async function started(
  executor: FragmentExecutor,
  task: FragmentTask,
  signal: AbortSignal,
): Promise<SplitRun> {
  throwIfAborted(signal);
  const starting = executor.start(task, signal);
  try {
    return await abortable(starting, signal);
  } catch (error) {
    starting
      .then(
        (run) => run.events[Symbol.asyncIterator]().return?.(),
        () => undefined,
      )
      .catch(() => undefined);
    throw error;
  }
}

/** What a pull answers that is not waited for any more is nobody's. */
async function pulled(
  events: AsyncIterator<SplitEvent>,
  signal: AbortSignal,
): Promise<IteratorResult<SplitEvent>> {
  const pull = events.next();
  try {
    return await abortable(pull, signal);
  } catch (error) {
    pull.then(
      (late) => {
        if (late.done !== true && late.value.kind === 'message') late.value.message.release();
      },
      () => undefined,
    );
    throw error;
  }
}

function lost({ name }: FragmentExecutor, what: string): QueryError {
  return new QueryError('EXECUTOR_LOST', `The executor ${name} ${what}.`);
}

function noExecutor(): QueryError {
  return new QueryError('NO_EXECUTOR', 'No worker or function can be reached to run the rest of the query.');
}
