/** Manifests of delete files as a writer of format 3 makes them; ours writes none. */
import { writeAvroFile } from '../avro/container-writer.js';
import { manifestSchema } from '../manifests/avro-schemas.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { isJsonObject, type JsonValue, jsonNumber } from '../spec/lossless-json.js';

export interface FixtureDelete {
  readonly location: string;
  /** 1: positions, 2: equality. */
  readonly content: number;
  readonly format?: string;
  readonly recordCount?: number;
  readonly sizeBytes?: number;
  readonly sequenceNumber?: bigint;
  /** Values of the partition's fields, which must be int. */
  readonly partition?: readonly number[];
  readonly lowerBounds?: ReadonlyMap<number, Uint8Array>;
  readonly upperBounds?: ReadonlyMap<number, Uint8Array>;
  readonly equalityIds?: readonly number[];
  readonly referencedDataFile?: string;
  readonly contentOffset?: number;
  readonly contentBytes?: number;
}

const statusAdded = 1;
const sync = Buffer.alloc(16, 6);

export function writeDeleteManifest(
  partitionSpec: TypedPartitionSpec,
  deletes: readonly FixtureDelete[],
): Uint8Array {
  return writeAvroFile({
    schema: withVectorFields(manifestSchema(partitionSpec, 2)),
    metadata: { 'partition-spec-id': String(partitionSpec.spec.specId), content: 'deletes' },
    codec: 'null',
    sync,
    records: deletes,
    write(encoder, file) {
      const number = (value: number | bigint) => encoder.integer(value);
      const bounds = (map: ReadonlyMap<number, Uint8Array>) =>
        encoder.list(map, ([id, value]) => {
          encoder.integer(id);
          encoder.byteString(value);
        });
      encoder.integer(statusAdded);
      encoder.optional(null, number);
      for (const sequence of [file.sequenceNumber, undefined]) encoder.optional(sequence, number);
      encoder.integer(file.content);
      encoder.text(file.location);
      encoder.text(file.format ?? 'parquet');
      for (const value of file.partition ?? []) encoder.optional(value, number);
      encoder.integer(file.recordCount ?? 10);
      encoder.integer(file.sizeBytes ?? 1000);
      for (let count = 0; count < 4; count++) encoder.optional(null, number);
      encoder.optional(file.lowerBounds, bounds);
      encoder.optional(file.upperBounds, bounds);
      for (let count = 0; count < 2; count++) encoder.optional(null, number);
      encoder.optional(file.equalityIds, (ids) => encoder.list(ids, number));
      encoder.optional(null, number);
      encoder.optional(file.referencedDataFile, (location) => encoder.text(location));
      encoder.optional(file.contentOffset, number);
      encoder.optional(file.contentBytes, number);
    },
  });
}

/** Adds what format 3 has besides, at the end of `data_file`. */
function withVectorFields(schema: JsonValue): JsonValue {
  const added = [
    ['referenced_data_file', 'string', 143],
    ['content_offset', 'long', 144],
    ['content_size_in_bytes', 'long', 145],
  ] as const;
  const fields = added.map(([name, type, id]) => ({
    ...{ name, type: ['null', type], default: null },
    'field-id': jsonNumber(id),
  }));
  const grow = (value: JsonValue): JsonValue => {
    if (!isJsonObject(value)) return value;
    const { name, fields: own, type } = value;
    if (name === 'r2' && Array.isArray(own)) return { ...value, fields: [...own, ...fields] };
    return {
      ...value,
      ...(Array.isArray(own) && { fields: own.map(grow) }),
      ...(isJsonObject(type) && { type: grow(type) }),
    };
  };
  return grow(schema);
}
