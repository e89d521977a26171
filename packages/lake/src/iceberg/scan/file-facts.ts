import { type BoundUse, type ColumnFacts, describeRows, type RowFacts } from '../../scan/row-use.js';
import { type ColumnMetrics, summariseMetrics, summariseValue } from '../expressions/evaluate-filter.js';
import type { DataFile } from '../manifests/data-file.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import { parseTransform } from '../transforms/transform.js';

/** What a manifest says of the rows of its files: partition values that are the column's own, else statistics. */
export function createFileFacts(
  use: BoundUse,
  { fields }: PartitionSpec,
): (metrics: ColumnMetrics, partition: DataFile['partition']) => RowFacts {
  const slots = new Map<number, number>();
  for (const [slot, { sourceIds, transform }] of fields.entries()) {
    const [sourceId] = sourceIds;
    if (sourceIds.length === 1 && sourceId !== undefined && parseTransform(transform).kind === 'identity')
      slots.set(sourceId, slot);
  }
  return (metrics, partition) =>
    describeRows(use, metrics.recordCount, ({ id, type }): ColumnFacts => {
      const value = partition[slots.get(id) ?? -1];
      if (value !== undefined)
        return {
          summary: summariseValue(value),
          nullCount: value === null ? metrics.recordCount : 0,
          isExact: true,
        };
      return {
        summary: summariseMetrics(id, type, metrics),
        nullCount: metrics.nullValueCounts?.get(id),
        isExact: false,
      };
    });
}
