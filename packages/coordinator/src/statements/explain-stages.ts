/** What EXPLAIN says of a statement in stages, and EXPLAIN ANALYZE of how they ran. */
import type { Stage } from '@svc/sql';
import { modelLambda } from '../scheduler/lambda-cost.js';
import type { PlannedStages } from '../scheduler/planned-stages.js';
import type { FragmentReport } from '../tracker/fragment-record.js';

export interface ExplainedStages {
  readonly stages: PlannedStages;
  readonly reason: string;
  /** Of each divided stage, the bytes of its splits. */
  readonly splits: ReadonlyMap<string, readonly number[]>;
}

export function stageLines({ stages, reason, splits }: ExplainedStages): readonly string[] {
  const { plan, kinds, isWhole } = stages;
  if (isWhole) return [`Runs whole on one of ${kinds.join(' and ')}: ${reason}`];
  return [
    `Runs in ${plan.stages.length} stages on ${kinds.join(' and ')}: ${reason}`,
    ...plan.stages.flatMap((stage) =>
      linesOfStage(stage, placeOf(stage, splits.get(stage.name) ?? [], kinds), (name) =>
        scanText(stages, name),
      ),
    ),
    modelLine([...splits.values()].flat()),
  ];
}

/** `scanText`: what is said of a scan, by its name. */
export function linesOfStage(
  { name, split, scans, inputs, sql }: Stage,
  place: string,
  scanText: (name: string) => string,
): readonly string[] {
  return [
    `Stage ${name}, ${place}`,
    ...(split === undefined ? [] : [`  divides: ${scanText(split)}`]),
    ...(scans.length === 0 ? [] : [`  reads whole: ${scans.map(scanText).join(', ')}`]),
    ...(inputs.length === 0 ? [] : [`  rows of: ${inputs.join(', ')}`]),
    `  SQL: ${oneLine(sql)}`,
  ];
}

export interface AnalyzedRun {
  readonly elapsedMs: number;
  readonly rows: bigint;
  readonly bytes: number;
  readonly filesRead: number;
  readonly bytesRead: number;
  readonly bytesFetched: number;
  readonly rowsScanned: bigint;
  readonly spilledBytes: bigint;
  readonly peakMemoryBytes: bigint;
  /** None where it ran as one fragment. */
  readonly reports: readonly FragmentReport[];
  /** It was to run in stages, and ran here after all. */
  readonly ranHereAfterAll: boolean;
}

export function analyzedLines(run: AnalyzedRun): readonly string[] {
  const stages = [...new Set(run.reports.map(({ stage }) => stage))];
  return [
    `Ran in ${milliseconds(run.elapsedMs)}${run.ranHereAfterAll ? ', on one node after all' : ''}: ${run.rows} rows, ${run.bytes} bytes`,
    `  read: ${run.filesRead} files, ${run.bytesRead} bytes, of which ${run.bytesFetched} fetched, ${run.rowsScanned} rows`,
    `  memory: ${run.peakMemoryBytes} bytes at the most, ${run.spilledBytes} spilled`,
    ...stages.flatMap((stage) =>
      ranLines(
        stage,
        run.reports.filter((report) => report.stage === stage),
      ),
    ),
  ];
}

function ranLines(stage: string, reports: readonly FragmentReport[]): readonly string[] {
  const workers = [...new Set(reports.map(({ worker }) => worker))].sort();
  return [
    `Stage ${stage} ran as ${countOf(reports, () => 1)} fragments`,
    ...workers.map((worker) => {
      const own = reports.filter((report) => report.worker === worker);
      const longest = own.reduce((most, { durationMs }) => Math.max(most, durationMs), 0);
      const failed = own.flatMap(({ errorCode }) => errorCode ?? []);
      return [
        `  ${worker}: ${own.length} fragments, ${countOf(own, ({ ended }) => ended)} splits ended`,
        `${countOf(own, ({ retries }) => retries)} sent before`,
        `${countOf(own, ({ rows }) => rows)} rows`,
        `${countOf(own, ({ bytesRead }) => bytesRead)} bytes read`,
        `${countOf(own, ({ bytesReturned }) => bytesReturned)} returned`,
        `${milliseconds(longest)} the longest`,
        ...(failed.length === 0 ? [] : [`failed: ${[...new Set(failed)].join(', ')}`]),
      ].join(', ');
    }),
  ];
}

function countOf(reports: readonly FragmentReport[], pick: (report: FragmentReport) => number): number {
  return reports.reduce((sum, report) => sum + pick(report), 0);
}

function placeOf(stage: Stage, splits: readonly number[], kinds: readonly string[]): string {
  if (stage.split === undefined) return 'on this node';
  const bytes = splits.reduce((sum, each) => sum + each, 0);
  return `${splits.length} splits of ${bytes} bytes in all, on ${kinds.join(' and ')}`;
}

function scanText({ scans }: PlannedStages, name: string): string {
  const scan = scans.get(name)?.table.scan;
  return scan === undefined ? name : `${name} (${scan.tableName}, ${scan.counts.bytesPlanned} bytes)`;
}

function modelLine(splitBytes: readonly number[]): string {
  const { invocations, seconds, dollars } = modelLambda(splitBytes);
  return `Model of Lambda: ${invocations} invocations, ${seconds.toFixed(1)} s beside each other, $${dollars.toFixed(6)}`;
}

export function milliseconds(ms: number): string {
  return `${ms.toFixed(1)} ms`;
}

export function oneLine(sql: string): string {
  return sql.replaceAll(/\s+/g, ' ').trim();
}
