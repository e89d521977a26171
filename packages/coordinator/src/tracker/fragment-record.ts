import type { ErrorCode } from '@svc/base';

/** One task of a query on an executor, or a stage that ran here. */
export interface FragmentReport {
  /** Within the query. */
  readonly fragmentId: number;
  readonly stage: string;
  /** See FragmentExecutor.name. */
  readonly worker: string;
  /** Their ids within the stage. */
  readonly splits: readonly number[];
  /** Of its splits, those that it answered to their end. */
  readonly ended: number;
  /** Of its splits, those that had been given to another one before. */
  readonly retries: number;
  readonly durationMs: number;
  readonly rows: number;
  /** Bytes that its engine was given, and those that it answered. */
  readonly bytesRead: number;
  readonly bytesReturned: number;
  readonly spilledBytes: bigint;
  readonly peakMemoryBytes: bigint;
  readonly errorCode: ErrorCode | undefined;
}

/** What is kept of a query's fragments. */
export interface FragmentSummary {
  readonly total: number;
  readonly failed: number;
  readonly retries: number;
  /** The first of them. */
  readonly reports: readonly FragmentReport[];
}

/** Of a thousand finished queries each may have thousands of fragments. */
const maxReports = 64;

export class FragmentReports {
  #total = 0;
  #failed = 0;
  #retries = 0;
  readonly #reports: FragmentReport[] = [];

  add(report: FragmentReport): void {
    this.#total += 1;
    this.#retries += report.retries;
    if (report.errorCode !== undefined) this.#failed += 1;
    if (this.#reports.length < maxReports) this.#reports.push(report);
  }

  get summary(): FragmentSummary {
    return {
      total: this.#total,
      failed: this.#failed,
      retries: this.#retries,
      reports: [...this.#reports],
    };
  }
}
