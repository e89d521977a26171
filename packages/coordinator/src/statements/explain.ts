import type { FileToRead, FragmentFiles, FragmentTable } from '@svc/fragment-fn';
import { displayLocation } from '@svc/lake';
import type { ScanFilter, ScanRequest } from '@svc/sql';
import { type TextAnswer, textAnswer } from '../results/text-answer.js';
import {
  type AnalyzedRun,
  analyzedLines,
  type ExplainedStages,
  oneLine,
  stageLines,
} from './explain-stages.js';
import { filterText } from './filter-text.js';

export interface ExplainedScan {
  readonly table: FragmentTable;
  readonly request: ScanRequest;
  /** Columns by whose keys less of the table will be read, and where these come from. */
  readonly keys: readonly ExplainedKeys[];
}

export interface ExplainedKeys {
  readonly column: string;
  /** Its table and column. */
  readonly source: string;
}

export interface Explained {
  readonly scans: readonly ExplainedScan[];
  /** Why filters and columns could not be taken from the plan, when they could not. */
  readonly withoutPushdown: string | undefined;
  /** Nothing is computed and no row left out. */
  readonly isWholeColumns: boolean;
  readonly sql: string;
  /** Why it runs here, where there is another place. */
  readonly hereReason: string | undefined;
  /** Absent: it runs here. */
  readonly stages: ExplainedStages | undefined;
  /** Of EXPLAIN ANALYZE. */
  readonly run: AnalyzedRun | undefined;
}

/** EXPLAIN: what will be read and why, as lines of text. Nothing of the data is in it. */
export function answerExplain(explained: Explained): TextAnswer {
  const lines = [
    ...(explained.run === undefined ? [] : analyzedLines(explained.run)),
    ...(explained.stages === undefined
      ? [
          `Runs on one node as one fragment${explained.hereReason === undefined ? '' : `: ${explained.hereReason}`}`,
        ]
      : stageLines(explained.stages)),
    ...(explained.isWholeColumns
      ? [
          'Answers whole columns: pages go from Parquet to Arrow without the engine, where their encodings allow it',
        ]
      : []),
    ...explained.scans.flatMap(scanLines),
    ...(explained.withoutPushdown === undefined ? [] : [`Pushdown: none (${explained.withoutPushdown})`]),
    ...(explained.scans.length === 0 ? ['Reads no table'] : []),
    `SQL: ${oneLine(explained.sql)}`,
  ];
  return textAnswer(
    [{ name: 'plan', isNullable: false }],
    lines.map((line) => [line]),
  );
}

function scanLines({ table, request, keys }: ExplainedScan): readonly string[] {
  if (table.kind === 'rows')
    return [
      `Rows of ${table.catalog}.${table.schema.trim()}.${table.table}, made by the coordinator`,
      `  columns: ${columnText(request, table.columns.length)}`,
      `  filters: ${filtersText(request)}`,
      `  bytes: ${table.rows.byteLength}`,
    ];
  if (table.kind === 'files') return fileLines(table, request);
  if (table.kind === 'input')
    return [
      `Rows of ${table.catalog}.${table.schema}.${table.table}, of an earlier stage`,
      `  columns: ${columnText(request, table.columns.length)}`,
    ];
  const { counts, columns, counted, snapshotId, tableName } = table.scan;
  const deleteFiles = counts.deleteFilesPlanned ?? 0;
  const vectors = table.scan.groups
    .flatMap(({ files }) => files)
    .filter((file) => file.deletedRows !== undefined).length;
  const snapshot = snapshotId === undefined ? 'no snapshot' : `snapshot ${snapshotId}`;
  return [
    `Scan ${tableName} (${snapshot})`,
    `  columns: ${columnText(request, columns.length)}`,
    `  filters: ${filtersText(request)}`,
    `  manifests: ${counts.manifestsRead} of ${counts.manifestsTotal} read`,
    `  files: ${counts.filesPlanned} of ${counts.filesTotal} planned, ${counts.filesPruned} pruned`,
    ...(deleteFiles + vectors === 0
      ? []
      : [`  row-level deletes: ${deleteFiles} delete files, ${vectors} files with deletion vectors`]),
    `  row groups: ${counts.rowGroupsPlanned} of ${counts.rowGroupsTotal} planned, ${counts.rowGroupsPrunedByStatistics} pruned by statistics, ${counts.rowGroupsPrunedByBloom} by bloom filters`,
    `  bytes: ${counts.bytesPlanned} of ${counts.bytesTotal} planned`,
    ...keys.map(({ column, source }) => `  less when it runs: ${column} among the keys of ${source}`),
    ...(counted === undefined ? [] : [`  rows answered by metadata: ${counted.rowCount}`]),
  ];
}

/** Files on this machine are the engine's own affair; of others it is said what is fetched. */
function fileLines(table: FragmentFiles, request: ScanRequest): readonly string[] {
  return [
    'Files',
    ...table.files.map(fileLine),
    `  columns: ${columnText(request, table.columns.length)}`,
    `  filters: ${filtersText(request)}`,
  ];
}

function fileLine(file: FileToRead): string {
  switch (file.kind) {
    case 'in-place':
      return `  ${file.path}: read in place`;
    case 'whole':
      return `  ${displayLocation(file.object.location)}: fetched whole, ${file.object.sizeBytes} bytes`;
    case 'chunks': {
      const { location, selectedBytes, sizeBytes, rowGroups } = file.scan;
      const groups = rowGroups === undefined ? 'all' : String(rowGroups.length);
      return `  ${displayLocation(location)}: ${selectedBytes} of ${sizeBytes} bytes planned, ${groups} row groups`;
    }
  }
}

function filtersText({ filters }: ScanRequest): string {
  return filters.length === 0
    ? 'none'
    : filters.map((filter: ScanFilter) => filterText(filter)).join(' AND ');
}

function columnText(request: ScanRequest, total: number): string {
  if (request.columns === undefined) return `all ${total}`;
  if (request.columns.length === 0) return `none of ${total} (row count only)`;
  return `${request.columns.map((path) => path.join('.')).join(', ')} (of ${total})`;
}
