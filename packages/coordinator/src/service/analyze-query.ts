/** Runs a planned query for EXPLAIN ANALYZE: as it would run for a client, but its rows go nowhere. */
import { linkAbort } from '@svc/base';
import { queryTimedOut } from '@svc/fragment-fn';
import type { Session } from '../identity/session.js';
import type { AnalyzedRun } from '../statements/explain-stages.js';
import type { FragmentReport } from '../tracker/fragment-record.js';
import type { QueryRunnerDependencies } from './query-runner.js';
import { type PlannedToRun, startFragments } from './start-fragments.js';

export interface AnalyzeOptions {
  readonly queryId: string;
  readonly session: Session;
  readonly signal: AbortSignal;
}

/** Of a query of thousands of fragments, those that are told of. */
const maxReports = 10_000;

export async function analyzePlanned(
  runner: QueryRunnerDependencies,
  planned: PlannedToRun,
  { queryId, session, signal }: AnalyzeOptions,
): Promise<AnalyzedRun> {
  runner.throwIfNotAudited();
  const { timeoutMs } = planned.fragment.limits;
  using link = linkAbort([signal, session.closed], timeoutMs, () => queryTimedOut(timeoutMs));
  using _place = await runner.admission.enter(planned.fragment.lane, link.signal);
  const startedMs = performance.now();
  const reports: FragmentReport[] = [];
  let ranHereAfterAll = false;
  const result = await startFragments(runner, {
    ...{ planned, queryId, signal: link.signal },
    report: (report) => {
      if (reports.length < maxReports) reports.push(report);
    },
    onHereAfterAll: () => {
      ranHereAfterAll = true;
    },
  });
  let [rows, bytes] = [0n, 0];
  for await (const message of result.messages) {
    rows += BigInt(message.rowCount);
    bytes += message.body.byteLength;
    message.release();
  }
  await result.engineFree;
  const { filesRead, bytesStaged, bytesFetched, rowsScanned, spilledBytes, peakMemoryBytes } =
    result.statistics();
  return {
    ...{ rows, bytes, filesRead, bytesFetched, rowsScanned, spilledBytes, peakMemoryBytes, reports },
    ...{ ranHereAfterAll, bytesRead: bytesStaged, elapsedMs: performance.now() - startedMs },
  };
}
