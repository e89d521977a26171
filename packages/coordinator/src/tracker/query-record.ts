import type { ErrorCode, StatementType } from '@svc/base';
import type { FragmentSummary } from './fragment-record.js';

/** The states of the specification (section 3.3). A cancelled query is `failed` with code CANCELLED. */
export type QueryState = 'running' | 'finished' | 'failed';

/** Where a running query is: waiting for a place, being planned, in the engine, or only being read. */
export type QueryPhase = 'queued' | 'planning' | 'executing' | 'streaming';

/** A query as the tracker keeps it (spec section 2.3). Times in milliseconds. */
export interface QueryRecord {
  readonly queryId: string;
  readonly user: string;
  /** First 16 hex digits of the bearer's SHA-256. */
  readonly sessionLabel: string;
  readonly sql: string;
  readonly statementType: StatementType;
  readonly startedAtMs: number;
  readonly state: QueryState;
  readonly phase: QueryPhase;
  readonly queuedMs: number;
  readonly planningMs: number;
  readonly executionMs: number;
  readonly elapsedMs: number;
  readonly rows: bigint;
  readonly bytesReturned: number;
  readonly bytesScanned: number;
  readonly spilledBytes: bigint;
  readonly peakMemoryBytes: bigint;
  /** Of a query that ran in stages. */
  readonly fragments: FragmentSummary | undefined;
  /** Names of the policies that were applied. */
  readonly policies: readonly string[];
  readonly errorCode: ErrorCode | undefined;
  readonly errorMessage: string | undefined;
}
