/** Metrics of a data file (specification, "Manifests", `data_file`) from its footer. */
import { QueryError } from '@svc/base';
import type { DataFileMetrics } from '../iceberg/manifests/write-manifest.js';
import type { NestedField, PrimitiveType, Schema } from '../iceberg/spec/types.js';
import { isAgreedUuidRange, isFloating } from '../iceberg/spec/values.js';
import type { MetricsMode } from '../iceberg/write/metrics-modes.js';
import { displayLocation } from '../storage/display-location.js';
import { summariseChunk } from './chunk-summary.js';
import { type BoundSide, fileBound } from './column-bounds.js';
import { type ColumnChunk, readColumnChunk } from './column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from './footer.js';

/** Counts by field id that the file's writer knows and its footer may not say. */
export interface WriterCounts {
  readonly nullValueCounts?: ReadonlyMap<number, number>;
  /** Of float and double columns. */
  readonly nanValueCounts?: ReadonlyMap<number, number>;
}

export interface MeasuredColumn {
  readonly id: number;
  /** The leaf's number in the file. */
  readonly column: number;
  /** `undefined` inside lists and maps, whose values are not the rows': only their size is told. */
  readonly type: PrimitiveType | undefined;
  readonly mode: MetricsMode;
}

/**
 * Of a file that was written under `schema`. Throws DATA_CORRUPT when its columns do not have the schema's field ids, by
 * which every reader would look for them.
 */
export function dataFileMetrics(
  footer: ParquetFooter,
  schema: Schema,
  modes: ReadonlyMap<number, MetricsMode>,
  counts: WriterCounts = {},
): DataFileMetrics {
  const types = singleColumnTypes(schema.fields);
  const columns: MeasuredColumn[] = [];
  for (const { fieldId, column, name } of footer.schema.leaves) {
    const mode = fieldId === undefined ? undefined : modes.get(fieldId);
    if (fieldId === undefined || mode === undefined)
      throw new QueryError(
        'DATA_CORRUPT',
        `Column ${JSON.stringify(name)} of ${displayLocation(footer.location)} has ${fieldId === undefined ? 'no field id' : `the field id ${fieldId}, which is no column's of the table`}.`,
      );
    columns.push({ id: fieldId, column, type: types.get(fieldId), mode });
  }
  return measureColumns(footer, columns, counts);
}

/** A count or bound that is not known with certainty is left out. */
export function measureColumns(
  footer: ParquetFooter,
  columns: readonly MeasuredColumn[],
  counts: WriterCounts = {},
): DataFileMetrics {
  const rowGroups = rowGroupsWithRows(footer);
  const metrics: MutableMetrics = {
    recordCount: footer.rowCount,
    columnSizes: new Map(),
    valueCounts: new Map(),
    nullValueCounts: new Map(),
    nanValueCounts: new Map(),
    lowerBounds: new Map(),
    upperBounds: new Map(),
    splitOffsets: rowGroups.map((rowGroup) => rowGroupStart(footer, rowGroup)).sort((a, b) => a - b),
  };
  for (const column of columns) {
    const chunks = rowGroups.map((rowGroup) => readColumnChunk(footer, rowGroup, column.column));
    metrics.columnSizes.set(column.id, sum(chunks.map((chunk) => chunk.end - chunk.start)));
    if (column.type === undefined || column.mode.kind === 'none') continue;
    addCounts(metrics, column, column.type, chunks, counts);
    if (column.mode.kind !== 'counts') addBounds(metrics, column, column.type, chunks, footer);
  }
  return metrics;
}

/** The types of all columns that have one value in a row, by field id: those inside structs too. */
export function singleColumnTypes(
  fields: readonly NestedField[],
  into: Map<number, PrimitiveType> = new Map(),
): ReadonlyMap<number, PrimitiveType> {
  for (const { id, type } of fields) {
    if (type.kind === 'struct') singleColumnTypes(type.fields, into);
    else if (type.kind !== 'list' && type.kind !== 'map') into.set(id, type);
  }
  return into;
}

interface MutableMetrics extends DataFileMetrics {
  readonly columnSizes: Map<number, number>;
  readonly valueCounts: Map<number, number>;
  readonly nullValueCounts: Map<number, number>;
  readonly nanValueCounts: Map<number, number>;
  readonly lowerBounds: Map<number, Uint8Array>;
  readonly upperBounds: Map<number, Uint8Array>;
}

function addCounts(
  metrics: MutableMetrics,
  { id }: MeasuredColumn,
  type: PrimitiveType,
  chunks: readonly ColumnChunk[],
  counts: WriterCounts,
): void {
  metrics.valueCounts.set(id, sum(chunks.map((chunk) => chunk.valueCount)));
  const nulls = known(chunks.map((chunk) => chunk.statistics.nullCount)) ?? counts.nullValueCounts?.get(id);
  if (nulls !== undefined) metrics.nullValueCounts.set(id, nulls);
  if (!isFloating(type)) return;
  const nans = known(chunks.map((chunk) => chunk.statistics.nanCount)) ?? counts.nanValueCounts?.get(id);
  if (nans !== undefined) metrics.nanValueCounts.set(id, nans);
}

function addBounds(
  metrics: MutableMetrics,
  { id, column, mode }: MeasuredColumn,
  type: PrimitiveType,
  chunks: readonly ColumnChunk[],
  footer: ParquetFooter,
): void {
  const leaf = footer.schema.leaves[column];
  if (leaf === undefined) return;
  const isOrdered = footer.hasTypeDefinedOrder[column] === true;
  const summaries = chunks
    .map((chunk) => summariseChunk(type, leaf, chunk, isOrdered))
    .filter((summary) => summary.mayHaveValue);
  const maxLength = mode.kind === 'truncate' ? mode.length : Number.POSITIVE_INFINITY;
  const boundOf = (side: BoundSide): Uint8Array | undefined =>
    fileBound(
      type,
      side,
      summaries.map((summary) => summary[side]),
      maxLength,
    );
  const [lower, upper] = [boundOf('lower'), boundOf('upper')];
  if (type.kind === 'uuid' && !(lower && upper && isAgreedUuidRange(lower, upper))) return;
  if (lower !== undefined) metrics.lowerBounds.set(id, lower);
  if (upper !== undefined) metrics.upperBounds.set(id, upper);
}

/** Where the first chunk of the row group begins. */
function rowGroupStart(footer: ParquetFooter, rowGroup: number): number {
  return footer.schema.leaves.reduce(
    (start, leaf) => Math.min(start, readColumnChunk(footer, rowGroup, leaf.column).start),
    Number.POSITIVE_INFINITY,
  );
}

/** The sum, when every part is known. */
function known(counts: readonly (number | undefined)[]): number | undefined {
  const parts = counts.filter((count) => count !== undefined);
  return parts.length === counts.length ? sum(parts) : undefined;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
