import type { Metrics } from '@svc/base';
import type { ScanCounts } from '@svc/lake';

/** What a scan reads less than was planned, by the keys of a table that it is joined with (spec section 2.8). */
export function countNarrowed(metrics: Metrics, planned: ScanCounts, narrowed: ScanCounts): void {
  metrics.scanFiles.inc({ outcome: 'pruned' }, narrowed.filesPruned - planned.filesPruned);
  metrics.scanRowGroups.inc({ outcome: 'pruned' }, planned.rowGroupsPlanned - narrowed.rowGroupsPlanned);
  metrics.scanRowGroupsPruned.inc(narrowed.rowGroupsPrunedByBloom - planned.rowGroupsPrunedByBloom);
  metrics.scanJoinKeyBytes.inc(planned.bytesPlanned - narrowed.bytesPlanned);
}
