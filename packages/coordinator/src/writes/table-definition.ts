/** Declarations of a statement as definitions of the lake. */
import type { ColumnDefinition, PartitionDefinition, TableDefinition } from '@svc/lake';
import type { CreateTable, PartitionTransform, Properties } from '@svc/sql';

export function tableDefinition(
  { partitioning, properties, comment }: Pick<CreateTable, 'partitioning' | 'properties' | 'comment'>,
  columns: readonly ColumnDefinition[],
): TableDefinition {
  return {
    columns,
    partitions: partitioning.map(partitionDefinition),
    properties: withComment(properties, comment),
  };
}

export function declaredColumns({ columns }: CreateTable): readonly ColumnDefinition[] {
  return columns.map(({ name, type, isRequired, comment }) => ({
    name,
    type,
    required: isRequired,
    ...(comment === undefined ? {} : { doc: comment }),
  }));
}

/** Tables and schemas keep their comment as a property, where Spark and Trino look for it. */
export function withComment(
  properties: Properties,
  comment: string | undefined,
): Readonly<Record<string, string>> {
  return Object.fromEntries(comment === undefined ? properties : [...properties, ['comment', comment]]);
}

function partitionDefinition(field: PartitionTransform): PartitionDefinition {
  const column = [field.column];
  switch (field.kind) {
    case 'bucket':
      return { column, transform: `bucket[${field.count}]` };
    case 'truncate':
      return { column, transform: `truncate[${field.width}]` };
    default:
      return { column, transform: field.kind };
  }
}
