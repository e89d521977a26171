import type { Metrics } from '@svc/base';
import type { ScanCounts } from '@svc/lake';

/**
 * Counts what planning one scan decided (spec section 2.8): every file and row group that was considered is planned, and
 * then either pruned or read. What was read is counted when it is staged.
 */
export function countScan(metrics: Metrics, counts: ScanCounts, tableRows: bigint): void {
  metrics.scanRows.inc({ stage: 'planned' }, tableRows);
  metrics.scanFiles.inc({ outcome: 'planned' }, counts.filesTotal);
  metrics.scanFiles.inc({ outcome: 'pruned' }, counts.filesPruned);
  metrics.scanBytes.inc({ stage: 'planned' }, counts.bytesTotal);
  metrics.scanBytes.inc({ stage: 'selected' }, counts.bytesPlanned);
  metrics.scanRows.inc({ stage: 'selected' }, counts.rowsPlanned);
  metrics.scanRowGroups.inc({ outcome: 'planned' }, counts.rowGroupsTotal);
  metrics.scanRowGroups.inc(
    { outcome: 'pruned' },
    counts.rowGroupsPrunedByStatistics + counts.rowGroupsPrunedByBloom,
  );
  metrics.scanRowGroupsPruned.inc(counts.rowGroupsPrunedByBloom);
}

/** What a scan reads less than was planned, by the keys of a table that it is joined with. */
export function countNarrowed(metrics: Metrics, planned: ScanCounts, narrowed: ScanCounts): void {
  metrics.scanFiles.inc({ outcome: 'pruned' }, narrowed.filesPruned - planned.filesPruned);
  metrics.scanRowGroups.inc({ outcome: 'pruned' }, planned.rowGroupsPlanned - narrowed.rowGroupsPlanned);
  metrics.scanRowGroupsPruned.inc(narrowed.rowGroupsPrunedByBloom - planned.rowGroupsPrunedByBloom);
  metrics.scanJoinKeyBytes.inc(planned.bytesPlanned - narrowed.bytesPlanned);
}
