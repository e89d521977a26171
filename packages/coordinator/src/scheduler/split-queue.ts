/** Which splits of a stage are still to be run, where they are best run, and how often they have been tried. */
import type { FragmentExecutor, FragmentSplit } from '@svc/fragment-fn';
import type { CountedFailure } from './failure.js';
import { placeKey, preferredExecutor } from './placement.js';

/** Splits of one task: enough for the next one's files to be fetched meanwhile, few enough to be lost. */
export const maxSplitsPerTask = 4;
/** Tasks that each slot shall still get: towards the end they are small, so that no slot is left with a long one. */
const tasksPerSlot = 2;

/** A split that takes much longer than others did is run a second time elsewhere. */
const lateFactor = 2.5;
const leastLateMs = 300;
/** Looking for late ones looks at all splits. */
const lateEveryMs = 50;
/** One of so many may be run twice for being late, and this many in any case. */
const twiceShare = 10;
const twiceAtLeast = 2;

export interface SplitState {
  readonly split: FragmentSplit;
  readonly place: number;
  status: 'pending' | 'running' | 'done';
  /** Where it runs now. */
  readonly runs: { readonly executor: FragmentExecutor; readonly sinceMs: number }[];
  /** Tasks it has been in. */
  attempts: number;
  readonly failures: Record<CountedFailure, number>;
  /** Names of executors. */
  readonly failedOn: Set<string>;
}

/** What the longest may have to be compared with: how long splits take changes little in a stage. */
const keptDurations = 1000;

/** A stage may have hundreds of thousands of splits: what is done for each of them takes the same time however many there are. */
export class SplitQueue {
  readonly #states: readonly SplitState[];
  readonly #elapsed: () => number;
  readonly #durationsMs: number[] = [];
  readonly #running = new Set<SplitState>();
  #pending: number;
  /** The pending ones by the executor they are placed on, as long as the executors stay the same. */
  #placed: Placed = { names: undefined, all: [], lists: new Map() };
  #done = 0;
  #twice = 0;
  #lateAskedMs = Number.NEGATIVE_INFINITY;

  constructor(splits: readonly FragmentSplit[], elapsed: () => number) {
    this.#elapsed = elapsed;
    this.#states = splits.map((split) => ({
      ...{ split, place: placeKey(split), status: 'pending', runs: [], attempts: 0 },
      failures: { executor: 0, again: 0, over: 0, place: 0 },
      failedOn: new Set(),
    }));
    this.#pending = this.#states.length;
  }

  get total(): number {
    return this.#states.length;
  }

  get done(): number {
    return this.#done;
  }

  get isDone(): boolean {
    return this.#done === this.#states.length;
  }

  get hasPending(): boolean {
    return this.#pending > 0;
  }

  /**
   * Splits for one of the free executors, marked as running there. They are placed on all executors, whether these are left
   * alone for a while or not; one that does not answer gets some when nobody else is free.
   */
  take(
    free: readonly FragmentExecutor[],
    all: readonly FragmentExecutor[],
    usable = all,
  ): { readonly executor: FragmentExecutor; readonly states: readonly SplitState[] } | undefined {
    const answering = free.filter(({ isSilent }) => isSilent !== true);
    const taken =
      this.#pending > 0
        ? this.#takePending(answering.length > 0 ? answering : free, all, usable)
        : this.#takeLate(answering);
    if (taken === undefined) return undefined;
    const sinceMs = this.#elapsed();
    for (const state of taken.states) {
      if (state.status === 'pending') this.#pending -= 1;
      state.status = 'running';
      state.attempts += 1;
      state.runs.push({ executor: taken.executor, sinceMs });
      this.#running.add(state);
    }
    return taken;
  }

  /** False where it had ended already: what came of it now does not count. */
  end(state: SplitState, durationMs: number): boolean {
    if (state.status === 'done') return false;
    // It stays in its list, which leaves it out.
    if (state.status === 'pending') this.#pending -= 1;
    state.status = 'done';
    this.#running.delete(state);
    this.#durationsMs[this.#done % keptDurations] = durationMs;
    this.#done += 1;
    return true;
  }

  /** It does not run there any more. Unless it has ended, or runs elsewhere, it is to be run again. */
  leave(state: SplitState, executor: string): void {
    const index = state.runs.findIndex((run) => run.executor.name === executor);
    if (index !== -1) state.runs.splice(index, 1);
    if (state.status !== 'running' || state.runs.length > 0) return;
    state.status = 'pending';
    this.#running.delete(state);
    this.#pending += 1;
    place(state, this.#placed);
  }

  #takePending(
    free: readonly FragmentExecutor[],
    all: readonly FragmentExecutor[],
    usable: readonly FragmentExecutor[],
  ) {
    const { lists } = this.#placedOn(all);
    const slots = all.reduce((sum, each) => sum + each.slots, 0);
    const share = Math.ceil(this.#pending / Math.max(1, slots * tasksPerSlot));
    const count = Math.min(share, maxSplitsPerTask);
    const hasOwn = ({ name }: FragmentExecutor) => (lists.get(name)?.length ?? 0) > 0;
    let longestFirst: readonly PendingSplits[] | undefined;
    for (const executor of [...free.filter(hasOwn), ...free.filter((each) => !hasOwn(each))]) {
      const mayRun = (state: SplitState) => mayRunOn(state, executor, usable);
      const own = lists.get(executor.name)?.take(count, mayRun) ?? [];
      if (own.length > 0) return { executor, states: own };
      // Without work of its own it takes from where most is waiting: a file that is fetched once more is sooner read than late.
      longestFirst ??= [...lists.values()].sort((a, b) => b.length - a.length);
      for (const list of longestFirst) {
        const states = list.take(count, mayRun);
        if (states.length > 0) return { executor, states };
      }
    }
    return undefined;
  }

  #placedOn(all: readonly FragmentExecutor[]): Placed {
    const names = all.map(({ name }) => name).join('\n');
    if (this.#placed.names === names) return this.#placed;
    this.#placed = { names, all, lists: new Map(all.map(({ name }) => [name, new PendingSplits()])) };
    for (const state of this.#states) if (state.status === 'pending') place(state, this.#placed);
    return this.#placed;
  }

  /** A split of an executor that may have been lost with it, or that has had it for too long, for another one. */
  #takeLate(free: readonly FragmentExecutor[]) {
    const now = this.#elapsed();
    if (now - this.#lateAskedMs < lateEveryMs) return undefined;
    this.#lateAskedMs = now;
    const lateMs = this.#lateMs();
    for (const state of this.#running) {
      const [run, ...more] = state.runs;
      if (run === undefined || more.length > 0) continue;
      const isSilent = run.executor.isSilent === true;
      if (!isSilent && now - run.sinceMs < lateMs) continue;
      // Functions of one name are many.
      const executor = free.find(({ kind, name }) => kind === 'lambda' || name !== run.executor.name);
      if (executor === undefined) continue;
      // What is not answered for is no guess, and happens to a few workers: it needs no bound.
      if (!isSilent) this.#twice += 1;
      return { executor, states: [state] };
    }
    return undefined;
  }

  /** How long a split may take; forever where others have not told, or as many as may have been run twice. */
  #lateMs(): number {
    const allowed = Math.max(twiceAtLeast, Math.ceil(this.#states.length / twiceShare));
    if (this.#durationsMs.length === 0 || this.#twice >= allowed) return Number.POSITIVE_INFINITY;
    return Math.max(leastLateMs, lateFactor * median(this.#durationsMs));
  }
}

interface Placed {
  /** Of the executors; nothing has been placed as long as there are none. */
  readonly names: string | undefined;
  readonly all: readonly FragmentExecutor[];
  readonly lists: ReadonlyMap<string, PendingSplits>;
}

function place(state: SplitState, { all, lists }: Placed): void {
  lists.get(preferredExecutor(state.place, all)?.name ?? '')?.push(state);
}

/** Splits in the order in which they came, taken from the front. */
class PendingSplits {
  #states: SplitState[] = [];
  #first = 0;

  /** At least as many as are pending. */
  get length(): number {
    return this.#states.length - this.#first;
  }

  push(state: SplitState): void {
    this.#states.push(state);
  }

  /** Up to `count` that `mayRun`; the others keep their order. */
  take(count: number, mayRun: (state: SplitState) => boolean): readonly SplitState[] {
    const taken: SplitState[] = [];
    const kept: SplitState[] = [];
    let next = this.#first;
    for (; next < this.#states.length && taken.length < count; next += 1) {
      const state = this.#states[next];
      if (state?.status === 'pending') (mayRun(state) ? taken : kept).push(state);
    }
    this.#first = next - kept.length;
    for (const [index, state] of kept.entries()) this.#states[this.#first + index] = state;
    if (this.length === 0) [this.#states, this.#first] = [[], 0];
    return taken;
  }
}

/** Who failed with it does not get it again while there are others: one that fails at once would get all of them. */
function mayRunOn(
  { failedOn }: SplitState,
  { name }: FragmentExecutor,
  all: readonly FragmentExecutor[],
): boolean {
  return failedOn.size === 0 || !failedOn.has(name) || all.every((each) => failedOn.has(each.name));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
