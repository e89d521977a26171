/** Plans the scan of a Delta table: files are left out by partition values and statistics of the log. */
import { QueryError } from '@svc/base';
import type { ScanRequest } from '@svc/sql';
import { createPacer } from '../iceberg/avro/pacer.js';
import { type BoundFilter, bindFilters } from '../iceberg/expressions/bind-filter.js';
import { type ColumnSummary, predicateMightHold } from '../iceberg/expressions/column-predicate.js';
import { filterMightHold } from '../iceberg/expressions/evaluate-filter.js';
import { checkReadableColumns } from '../iceberg/scan/readable-columns.js';
import { printJsonValue } from '../iceberg/spec/json-value.js';
import type { JsonValue } from '../iceberg/spec/lossless-json.js';
import { isPrimitive } from '../iceberg/spec/type-text.js';
import type { NestedField } from '../iceberg/spec/types.js';
import { isNaNValue, type PrimitiveValue, toComparable } from '../iceberg/spec/values.js';
import type { FooterCache } from '../parquet/footer-cache.js';
import { planDataFiles } from '../scan/plan-data-files.js';
import { RowCounter } from '../scan/row-counter.js';
import { bindUse } from '../scan/row-use.js';
import type { TableScan } from '../scan/table-scan.js';
import type { AddedFile } from './log/actions.js';
import { dataLocation } from './table/data-path.js';
import { deletedRowsOf } from './table/deleted-rows-of.js';
import type { DeltaTable } from './table/delta-table.js';
import {
  type FileStatistics,
  parseStatistics,
  recordCountOf,
  summariseColumn,
} from './table/file-statistics.js';
import { matchDeltaFile } from './table/match-delta-file.js';
import { parsePartitionValue } from './table/parse-value.js';

export interface PlanDeltaScanOptions {
  /** For messages. */
  readonly tableName: string;
  readonly footers: FooterCache;
  readonly signal?: AbortSignal | undefined;
}

/** Files looked at before other work of the process gets its turn. */
const filesPerSlice = 500;

/**
 * Throws UNSUPPORTED_TABLE_FEATURE for a column of a type that is not read, DATA_CORRUPT naming the log file of a
 * partition value, path or deletion vector that cannot be, and what planning data files throws.
 */
export async function planDeltaScan(
  table: DeltaTable,
  request: ScanRequest,
  { tableName, footers, signal }: PlanDeltaScanOptions,
): Promise<TableScan> {
  const { columns, store, location } = table;
  checkReadableColumns({ schemaId: 0, fields: columns, identifierFieldIds: [] }, request.columns, tableName);
  const filter = bindFilters(request.filters, columns);
  const planned: PlannedFile[] = [];
  const pacer = createPacer(filesPerSlice, signal);
  for (const file of table.files) {
    if (pacer.spend(1)) await pacer.pause();
    const partition = partitionOf(table, file);
    if (!isAllDeleted(file) && fileMightMatch(table, filter, file, partition))
      planned.push({ file, partition });
  }
  const use = bindUse(request, columns);
  const counter = use && new RowCounter(use);
  const { groups, counts } = await planDataFiles(
    planned.map(({ file, partition }) => ({
      location: dataLocation(location, file.path, file.source),
      sizeBytes: file.sizeBytes,
      partitionValues: jsonValues(table.partitionFields, partition),
      deletedRows: deletedRowsOf(file, location),
    })),
    {
      store,
      footers,
      fields: columns,
      request,
      filter,
      match: (schema, fileLocation) => matchDeltaFile(table, schema, fileLocation),
      use,
      counter,
      signal,
    },
  );
  const counted = counter?.counted(columns);
  return {
    tableName,
    tableUuid: table.uuid,
    snapshotId: BigInt(table.version),
    columns,
    groups,
    ...(counted && { counted }),
    counts: {
      ...counts,
      manifestsTotal: table.logFileCount,
      manifestsRead: table.logFileCount,
      filesTotal: table.files.length,
      filesPruned: table.files.length - counts.filesPlanned,
      bytesTotal: table.sizeBytes,
    },
  };
}

type Partition = ReadonlyMap<number, PrimitiveValue | null>;

interface PlannedFile {
  readonly file: AddedFile;
  readonly partition: Partition;
}

/** Values by field id; a column that the log leaves out is NULL. */
function partitionOf({ partitionFields, physicalNames }: DeltaTable, file: AddedFile): Partition {
  const partition = new Map<number, PrimitiveValue | null>();
  for (const { id, name, type } of partitionFields) {
    const text = file.partitionValues.get(physicalNames.get(id) ?? name) ?? null;
    const value = text === null ? null : isPrimitive(type) ? parsePartitionValue(type, text) : undefined;
    if (value === undefined)
      throw new QueryError(
        'DATA_CORRUPT',
        `${file.source}: the file ${file.path} has the partition value ${JSON.stringify(text?.slice(0, 100))}, which is no value of column ${name}.`,
      );
    partition.set(id, value);
  }
  return partition;
}

function fileMightMatch(
  table: DeltaTable,
  filter: BoundFilter,
  file: AddedFile,
  partition: Partition,
): boolean {
  // Statistics are parsed when the first condition asks for them; null: there are none.
  let statistics: FileStatistics | null | undefined;
  return filterMightHold(filter, ({ fieldId, type, predicate }) => {
    const value = partition.get(fieldId);
    if (value !== undefined) return predicateMightHold(predicate, summaryOfValue(value));
    statistics ??= parseStatistics(file.statistics, file.source) ?? null;
    const path = table.physicalPaths.get(fieldId);
    if (statistics === null || path === undefined) return true;
    const boundsAreOfType = !table.changedTypes.has(fieldId);
    return predicateMightHold(predicate, summariseColumn(statistics, path, type, boundsAreOfType));
  });
}

function summaryOfValue(value: PrimitiveValue | null): ColumnSummary {
  const isNotANumber = value !== null && isNaNValue(value);
  const bound = value === null || isNotANumber ? undefined : toComparable(value);
  return {
    lower: bound,
    upper: bound,
    mayHaveNull: value === null,
    mayHaveNaN: isNotANumber,
    mayHaveValue: value !== null,
  };
}

function isAllDeleted({ statistics, deletionVector }: AddedFile): boolean {
  const rows = recordCountOf(statistics);
  return rows !== undefined && (rows === 0 || rows === deletionVector?.cardinality);
}

function jsonValues(fields: readonly NestedField[], partition: Partition): ReadonlyMap<number, JsonValue> {
  const values = new Map<number, JsonValue>();
  for (const { id, type } of fields)
    if (isPrimitive(type)) values.set(id, printJsonValue(type, partition.get(id) ?? null));
  return values;
}
