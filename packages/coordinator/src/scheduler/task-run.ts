import type { FragmentExecutor, FragmentStatistics } from '@svc/fragment-fn';
import type { GatheredRows, SplitRows } from './gathered-rows.js';
import type { SplitState } from './split-queue.js';

/** What has come of one task. */
export class TaskRun {
  readonly endedHere = new Set<SplitState>();
  readonly #byId: ReadonlyMap<number, SplitState>;
  readonly #rows = new Map<SplitState, SplitRows>();
  readonly #rowCounts = new Map<SplitState, number>();
  readonly totals = { rows: 0, bytesReturned: 0, bytesRead: 0, spilledBytes: 0n, peakMemoryBytes: 0n };
  onLeft: () => void = () => undefined;
  readonly executor: FragmentExecutor;
  readonly states: readonly SplitState[];
  readonly startedMs: number;
  #splitSinceMs: number;

  constructor(executor: FragmentExecutor, states: readonly SplitState[], startedMs: number) {
    this.executor = executor;
    this.states = states;
    this.startedMs = startedMs;
    this.#byId = new Map(states.map((state) => [state.split.id, state]));
    this.#splitSinceMs = startedMs;
  }

  get ended(): number {
    return this.endedHere.size;
  }

  stateOf(split: number): SplitState | undefined {
    return this.#byId.get(split);
  }

  rowsOf(state: SplitState, gathered: GatheredRows): SplitRows {
    const rows = this.#rows.get(state) ?? gathered.open();
    this.#rows.set(state, rows);
    return rows;
  }

  rowCountOf(state: SplitState): number {
    return this.#rowCounts.get(state) ?? 0;
  }

  count(state: SplitState, rows: number, bytes: number): void {
    this.#rowCounts.set(state, this.rowCountOf(state) + rows);
    this.totals.rows += rows;
    this.totals.bytesReturned += bytes;
  }

  end(state: SplitState, statistics: FragmentStatistics): void {
    this.endedHere.add(state);
    this.totals.bytesRead += statistics.bytesStaged;
    this.totals.spilledBytes += statistics.spilledBytes;
    if (statistics.peakMemoryBytes > this.totals.peakMemoryBytes)
      this.totals.peakMemoryBytes = statistics.peakMemoryBytes;
  }

  /** Since the split before it ended. */
  splitDuration(now: number): number {
    const duration = now - this.#splitSinceMs;
    this.#splitSinceMs = now;
    return duration;
  }

  /**
   * Nothing that it is still to do is wanted. One that has answered all of its splits is about to end: cutting its call short
   * would be a reset, and servers end connections on which there are many (Node's: 33 in a second, after the first 1,000).
   */
  leaveIfDone(): void {
    if (this.ended < this.states.length && this.states.every(({ status }) => status === 'done'))
      this.onLeft();
  }

  drop(): void {
    for (const rows of this.#rows.values()) rows.drop();
  }
}
