/** What a fragment needs around it, where its tables' files lie in stores. */
import { type Metrics, QueryError } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import {
  type Connections,
  createConnections,
  createHttpStore,
  type ObjectStore,
  type StorageTraffic,
  type TableScan,
} from '@svc/lake';
import type { FragmentEnvironment } from '../leased-fragment.js';
import type { FragmentRequest } from '../request.js';
import type { FragmentSplit } from '../splits/split-task.js';
import { countNarrowed } from './count-narrowed.js';
import { noStore } from './no-store.js';
import { readPart } from './read-part.js';
import type { TableStaging } from './table-staging.js';

export interface EnvironmentDependencies extends TableStaging {
  readonly pool: EnginePool;
  /** Brings files that a statement of the command line names. */
  readonly stageFiles?: FragmentEnvironment['stageFiles'];
  readonly metrics: Metrics;
  /** For parts of earlier stages at pre-signed addresses. Default: those of each fragment are its own. */
  readonly connections?: Connections | undefined;
  readonly traffic?: StorageTraffic | undefined;
}

/** A fragment, and for each of its tables with files what opens them. */
export interface FragmentOfStores {
  readonly fragment: Pick<FragmentRequest, 'tables'> & {
    readonly splitTable?: number;
    readonly splits?: readonly FragmentSplit[];
  };
  readonly stores: readonly (ObjectStore | undefined)[];
}

export function environmentOf(
  dependencies: EnvironmentDependencies,
  { fragment, stores }: FragmentOfStores,
): FragmentEnvironment {
  const { pool, stage, narrow, bytesToFetch, joinKeysBytes, split, stageFiles, metrics } = dependencies;
  const storesByScan = new Map<TableScan, ObjectStore>();
  for (const [index, table] of fragment.tables.entries()) {
    const store = stores[index];
    if (table.kind !== 'scan' || store === undefined) continue;
    storesByScan.set(table.scan, store);
    if (index === fragment.splitTable)
      for (const { scan } of fragment.splits ?? []) storesByScan.set(scan, store);
  }
  const storeOf = (scan: TableScan): ObjectStore => {
    const store = storesByScan.get(scan);
    if (store === undefined)
      throw new QueryError('INTERNAL_ERROR', `The table ${scan.tableName} has no store.`);
    return store;
  };
  let { connections } = dependencies;
  return {
    pool,
    ...(stageFiles && { stageFiles }),
    stage: async (table, directory, signal) => {
      const { scan } = table;
      // A scan without files needs nobody to open them.
      const store = scan.groups.length === 0 ? (storesByScan.get(scan) ?? noStore) : storeOf(scan);
      return await stage(scan, store, directory, signal);
    },
    narrow: async (table, filters, signal) => {
      const store = storeOf(table.scan);
      const scan = await narrow(table.scan, filters, store, signal);
      storesByScan.set(scan, store);
      return { ...table, scan };
    },
    bytesToFetch: (table, signal) => bytesToFetch(table.scan, storeOf(table.scan), signal),
    joinKeysBytes,
    onNarrowed: (planned, narrowed) => countNarrowed(metrics, planned.scan.counts, narrowed.scan.counts),
    split: async (tables, signal) => {
      const scans = tables.map(({ scan }) => ({ scan, store: storesByScan.get(scan) ?? noStore }));
      const parts = await split(scans, signal);
      return tables.map((table, index) =>
        parts[index]?.map((scan) => {
          storesByScan.set(scan, storeOf(table.scan));
          return { ...table, scan };
        }),
      );
    },
    readPart({ url, bytes }, signal) {
      // A store of its own: it knows the address, which is a secret, no longer than the part is read.
      connections ??= createConnections();
      const web = createHttpStore({ connections, traffic: dependencies.traffic });
      return readPart(web, { location: url, bytes }, signal);
    },
  };
}
