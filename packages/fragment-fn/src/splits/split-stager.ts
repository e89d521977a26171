/** Brings the files of one split after another: the next one's while the engine is busy with the present one's. */
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { linkAbort, QueryError } from '@svc/base';
import type { ScanFilter } from '@svc/sql';
import type { LeasedFragment, StagedTable } from '../leased-fragment.js';
import type { FragmentScan } from '../request.js';
import type { FragmentSplit } from './split-task.js';

/** A split that the engine can be given. */
export interface ReadySplit {
  readonly split: FragmentSplit;
  readonly table: FragmentScan;
  readonly stagingMs: number;
  readonly rows:
    | { readonly kind: 'staged'; readonly staged: StagedTable }
    /** It does not fit into the staging space as it is. */
    | { readonly kind: 'parts'; readonly parts: readonly FragmentScan[] };
}

export interface SplitStagerOptions {
  readonly fragment: Pick<LeasedFragment, 'environment' | 'link' | 'lease'>;
  /** The divided table; its own scan has no files. */
  readonly table: FragmentScan;
  readonly splits: readonly FragmentSplit[];
  /** What is known of its rows that are needed, by the time that a split is staged. */
  readonly filters: () => readonly ScanFilter[];
}

export class SplitStager {
  readonly #options: SplitStagerOptions;
  readonly #stop;
  #ahead: { readonly index: number; readonly ready: Promise<ReadySplit> } | undefined;

  constructor(options: SplitStagerOptions) {
    this.#options = options;
    this.#stop = linkAbort(options.fragment.link.signal);
  }

  /** Begins with a split that is going to be taken. There is one at most that has not been taken yet. */
  begin(index: number): void {
    if (index >= this.#options.splits.length) return;
    this.#begun(index).catch(() => undefined); // Reported when its turn comes.
  }

  /** The split, once those before it have been dropped. */
  async take(index: number): Promise<ReadySplit> {
    const wasAhead = this.#ahead?.index === index;
    try {
      return await this.#begun(index);
    } catch (error) {
      // Beside the one before it there may have been no room, which there is now.
      if (!wasAhead || !(error instanceof QueryError) || error.code !== 'DISK_FULL') throw error;
      this.#ahead = undefined;
      return await this.#begun(index);
    } finally {
      this.#ahead = undefined;
    }
  }

  /** The engine is done with a split: its files go. */
  async drop(index: number): Promise<void> {
    await rm(this.#folderOf(index), { recursive: true, force: true });
  }

  /** Nothing is staged any more when it resolves. The folders go with the lease. */
  async close(): Promise<void> {
    this.#stop.abort(new QueryError('CANCELLED', 'The split was no longer needed.'));
    await this.#ahead?.ready.catch(() => undefined);
    this.#stop[Symbol.dispose]();
  }

  #begun(index: number): Promise<ReadySplit> {
    if (this.#ahead?.index !== index) this.#ahead = { index, ready: this.#stage(index) };
    return this.#ahead.ready;
  }

  async #stage(index: number): Promise<ReadySplit> {
    const split = this.#options.splits[index];
    if (split === undefined) throw new QueryError('INTERNAL_ERROR', `There is no split ${index}.`);
    const { fragment, table: divided, filters } = this.#options;
    const { environment } = fragment;
    const { signal } = this.#stop;
    const began = performance.now();
    const whole: FragmentScan = { ...divided, scan: split.scan };
    const known = filters();
    const table = (known.length > 0 && (await environment.narrow?.(whole, known, signal))) || whole;
    if (table !== whole) environment.onNarrowed?.(whole, table);
    const [parts] = (await environment.split?.([table], signal)) ?? [];
    if (parts !== undefined)
      return { split, table, rows: { kind: 'parts', parts }, stagingMs: performance.now() - began };
    const folder = this.#folderOf(index);
    try {
      await mkdir(folder, { recursive: true });
      const staged = await environment.stage(table, folder, signal);
      return { split, table, rows: { kind: 'staged', staged }, stagingMs: performance.now() - began };
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  #folderOf(index: number): string {
    return join(this.#options.fragment.lease.inputDirectory, `split-${index}`);
  }
}
