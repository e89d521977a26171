/** How tables are brought to an engine of this machine. */
import type { Metrics } from '@svc/base';
import {
  bytesToFetch,
  type FooterCache,
  narrowScan,
  type ObjectStore,
  planDirectRead,
  type ScanToStage,
  type StagingCache,
  splitScans,
  stageScan,
  type TableScan,
} from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import type { StagedTable } from '../leased-fragment.js';

export interface TableStaging {
  /** Brings one table's chunks into the engine's folder. */
  stage(scan: TableScan, store: ObjectStore, directory: string, signal: AbortSignal): Promise<StagedTable>;
  /** Leaves out of a scan what holds no row that passes the filters. */
  narrow(
    scan: TableScan,
    filters: readonly ScanFilter[],
    store: ObjectStore,
    signal: AbortSignal,
  ): Promise<TableScan>;
  /** What staging a scan would have to fetch now. */
  bytesToFetch(scan: TableScan, store: ObjectStore, signal: AbortSignal): Promise<number>;
  readonly joinKeysBytes?: number | undefined;
  /** For each scan its parts, where it does not fit into the staging space beside the others. */
  split(
    scans: readonly ScanToStage[],
    signal: AbortSignal,
  ): Promise<readonly (readonly TableScan[] | undefined)[]>;
}

export interface TableStagingOptions {
  readonly cache: StagingCache;
  readonly footers: FooterCache;
  readonly metrics: Metrics;
  /** Setting `query.join_keys_bytes`. */
  readonly joinKeysBytes?: number | undefined;
}

export function createTableStaging(options: TableStagingOptions): TableStaging {
  const { cache, footers, metrics, joinKeysBytes } = options;
  return {
    joinKeysBytes,
    narrow: (scan, filters, store, signal) => narrowScan(scan, filters, { store, footers, signal }),
    bytesToFetch: (scan, store, signal) => bytesToFetch({ scan, store }, { cache, footers, signal }),
    split: (scans, signal) => splitScans(scans, { cache, footers, signal }),
    stage: async (scan, store, directory, signal) => {
      const staged = await stageScan(scan, { store, directory, cache, footers, signal });
      metrics.stagingBytes.inc({ source: 'storage' }, staged.bytesFetched);
      const notCached = staged.bytesFetched + staged.bytesInPlace;
      metrics.stagingBytes.inc({ source: 'cache' }, Math.max(0, scan.counts.bytesPlanned - notCached));
      metrics.stagingBytes.inc({ source: 'in_place' }, staged.bytesInPlace);
      metrics.scanBytes.inc({ stage: 'read' }, notCached);
      const filesRead = staged.groups.reduce((sum, group) => sum + group.paths.length, 0);
      metrics.scanFiles.inc({ outcome: 'read' }, filesRead);
      metrics.scanRowGroups.inc({ outcome: 'read' }, scan.counts.rowGroupsPlanned);
      return {
        ...staged,
        bytesStaged: staged.bytesStaged + staged.bytesInPlace,
        filesRead,
        describeColumns: (indexes) =>
          planDirectRead({
            columns: indexes.flatMap((index) => {
              const column = scan.columns[index];
              return column === undefined ? [] : [{ index, name: column.name, type: column.type }];
            }),
            groups: staged.groups,
            files: scan.groups.flatMap((group) => group.files),
            store,
            footers,
            signal,
          }),
      };
    },
  };
}
