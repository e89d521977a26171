import { type Metrics, QueryError } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import type { FragmentEnvironment, FragmentTask, StagedTable } from '@svc/fragment-fn';
import type { ObjectStore, ScanToStage, TableScan } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import type { PlannedFragment } from '../planner/planned-statement.js';
import { countNarrowed } from '../telemetry/scan-metrics.js';

/** What fragments are run with. */
export interface EnvironmentDependencies {
  readonly pool: EnginePool;
  /** Brings one table's chunks into the engine's folder. */
  stage(scan: TableScan, store: ObjectStore, directory: string, signal: AbortSignal): Promise<StagedTable>;
  /** Leaves out of a scan what holds no row that passes the filters. */
  readonly narrow: (
    scan: TableScan,
    filters: readonly ScanFilter[],
    store: ObjectStore,
    signal: AbortSignal,
  ) => Promise<TableScan>;
  /** What staging a scan would have to fetch now. */
  readonly bytesToStage: (scan: TableScan, store: ObjectStore, signal: AbortSignal) => Promise<number>;
  /** For each scan its parts, where it does not fit into the staging space beside the others. */
  readonly split: (
    scans: readonly ScanToStage[],
    signal: AbortSignal,
  ) => Promise<readonly (readonly TableScan[] | undefined)[]>;
  /** Brings files that a statement of the command line names. */
  readonly stageFiles?: FragmentEnvironment['stageFiles'];
  readonly metrics: Metrics;
}

/** What fragments of a plan need around them here. */
export function environmentOf(
  { pool, stage, narrow, bytesToStage, split, stageFiles, metrics }: EnvironmentDependencies,
  {
    fragment,
    stores,
  }: {
    readonly fragment: Pick<PlannedFragment['fragment'], 'tables'>;
    readonly stores: PlannedFragment['stores'];
  },
): FragmentEnvironment {
  const storesByScan = new Map<TableScan, ObjectStore>();
  for (const [index, table] of fragment.tables.entries()) {
    const store = stores[index];
    if (table.kind === 'scan' && store !== undefined) storesByScan.set(table.scan, store);
  }
  const storeOf = (scan: TableScan): ObjectStore => {
    const store = storesByScan.get(scan);
    if (store === undefined)
      throw new QueryError('INTERNAL_ERROR', `The table ${scan.tableName} has no store.`);
    return store;
  };
  return {
    pool,
    ...(stageFiles && { stageFiles }),
    stage: (table, directory, signal) => stage(table.scan, storeOf(table.scan), directory, signal),
    narrow: async (table, filters, signal) => {
      const store = storeOf(table.scan);
      const scan = await narrow(table.scan, filters, store, signal);
      storesByScan.set(scan, store);
      return { ...table, scan };
    },
    bytesToStage: (table, signal) => bytesToStage(table.scan, storeOf(table.scan), signal),
    onNarrowed: (planned, narrowed) => countNarrowed(metrics, planned.scan.counts, narrowed.scan.counts),
    split: async (tables, signal) => {
      const scans = tables.map(({ scan }) => ({ scan, store: storeOf(scan) }));
      const parts = await split(scans, signal);
      return tables.map((table, index) =>
        parts[index]?.map((scan) => {
          storesByScan.set(scan, storeOf(table.scan));
          return { ...table, scan };
        }),
      );
    },
  };
}

/** The same of a task, whose splits are files of one of its tables. */
export function taskEnvironment(
  dependencies: EnvironmentDependencies,
  { request, stores }: FragmentTask,
): FragmentEnvironment {
  const { splitTable, splits, tables } = request;
  const divided = splitTable === undefined ? undefined : tables[splitTable];
  const parts = divided?.kind === 'scan' ? splits.map(({ scan }) => ({ ...divided, scan })) : [];
  const store = splitTable === undefined ? undefined : stores[splitTable];
  return environmentOf(dependencies, {
    fragment: { tables: [...tables, ...parts] },
    stores: [...stores, ...parts.map(() => store)],
  });
}
