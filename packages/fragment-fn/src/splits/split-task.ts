/**
 * A fragment that is run for one split of a table after another, and the places that can do so: hosts of this process,
 * workers, Lambda functions. What differs between them is how a task reaches them; what runs is the same.
 */
import type { EngineMessage } from '@svc/engine';
import type { ObjectStore, TableScan } from '@svc/lake';
import type { FragmentRequest, FragmentStatistics } from '../request.js';

/** Rows of the divided table: some of its files and row groups. The unit of retry. */
export interface FragmentSplit {
  /** Unique within the stage. */
  readonly id: number;
  readonly scan: TableScan;
}

/** The request's SQL is run once for each split, in their order; other tables and inputs are staged once. */
export interface SplitRequest extends FragmentRequest {
  /** Position in `tables`, of a scan; its own `scan` has the columns and no files. Absent: `splits` is one, without a scan. */
  readonly splitTable?: number;
  readonly splits: readonly FragmentSplit[];
}

export interface FragmentTask {
  readonly request: SplitRequest;
  /** One for each of the request's tables, where it has files: opens them, and says how they may be opened elsewhere. */
  readonly stores: readonly (ObjectStore | undefined)[];
}

export type SplitEvent =
  | { readonly kind: 'message'; readonly split: number; readonly message: EngineMessage }
  /** All rows of a split have been answered: without it, what came of the split does not count. */
  | {
      readonly kind: 'end';
      readonly split: number;
      readonly rowCount: bigint;
      readonly statistics: FragmentStatistics;
    };

export interface SplitRun {
  /** Encapsulated Arrow IPC schema message of every split's rows. */
  readonly schema: Uint8Array;
  /**
   * Pull; to be read to its end or returned early, which ends the work. Throws EXECUTOR_LOST where the executor went away
   * (what has ended counts, the rest may be run elsewhere), and the fragment's own errors.
   */
  readonly events: AsyncIterable<SplitEvent>;
}

export interface FragmentExecutor {
  /** `local`, `worker 10.0.0.7:50052`, `lambda svc-fragment`: for the tracker, EXPLAIN and logs. */
  readonly name: string;
  readonly kind: 'local' | 'workers' | 'lambda';
  /** Fragments that it runs beside each other. */
  readonly slots: number;
  /** It does not answer when asked how it is: what it runs may never end. Absent where nobody asks. */
  readonly isSilent?: boolean;
  /** Resolves when the schema of the answer is known. Throws as `SplitRun.events`; then nothing is left behind. */
  start(task: FragmentTask, signal: AbortSignal): Promise<SplitRun>;
}
