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
