/** Which splits of a stage are still to be run, where they are best run, and how often they have been tried. */
import type { FragmentExecutor, FragmentSplit } from '@svc/fragment-fn';
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
  /** Executors that run it now. */
  readonly runs: { readonly executor: string; readonly sinceMs: number }[];
  /** Tasks it has been in. */
  attempts: number;
  readonly failures: Record<'executor' | 'again', number>;
  /** Names of executors. */
  readonly failedOn: Set<string>;
}

export class SplitQueue {
  readonly #states: readonly SplitState[];
  readonly #elapsed: () => number;
  readonly #durationsMs: number[] = [];
  #pending: SplitState[];
  /** The pending ones by the executor they are placed on, as long as the executors stay the same. */
  #placed: { readonly names: string; readonly lists: ReadonlyMap<string, SplitState[]> } | undefined;
  #done = 0;
  #twice = 0;
  #lateAskedMs = Number.NEGATIVE_INFINITY;

  constructor(splits: readonly FragmentSplit[], elapsed: () => number) {
    this.#elapsed = elapsed;
    this.#states = splits.map((split) => ({
      ...{ split, place: placeKey(split), status: 'pending', runs: [], attempts: 0 },
      failures: { executor: 0, again: 0 },
      failedOn: new Set(),
    }));
    this.#pending = [...this.#states];
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
    return this.#pending.length > 0;
  }

  /**
   * Splits for one of the free executors, marked as running there. They are placed on all executors, whether these are left
   * alone for a while or not.
   */
  take(
    free: readonly FragmentExecutor[],
    all: readonly FragmentExecutor[],
    usable = all,
  ): { readonly executor: FragmentExecutor; readonly states: readonly SplitState[] } | undefined {
    const taken = this.#pending.length > 0 ? this.#takePending(free, all, usable) : this.#takeLate(free);
    if (taken === undefined) return undefined;
    const sinceMs = this.#elapsed();
    for (const state of taken.states) {
      state.status = 'running';
      state.attempts += 1;
      state.runs.push({ executor: taken.executor.name, sinceMs });
    }
    return taken;
  }

  /** False where it had ended already: what came of it now does not count. */
  end(state: SplitState, durationMs: number): boolean {
    if (state.status === 'done') return false;
    this.#done += 1;
    if (state.status === 'pending') this.#pending = this.#pending.filter((other) => other !== state);
    this.#placed = undefined;
    state.status = 'done';
    this.#durationsMs.push(durationMs);
    return true;
  }

  /** It does not run there any more. Unless it has ended, or runs elsewhere, it is to be run again. */
  leave(state: SplitState, executor: string): void {
    const index = state.runs.findIndex((run) => run.executor === executor);
    if (index !== -1) state.runs.splice(index, 1);
    if (state.status !== 'running' || state.runs.length > 0) return;
    state.status = 'pending';
    this.#pending.push(state);
    this.#placed = undefined;
  }

  #takePending(
    free: readonly FragmentExecutor[],
    all: readonly FragmentExecutor[],
    usable: readonly FragmentExecutor[],
  ) {
    const lists = this.#listsFor(all);
    const slots = all.reduce((sum, each) => sum + each.slots, 0);
    const share = Math.ceil(this.#pending.length / Math.max(1, slots * tasksPerSlot));
    const count = Math.min(share, maxSplitsPerTask);
    const hasOwn = ({ name }: FragmentExecutor) => (lists.get(name)?.length ?? 0) > 0;
    const longestFirst = [...lists.values()].sort((a, b) => b.length - a.length);
    // Without work of its own it takes from where most is waiting: a file that is fetched once more is sooner read than late.
    for (const executor of [...free.filter(hasOwn), ...free.filter((each) => !hasOwn(each))])
      for (const list of [lists.get(executor.name) ?? [], ...longestFirst]) {
        const states = list.filter((state) => mayRunOn(state, executor, usable)).slice(0, count);
        if (states.length === 0) continue;
        const taken = new Set(states);
        list.splice(0, list.length, ...list.filter((state) => !taken.has(state)));
        this.#pending = this.#pending.filter((state) => !taken.has(state));
        return { executor, states };
      }
    return undefined;
  }

  #listsFor(all: readonly FragmentExecutor[]): ReadonlyMap<string, SplitState[]> {
    const names = all.map(({ name }) => name).join('\n');
    if (this.#placed?.names === names) return this.#placed.lists;
    const lists = new Map<string, SplitState[]>(all.map(({ name }) => [name, []]));
    for (const state of this.#pending)
      lists.get(preferredExecutor(state.place, all)?.name ?? '')?.push(state);
    this.#placed = { names, lists };
    return lists;
  }

  /** A split that one executor has had for too long, for another one. Functions of one name are many. */
  #takeLate(free: readonly FragmentExecutor[]) {
    const allowed = Math.max(twiceAtLeast, Math.ceil(this.#states.length / twiceShare));
    const now = this.#elapsed();
    if (this.#durationsMs.length === 0 || this.#twice >= allowed) return undefined;
    if (now - this.#lateAskedMs < lateEveryMs) return undefined;
    this.#lateAskedMs = now;
    const lateMs = Math.max(leastLateMs, lateFactor * median(this.#durationsMs));
    for (const state of this.#states) {
      const [run, ...more] = state.runs;
      if (state.status !== 'running' || run === undefined || more.length > 0) continue;
      if (now - run.sinceMs < lateMs) continue;
      const executor = free.find(({ kind, name }) => kind === 'lambda' || name !== run.executor);
      if (executor === undefined) continue;
      this.#twice += 1;
      return { executor, states: [state] };
    }
    return undefined;
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
