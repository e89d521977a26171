import { QueryError } from '@svc/base';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import type { TableMetadata } from '../spec/table-metadata.js';
import { isPrimitive } from '../spec/type-text.js';
import type { IcebergType, NestedField, PrimitiveType, Schema } from '../spec/types.js';
import { parseTransform, transformResultType } from '../transforms/transform.js';

/** Types of all columns that the table has or had, by field id; what `schema` says of a column comes last and wins. */
export function primitiveTypes(metadata: TableMetadata, schema: Schema): ReadonlyMap<number, PrimitiveType> {
  const types = new Map<number, PrimitiveType>();
  for (const each of [...metadata.schemas, schema]) collectPrimitives(each.fields, types);
  return types;
}

/** The table's partition specs by id, with the types that their values have under `schema`. */
export function typedPartitionSpecs(
  metadata: TableMetadata,
  schema: Schema,
): ReadonlyMap<number, TypedPartitionSpec> {
  // A column dropped since may still partition old files.
  const sources = primitiveTypes(metadata, schema);
  return new Map(
    metadata.partitionSpecs.map(
      (spec) => [spec.specId, { spec, types: resultTypes(spec, sources) }] as const,
    ),
  );
}

/** Throws DATA_CORRUPT naming the manifest that refers to a spec the table does not have. */
export function specOfManifest(
  specs: ReadonlyMap<number, TypedPartitionSpec>,
  specId: number,
  manifestLocation: string,
): TypedPartitionSpec {
  const spec = specs.get(specId);
  if (spec !== undefined) return spec;
  throw new QueryError(
    'DATA_CORRUPT',
    `The manifest ${manifestLocation} refers to the partition spec ${specId}, which its table does not have.`,
  );
}

function resultTypes(
  spec: PartitionSpec,
  sources: ReadonlyMap<number, PrimitiveType>,
): readonly (PrimitiveType | undefined)[] {
  return spec.fields.map((field) => {
    const [sourceId] = field.sourceIds;
    const source = sourceId === undefined || field.sourceIds.length > 1 ? undefined : sources.get(sourceId);
    return source === undefined ? undefined : transformResultType(parseTransform(field.transform), source);
  });
}

function collectPrimitives(fields: readonly NestedField[], into: Map<number, PrimitiveType>): void {
  const visit = (id: number, type: IcebergType): void => {
    if (isPrimitive(type)) into.set(id, type);
    else if (type.kind === 'struct') collectPrimitives(type.fields, into);
    else if (type.kind === 'list') visit(type.elementId, type.element);
    else {
      visit(type.keyId, type.key);
      visit(type.valueId, type.value);
    }
  };
  for (const field of fields) visit(field.id, field.type);
}
