/** The one statement that runs a query and writes its rows as the files of a table. */
import { QueryError } from '@svc/base';
import { type NestedField, type PrimitiveType, parseTransform, type Transform } from '@svc/lake';
import { quoteIdentifier, quoteString, splitStatements } from '@svc/sql';
import { constantSql } from '../views/constant-sql.js';
import { engineType } from '../views/engine-type.js';
import { assertWritable, castSql, checkedSql, fieldIdsSql, sumOfBytes, valueBytes } from './column-sql.js';
import { partitionSql } from './partition-sql.js';
import type { TargetColumn, WriteTarget } from './write-target.js';

/** What compression is expected to make of rows; only where files are cut depends on it. */
const expectedCompression = 3;
/** The engine works on so many rows at a time: a smaller row group would not be. */
const vectorRows = 2048;
/** What a page of a fixed column should not be larger than. */
const fixedPageBytes = 16 * 2 ** 20;

export interface PlannedWrite {
  readonly sql: string;
  readonly partitions: readonly PlannedPartition[];
  /** Those that files have, in the order that `valueSql` counts in. */
  readonly columns: readonly PlannedColumn[];
}

export interface PlannedColumn {
  readonly field: NestedField;
  /** The engine's name of its type. */
  readonly type: string;
  /** The query's column alone, and its cast to the table's type: to find out which column cannot be cast. */
  readonly sourceSql: string;
  readonly castSql: string;
}

/** A partition field that files differ by, or one whose value is NULL in all (`void`). */
export interface PlannedPartition {
  readonly transform: Transform;
  readonly type: PrimitiveType;
  /** SQL of the partition value; `columnSql` is that of the table's column with a number. */
  readonly valueSql: (columnSql: (index: number) => string) => string;
}

/**
 * `COPY (…) TO '<directory>'` of the query's rows. Rows of a partitioned table are brought together by their partition
 * and counted there: each partition's file is written as one stream, few of them are open at a time, and a file's number
 * follows from the bytes before it. Folders are named by a digest: a value may be longer than a name, or NULL.
 * Throws NOT_SUPPORTED, EVALUATION_ERROR and INVALID_ARGUMENT of a target that cannot be written.
 */
export function planWrite(query: string, target: WriteTarget, directory: string): PlannedWrite {
  const columns = target.columns.filter(({ field }) => field.type.kind !== 'unknown');
  assertTarget(columns);
  const partitions = target.partitions.map(({ sourceId, transform }) =>
    plannedPartition(columns, sourceId, parseTransform(transform)),
  );
  const keys = partitions.filter(({ transform }) => transform.kind !== 'void');
  const fields = columns.map(({ field }) => field);
  const { rows, planned } = checkedRows(query, columns);
  const named = fields.map((field, index) => `y${index} AS ${quoteIdentifier(field.name)}`);
  const options = [
    'FORMAT parquet',
    `COMPRESSION ${target.codec}`,
    `ROW_GROUP_SIZE ${Math.min(target.rowGroupRows, fixedRows(fields))}`,
    `FIELD_IDS ${fieldIdsSql(fields)}`,
    'RETURN_STATS',
  ];
  if (keys.length === 0)
    return {
      partitions,
      columns: planned,
      sql: copySql(`SELECT ${named.join(', ')} FROM (${rows})`, directory, [
        ...options,
        `FILE_SIZE_BYTES ${target.targetFileBytes}`,
        'WRITE_EMPTY_FILE false',
      ]),
    };
  const names = keyNames(fields);
  const values = keys.map((key, index) => `${key.valueSql((column) => `y${column}`)} AS p${index}`);
  const keyed = `SELECT *, ${values.join(', ')} FROM (${rows})`;
  const partition = `PARTITION BY ${keys.map((_key, index) => `p${index}`).join(', ')}`;
  const counted = `SELECT *, ${fileNumberSql(fields, target.targetFileBytes, partition)} AS n FROM (${keyed})`;
  const digest = `md5(concat(${keys.map((_key, index) => encodedSql(`p${index}`)).join(', ')}))`;
  const final = `SELECT ${[...named, `${digest} AS ${names.partition}`, `n AS ${names.file}`].join(', ')} FROM (${counted})`;
  return {
    partitions,
    columns: planned,
    sql: copySql(final, directory, [
      ...options,
      `PARTITION_BY (${names.partition}, ${names.file})`,
      'WRITE_PARTITION_COLUMNS false',
    ]),
  };
}

/**
 * Rows of a row group by the longest fixed column: its pages are converted in memory (conformDataFiles of @svc/lake), and the
 * engine makes one for a row group.
 */
function fixedRows(fields: readonly NestedField[]): number {
  const longest = Math.max(0, ...fields.map(({ type }) => (type.kind === 'fixed' ? type.length : 0)));
  return longest === 0
    ? Number.POSITIVE_INFINITY
    : Math.max(vectorRows, Math.floor(fixedPageBytes / longest));
}

function copySql(select: string, directory: string, options: readonly string[]): string {
  return `COPY (${select}) TO ${quoteString(directory)} (${options.join(', ')})`;
}

/** The table's columns of the query's rows, as `y0`, `y1`, …: cast and checked. */
function checkedRows(
  query: string,
  columns: readonly TargetColumn[],
): { readonly rows: string; readonly planned: readonly PlannedColumn[] } {
  const from = `FROM (\n${withoutSemicolon(query)}\n)`;
  const sources = columns.map(({ field, position }, index) =>
    position === undefined ? `${leftOutSql(field)} AS s${index}` : `#${position + 1} AS s${index}`,
  );
  const casts = columns.map(({ field }, index) => castSql(field, `s${index}`));
  const checks = columns.map(
    ({ field }, index) => `${checkedSql(field, `s${index}`, `x${index}`)} AS y${index}`,
  );
  const castList = casts.map((cast, index) => `s${index}, ${cast} AS x${index}`).join(', ');
  return {
    rows: `SELECT ${checks.join(', ')} FROM (SELECT ${castList} FROM (SELECT ${sources.join(', ')} ${from}))`,
    planned: columns.map(({ field }, index) => {
      const sourceSql = `SELECT ${sources[index] ?? ''} ${from}`;
      return {
        field,
        type: engineType(field.type),
        sourceSql,
        castSql: `SELECT ${casts[index] ?? ''} FROM (${sourceSql})`,
      };
    }),
  };
}

/** What a row has in a column that the statement leaves out. Throws UNSUPPORTED_TABLE_FEATURE. */
export function leftOutSql({ writeDefault, type }: NestedField): string {
  return constantSql(plainDefault(writeDefault), type);
}

/** Numbers of metadata keep their digits in an object. */
function plainDefault(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'isLosslessNumber' in value ? String(value) : value;
}

function withoutSemicolon(query: string): string {
  const [only, second] = splitStatements(query);
  if (only === undefined || second !== undefined)
    throw new QueryError('INTERNAL_ERROR', 'A fragment that writes has exactly one query.');
  return only.sql;
}

function assertTarget(columns: readonly TargetColumn[]): void {
  const names = new Set<string>();
  if (columns.length === 0)
    throw new QueryError(
      'NOT_SUPPORTED',
      'A table without a column whose values are stored cannot be written.',
    );
  for (const { field, position } of columns) {
    assertWritable(field);
    const name = field.name.toLowerCase();
    if (names.has(name))
      throw new QueryError(
        'NOT_SUPPORTED',
        `Column ${JSON.stringify(field.name)} cannot be written: another column of the table differs from it only by case.`,
      );
    names.add(name);
    if (position === undefined && field.required && (field.writeDefault ?? null) === null)
      throw new QueryError(
        'EVALUATION_ERROR',
        `Column ${JSON.stringify(field.name)} must not be null, but the statement gives it no value.`,
      );
  }
}

function plannedPartition(
  columns: readonly TargetColumn[],
  sourceId: number,
  transform: Transform,
): PlannedPartition {
  const fields = columns.map(({ field }) => field);
  const source = findSource(fields, sourceId);
  if (source === undefined) {
    // The column of a dropped field may be gone: its transform is void then.
    if (transform.kind === 'void')
      return { transform, type: { kind: 'int' }, valueSql: () => 'CAST(NULL AS INTEGER)' };
    throw new QueryError('INVALID_ARGUMENT', `The table has no column ${sourceId} to be partitioned by.`);
  }
  const valueSql = (columnSql: (index: number) => string) =>
    partitionSql(transform, source.type, source.sqlWithin(columnSql(source.column)));
  // What the transform does not take is said before anything runs.
  valueSql(String);
  return { transform, type: source.type, valueSql };
}

interface PartitionSource {
  /** Number of the column. */
  readonly column: number;
  readonly type: PrimitiveType;
  readonly sqlWithin: (column: string) => string;
}

/** A field of a primitive type, at the top or within structs. */
function findSource(fields: readonly NestedField[], id: number): PartitionSource | undefined {
  for (const [column, field] of fields.entries()) {
    const source = findWithin(field, id, (value) => value);
    if (source !== undefined) return { column, ...source };
  }
  return undefined;
}

function findWithin(
  { id: own, type }: NestedField,
  id: number,
  sqlWithin: PartitionSource['sqlWithin'],
): Omit<PartitionSource, 'column'> | undefined {
  if (type.kind === 'list' || type.kind === 'map') return undefined;
  if (type.kind !== 'struct') return own === id ? { type, sqlWithin } : undefined;
  for (const field of type.fields) {
    const source = findWithin(
      field,
      id,
      (column) => `struct_extract(${sqlWithin(column)}, ${quoteString(field.name)})`,
    );
    if (source !== undefined) return source;
  }
  return undefined;
}

/** Names of the two folders' columns, which are none of the table's. */
function keyNames(fields: readonly NestedField[]): { readonly partition: string; readonly file: string } {
  const taken = new Set(fields.map((field) => field.name.toLowerCase()));
  let suffix = '';
  while (taken.has(`p${suffix}`) || taken.has(`n${suffix}`)) suffix += '_';
  return { partition: quoteIdentifier(`p${suffix}`), file: quoteIdentifier(`n${suffix}`) };
}

/** Which of its partition's files a row goes to, from the rows and bytes that come before it. */
function fileNumberSql(fields: readonly NestedField[], targetFileBytes: number, partition: string): string {
  const bytes = sumOfBytes(fields.map((field, index) => valueBytes(field.type, `y${index}`)));
  const fileBytes = targetFileBytes * expectedCompression;
  // Counting rows costs a third of adding up their bytes.
  if (typeof bytes === 'number')
    return `(row_number() OVER (${partition}) - 1) // ${Math.max(1, Math.floor(fileBytes / Math.max(1, bytes)))}`;
  return `CAST(sum(CAST(${bytes} AS DOUBLE)) OVER (${partition} ROWS UNBOUNDED PRECEDING) // ${fileBytes} AS BIGINT)`;
}

/** Different values never become the same text, one behind the other. */
function encodedSql(value: string): string {
  const text = `CAST(${value} AS VARCHAR)`;
  return `CASE WHEN ${value} IS NULL THEN 'n' ELSE strlen(${text}) || ':' || ${text} END`;
}
