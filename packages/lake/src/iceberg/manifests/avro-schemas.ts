/** The Avro schemas of manifests and manifest lists of formats 1 and 2, with Iceberg's field ids (specification, Appendix A). */
import { isJsonObject, type JsonObject, type JsonValue, jsonNumber } from '../spec/lossless-json.js';
import type { PrimitiveType } from '../spec/types.js';
import type { TypedPartitionSpec } from './data-file.js';

/** A field that must be there, or (`optional`) may be null. */
function field(id: number, name: string, type: JsonValue): JsonObject {
  return { name, type, 'field-id': jsonNumber(id) };
}

function optional(id: number, name: string, type: JsonValue): JsonObject {
  return { name, type: ['null', type], default: null, 'field-id': jsonNumber(id) };
}

function array(elementId: number, items: JsonValue): JsonObject {
  return { type: 'array', items, 'element-id': jsonNumber(elementId) };
}

/** Avro's maps have text keys only, so Iceberg writes a list of pairs. */
function integerMap(keyId: number, valueId: number, value: 'long' | 'bytes'): JsonObject {
  const fields = [field(keyId, 'key', 'int'), field(valueId, 'value', value)];
  return {
    type: 'array',
    logicalType: 'map',
    items: { type: 'record', name: `k${keyId}_v${valueId}`, fields },
  };
}

const fieldSummary: JsonObject = {
  type: 'record',
  name: 'r508',
  fields: [
    field(509, 'contains_null', 'boolean'),
    optional(518, 'contains_nan', 'boolean'),
    optional(510, 'lower_bound', 'bytes'),
    optional(511, 'upper_bound', 'bytes'),
  ],
};

/** The order of the fields is that in which write-manifest.ts writes them; format 1 leaves some out. */
export function manifestListSchema(formatVersion: number): JsonObject {
  const sequence = [
    field(517, 'content', 'int'),
    field(515, 'sequence_number', 'long'),
    field(516, 'min_sequence_number', 'long'),
  ];
  const fields = [
    field(500, 'manifest_path', 'string'),
    field(501, 'manifest_length', 'long'),
    field(502, 'partition_spec_id', 'int'),
    ...(formatVersion === 1 ? [] : sequence),
    field(503, 'added_snapshot_id', 'long'),
    field(504, 'added_files_count', 'int'),
    field(505, 'existing_files_count', 'int'),
    field(506, 'deleted_files_count', 'int'),
    field(512, 'added_rows_count', 'long'),
    field(513, 'existing_rows_count', 'long'),
    field(514, 'deleted_rows_count', 'long'),
    optional(507, 'partitions', array(508, fieldSummary)),
    optional(519, 'key_metadata', 'bytes'),
  ];
  return { type: 'record', name: 'manifest_file', fields };
}

export function manifestSchema(partitionSpec: TypedPartitionSpec, formatVersion: number): JsonObject {
  const isFirst = formatVersion === 1;
  const dataFile = {
    type: 'record',
    name: 'r2',
    fields: [
      ...(isFirst ? [] : [field(134, 'content', 'int')]),
      field(100, 'file_path', 'string'),
      field(101, 'file_format', 'string'),
      field(102, 'partition', { type: 'record', name: 'r102', fields: partitionFields(partitionSpec) }),
      field(103, 'record_count', 'long'),
      field(104, 'file_size_in_bytes', 'long'),
      ...(isFirst ? [field(105, 'block_size_in_bytes', 'long')] : []),
      optional(108, 'column_sizes', integerMap(117, 118, 'long')),
      optional(109, 'value_counts', integerMap(119, 120, 'long')),
      optional(110, 'null_value_counts', integerMap(121, 122, 'long')),
      optional(137, 'nan_value_counts', integerMap(138, 139, 'long')),
      optional(125, 'lower_bounds', integerMap(126, 127, 'bytes')),
      optional(128, 'upper_bounds', integerMap(129, 130, 'bytes')),
      optional(131, 'key_metadata', 'bytes'),
      optional(132, 'split_offsets', array(133, 'long')),
      ...(isFirst ? [] : [optional(135, 'equality_ids', array(136, 'int'))]),
      optional(140, 'sort_order_id', 'int'),
    ],
  };
  return {
    type: 'record',
    name: 'manifest_entry',
    fields: [
      field(0, 'status', 'int'),
      ...(isFirst ? [field(1, 'snapshot_id', 'long')] : [optional(1, 'snapshot_id', 'long')]),
      ...(isFirst
        ? []
        : [optional(3, 'sequence_number', 'long'), optional(4, 'file_sequence_number', 'long')]),
      field(2, 'data_file', dataFile),
    ],
  };
}

/** Avro's fixed types have names, which one schema may define only once. */
function partitionFields({ spec, types }: TypedPartitionSpec): readonly JsonObject[] {
  const defined = new Set<string>();
  return spec.fields.map((each, slot) => {
    const type = avroType(types[slot]);
    const { name } = isJsonObject(type) ? type : {};
    const isRepeated = typeof name === 'string' && defined.has(name);
    if (typeof name === 'string') defined.add(name);
    const unique = isRepeated && isJsonObject(type) ? { ...type, name: `${name}_${each.fieldId}` } : type;
    return optional(each.fieldId, avroName(each.name), unique);
  });
}

/** Avro's names are narrower than Iceberg's: other characters become their code (as Iceberg's own writers do). */
function avroName(name: string): string {
  return name.replace(/[^A-Za-z0-9_]|^\d/g, (character) =>
    /\d/.test(character) ? `_${character}` : `_x${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function avroType(type: PrimitiveType | undefined): JsonValue {
  switch (type?.kind) {
    case 'boolean':
    case 'int':
    case 'long':
    case 'float':
    case 'double':
    case 'string':
      return type.kind;
    case 'date':
      return { type: 'int', logicalType: 'date' };
    case 'time':
      return { type: 'long', logicalType: 'time-micros' };
    case 'timestamp':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': false };
    case 'timestamptz':
      return { type: 'long', logicalType: 'timestamp-micros', 'adjust-to-utc': true };
    case 'timestamp_ns':
      return { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': false };
    case 'timestamptz_ns':
      return { type: 'long', logicalType: 'timestamp-nanos', 'adjust-to-utc': true };
    case 'decimal':
      return {
        type: 'fixed',
        name: `decimal_${type.precision}_${type.scale}`,
        size: jsonNumber(decimalBytes(type.precision)),
        logicalType: 'decimal',
        precision: jsonNumber(type.precision),
        scale: jsonNumber(type.scale),
      };
    case 'uuid':
      return { type: 'fixed', name: 'uuid_fixed', size: jsonNumber(16), logicalType: 'uuid' };
    case 'fixed':
      return { type: 'fixed', name: `fixed_${type.length}`, size: jsonNumber(type.length) };
    case 'binary':
      return 'bytes';
    case 'unknown':
    case 'unsupported':
    case undefined:
      return 'bytes'; // Only ever null.
  }
}

/** The fewest bytes of two's complement that hold every number of so many digits. */
export function decimalBytes(precision: number): number {
  const limit = 10n ** BigInt(precision);
  let bytes = 1;
  while (2n ** BigInt(bytes * 8 - 1) < limit) bytes++;
  return bytes;
}
