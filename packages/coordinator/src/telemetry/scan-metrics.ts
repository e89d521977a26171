import type { Metrics } from '@svc/base';
import type { ScanCounts } from '@svc/lake';

/** Counts what planning one scan decided (spec section 2.8); what was read is counted when it is staged. */
export function countScan(metrics: Metrics, counts: ScanCounts, tableRows: bigint): void {
  metrics.scanRows.inc({ stage: 'planned' }, tableRows);
  metrics.scanFiles.inc({ outcome: 'planned' }, counts.filesPlanned);
  metrics.scanFiles.inc({ outcome: 'pruned' }, counts.filesPruned);
  metrics.scanBytes.inc({ stage: 'planned' }, counts.bytesTotal);
  metrics.scanBytes.inc({ stage: 'selected' }, counts.bytesPlanned);
  metrics.scanRows.inc({ stage: 'selected' }, counts.rowsPlanned);
  metrics.scanRowGroups.inc({ outcome: 'planned' }, counts.rowGroupsPlanned);
  metrics.scanRowGroups.inc(
    { outcome: 'pruned' },
    counts.rowGroupsPrunedByStatistics + counts.rowGroupsPrunedByBloom,
  );
  metrics.scanRowGroupsPruned.inc(counts.rowGroupsPrunedByBloom);
}
