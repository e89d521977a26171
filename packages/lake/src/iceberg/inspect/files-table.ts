import type { LoadedTable } from '../../catalogs/catalog.js';
import { primitiveTypes, typedPartitionSpecs } from '../scan/partition-types.js';
import type { ResolvedSnapshot } from '../scan/resolve-snapshot.js';
import { decodeBinaryValue } from '../spec/binary-value.js';
import { printJsonValue } from '../spec/json-value.js';
import { isJsonNumber } from '../spec/lossless-json.js';
import { isPrimitive } from '../spec/type-text.js';
import type { NestedField, PrimitiveType } from '../spec/types.js';
import type { SeldomField } from './file-entries.js';
import { type LiveFile, liveFiles } from './live-files.js';
import {
  type Cell,
  fieldsOf,
  listOf,
  type MetadataColumn,
  type MetadataTable,
  mapOf,
  rowMaker,
  types,
} from './metadata-table.js';
import { partitionColumn } from './partition-column.js';
import { boundText } from './value-text.js';

const countMap = mapOf(types.int, types.long);
const boundMap = mapOf(types.int, types.string);

const metrics = [
  'columnSizes',
  'valueCounts',
  'nullValueCounts',
  'nanValueCounts',
  'lowerBounds',
  'upperBounds',
] as const satisfies readonly SeldomField[];

/** What a column needs of a manifest, where that is read only on demand. */
interface FileColumn extends MetadataColumn<LiveFile> {
  readonly reads?: readonly SeldomField[];
}

/** The live files of a snapshot, data files and delete files. */
export function filesTable(table: LoadedTable, { snapshot, schema }: ResolvedSnapshot): MetadataTable {
  const specs = typedPartitionSpecs(table.metadata, schema);
  const columnTypes = primitiveTypes(table.metadata, schema);
  const partition = partitionColumn(specs);
  const readable = readableColumns(schema.fields);
  const counts = (
    name: string,
    key: 'columnSizes' | 'valueCounts' | 'nullValueCounts' | 'nanValueCounts',
  ) => ({
    name,
    type: countMap,
    reads: [key],
    cell: (file: LiveFile) => file[key],
  });
  const bounds = (name: string, key: 'lowerBounds' | 'upperBounds') => ({
    name,
    type: boundMap,
    reads: [key],
    cell: (file: LiveFile) => boundCells(file[key], columnTypes),
  });
  const columns: readonly FileColumn[] = [
    { name: 'content', type: types.int, cell: (file) => file.content },
    { name: 'file_path', type: types.string, cell: (file) => file.location },
    { name: 'file_format', type: types.string, cell: (file) => file.format.toUpperCase() },
    { name: 'spec_id', type: types.int, cell: (file) => file.partitionSpec.spec.specId },
    ...(partition === undefined
      ? []
      : [
          {
            name: 'partition',
            type: partition.type,
            cell: (file: LiveFile) => partition.cell(file.partitionSpec, file.partition),
          },
        ]),
    { name: 'record_count', type: types.long, cell: (file) => file.recordCount },
    { name: 'file_size_in_bytes', type: types.long, cell: (file) => file.sizeBytes },
    counts('column_sizes', 'columnSizes'),
    counts('value_counts', 'valueCounts'),
    counts('null_value_counts', 'nullValueCounts'),
    counts('nan_value_counts', 'nanValueCounts'),
    bounds('lower_bounds', 'lowerBounds'),
    bounds('upper_bounds', 'upperBounds'),
    { name: 'key_metadata', type: types.binary, reads: ['keyMetadata'], cell: (file) => file.keyMetadata },
    {
      name: 'split_offsets',
      type: listOf(types.long),
      reads: ['splitOffsets'],
      cell: (file) => file.splitOffsets,
    },
    {
      name: 'equality_ids',
      type: listOf(types.int),
      reads: ['equalityIds'],
      cell: (file) => file.equalityIds,
    },
    { name: 'sort_order_id', type: types.int, reads: ['sortOrderId'], cell: (file) => file.sortOrderId },
    {
      name: 'readable_metrics',
      type: types.string,
      reads: metrics,
      cell: (file) => readableMetrics(file, readable),
    },
  ];
  return {
    fields: fieldsOf(columns),
    async *rows(isWanted, options) {
      if (snapshot === undefined) return;
      const wanted = new Set(columns.flatMap(({ name, reads = [] }) => (isWanted(name) ? reads : [])));
      const makeRow = rowMaker(columns, isWanted);
      for await (const files of liveFiles(table, snapshot, {
        ...options,
        specs,
        wanted,
        isWantedManifest: () => true,
      }))
        yield files.map(makeRow);
    },
  };
}

/** Of columns that the table has or had. */
function boundCells(
  bounds: ReadonlyMap<number, Uint8Array> | null,
  columnTypes: ReadonlyMap<number, PrimitiveType>,
): Cell {
  if (bounds === null) return null;
  const cells = new Map<number, string>();
  for (const [id, bound] of bounds) {
    const type = columnTypes.get(id);
    const text = type === undefined ? null : boundText(type, bound);
    if (text !== null) cells.set(id, text);
  }
  return cells;
}

interface ReadableColumn {
  readonly id: number;
  readonly type: PrimitiveType;
  /** The column's path, as a JSON text. */
  readonly key: string;
}

/** Columns of primitive types; those within structs by their path. */
function readableColumns(fields: readonly NestedField[], path = ''): readonly ReadableColumn[] {
  return fields.flatMap(({ id, name, type }) => {
    if (type.kind === 'struct') return readableColumns(type.fields, `${path}${name}.`);
    return isPrimitive(type) ? [{ id, type, key: JSON.stringify(`${path}${name}`) }] : [];
  });
}

/** A JSON text, by column. */
function readableMetrics(file: LiveFile, columns: readonly ReadableColumn[]): string {
  const entries = columns.map(
    ({ id, type, key }) =>
      `${key}:{"column_size":${count(file.columnSizes, id)},"value_count":${count(file.valueCounts, id)},` +
      `"null_value_count":${count(file.nullValueCounts, id)},"nan_value_count":${count(file.nanValueCounts, id)},` +
      `"lower_bound":${bound(file.lowerBounds, id, type)},"upper_bound":${bound(file.upperBounds, id, type)}}`,
  );
  return `{${entries.join(',')}}`;
}

function count(counts: ReadonlyMap<number, number> | null, id: number): string {
  return String(counts?.get(id) ?? null);
}

function bound(bounds: ReadonlyMap<number, Uint8Array> | null, id: number, type: PrimitiveType): string {
  const bytes = bounds?.get(id);
  const value = bytes === undefined ? undefined : decodeBinaryValue(type, bytes);
  if (value === undefined) return 'null';
  const json = printJsonValue(type, value);
  return isJsonNumber(json) ? String(json) : JSON.stringify(json);
}
