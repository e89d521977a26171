import { QueryError } from '@svc/base';
import type { LoadedTable } from '../../catalogs/catalog.js';
import type { TypedPartitionSpec } from '../manifests/data-file.js';
import { typedPartitionSpecs } from '../scan/partition-types.js';
import type { ResolvedSnapshot } from '../scan/resolve-snapshot.js';
import type { PartitionSpec } from '../spec/partition-spec.js';
import { isPrimitive } from '../spec/type-text.js';
import type { NestedField, PrimitiveType } from '../spec/types.js';
import { ColumnTotals } from './column-totals.js';
import type { SeldomField } from './file-entries.js';
import { type LiveFile, liveFiles } from './live-files.js';
import {
  type Cell,
  fieldsOf,
  type MetadataColumn,
  type MetadataTable,
  rowMaker,
  structOf,
  types,
} from './metadata-table.js';
import { partitionColumn } from './partition-column.js';

/** The data files of one partition taken together. */
interface PartitionTotals {
  readonly partition: readonly Cell[];
  recordCount: number;
  fileCount: number;
  sizeBytes: number;
  /** One per column of `data`. */
  readonly columns: readonly ColumnTotals[];
}

interface DataColumn {
  readonly id: number;
  readonly name: string;
  readonly type: PrimitiveType;
}

/** Partitions and the totals of their columns, all together: as many take some 200 MB. */
const maxTotals = 1_000_000;

const statistics: readonly SeldomField[] = [
  'valueCounts',
  'nullValueCounts',
  'nanValueCounts',
  'lowerBounds',
  'upperBounds',
];

/** The partitions of a snapshot by its data files: rows that were deleted from them are counted. */
export function partitionsTable(table: LoadedTable, { snapshot, schema }: ResolvedSnapshot): MetadataTable {
  const { metadata } = table;
  const specs = typedPartitionSpecs(metadata, schema);
  const partition = partitionColumn(specs);
  const dataColumns = columnsBesidePartitions(schema.fields, specs.get(metadata.defaultSpecId)?.spec);
  const columns: readonly MetadataColumn<PartitionTotals>[] = [
    ...(partition === undefined
      ? []
      : [{ name: 'partition', type: partition.type, cell: (each: PartitionTotals) => each.partition }]),
    { name: 'record_count', type: types.long, cell: (each) => each.recordCount },
    { name: 'file_count', type: types.long, cell: (each) => each.fileCount },
    { name: 'total_size', type: types.long, cell: (each) => each.sizeBytes },
    ...(dataColumns.length === 0
      ? []
      : [
          {
            name: 'data',
            type: structOf(
              dataColumns.map(({ id, name, type }) => ({ id, name, type: statisticsType(type) })),
            ),
            cell: (each: PartitionTotals) => each.columns.map((totals) => totals.cell()),
          },
        ]),
  ];
  return {
    fields: fieldsOf(columns),
    async *rows(isWanted, options) {
      if (snapshot === undefined) return;
      const read = isWanted('data') ? dataColumns : [];
      const partitions = new Map<string, PartitionTotals>();
      const files = liveFiles(table, snapshot, {
        ...options,
        specs,
        wanted: new Set(read.length === 0 ? [] : statistics),
        isWantedManifest: ({ content }) => content === 'data',
      });
      for await (const piece of files)
        for (const file of piece) {
          const key = partitionKey(file);
          const totals = partitions.get(key) ?? newTotals(file, partition?.cell, read);
          partitions.set(key, totals);
          if (partitions.size * (2 + read.length) > maxTotals) throw tooMany(partitions.size, read.length);
          addFile(totals, file);
        }
      const makeRow = rowMaker(columns, isWanted);
      for (const totals of partitions.values()) yield [makeRow(totals)];
    },
  };
}

function tooMany(partitions: number, columns: number): QueryError {
  const of = columns === 0 ? '' : ` with ${columns} columns each`;
  const hint = columns === 0 ? '' : ' Leave out the column "data".';
  return new QueryError(
    'RESULT_TOO_LARGE',
    `The table has more than ${partitions - 1} partitions${of}, which are not taken together at once.${hint}`,
  );
}

/** Columns whose values are not those of the partition anyway. */
function columnsBesidePartitions(
  fields: readonly NestedField[],
  spec: PartitionSpec | undefined,
): readonly DataColumn[] {
  const identities = new Set(
    spec?.fields.flatMap(({ transform, sourceIds }) => (transform === 'identity' ? sourceIds : [])),
  );
  return fields.flatMap(({ id, name, type }) =>
    isPrimitive(type) && type.kind !== 'unsupported' && !identities.has(id) ? [{ id, name, type }] : [],
  );
}

function statisticsType(type: PrimitiveType) {
  return structOf([
    { name: 'min', type },
    { name: 'max', type },
    { name: 'null_count', type: types.long },
    { name: 'nan_count', type: types.long },
  ]);
}

/** The same values under another spec are another partition. */
function partitionKey({ partitionSpec: { spec }, partition }: LiveFile): string {
  const values = partition.map((value) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : `${typeof value} ${String(value)}`,
  );
  return JSON.stringify([spec.specId, values]);
}

function newTotals(
  { partitionSpec, partition }: LiveFile,
  cell: ((spec: TypedPartitionSpec, values: LiveFile['partition']) => readonly Cell[]) | undefined,
  columns: readonly DataColumn[],
): PartitionTotals {
  return {
    partition: cell?.(partitionSpec, partition) ?? [],
    recordCount: 0,
    fileCount: 0,
    sizeBytes: 0,
    columns: columns.map(({ id, type }) => new ColumnTotals(id, type)),
  };
}

function addFile(totals: PartitionTotals, file: LiveFile): void {
  totals.recordCount += file.recordCount;
  totals.fileCount += 1;
  totals.sizeBytes += file.sizeBytes;
  for (const column of totals.columns) column.add(file);
}
