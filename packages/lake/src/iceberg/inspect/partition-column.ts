/** The `partition` column of the tables `$files` and `$partitions`: a field for each that any of the table's specs has. */
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { IcebergType, PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import { type Cell, structOf } from './metadata-table.js';

export interface PartitionColumn {
  readonly type: IcebergType;
  /** The values of a file of that spec; NULL where the spec does not have the field. */
  cell(spec: TypedPartitionSpec, values: readonly (PrimitiveValue | null | undefined)[]): readonly Cell[];
}

/** Undefined when the table was never partitioned. Fields of a transform that is not known are NULL. */
export function partitionColumn(specs: ReadonlyMap<number, TypedPartitionSpec>): PartitionColumn | undefined {
  const fields = new Map<number, { id: number; name: string; type: PrimitiveType }>();
  for (const { spec, types } of specs.values())
    spec.fields.forEach(({ fieldId, name }, slot) => {
      if (!fields.has(fieldId))
        fields.set(fieldId, { id: fieldId, name, type: types[slot] ?? { kind: 'unknown' } });
    });
  if (fields.size === 0) return undefined;
  const ids = [...fields.keys()];
  return {
    type: structOf([...fields.values()]),
    cell: ({ spec }, values) =>
      ids.map((id) => values[spec.fields.findIndex(({ fieldId }) => fieldId === id)] ?? null),
  };
}
