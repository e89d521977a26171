/**
 * A fragment that writes: the query runs in an engine host like any other, and its rows become Parquet files in the
 * lease's output folder. They are the caller's for as long as `take` runs; what is not moved away by then is gone.
 */
import { randomUUID } from 'node:crypto';
import { QueryError, throwIfAborted } from '@svc/base';
import {
  collectRows,
  type EngineLease,
  type EngineProfile,
  type ResultRow,
  readArrowSchema,
  type StatementDescription,
} from '@svc/engine';
import { conformDataFiles, type NestedField, type PrimitiveValue } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import {
  bindTables,
  type FragmentEnvironment,
  type FragmentOptions,
  fragmentStatistics,
  type LeasedFragment,
  onLease,
  type StagedTable,
  stagedGroups,
  stageTables,
} from '../leased-fragment.js';
import { namingOriginalFiles } from '../original-files.js';
import type { FragmentStatistics } from '../request.js';
import { type PlannedWrite, planWrite } from './copy-sql.js';
import { assertPartitionValue, partitionValue } from './partition-sql.js';
import { assertNoFieldIsLost, hasStructs } from './struct-fields.js';
import type { WriteRequest, WriteTarget } from './write-target.js';

export interface WriteOptions extends FragmentOptions {
  /** Makes what the query reads beside its tables: on the host, before the query is looked at. */
  readonly fill?: (lease: EngineLease, signal: AbortSignal) => Promise<void>;
  /** Moves the files away. What it throws is what `writeFragment` throws; `signal` aborts at the fragment's time limit. */
  take(files: readonly WrittenFile[], signal: AbortSignal): Promise<void>;
}

/** A Parquet file with at least one row. */
export interface WrittenFile {
  /** In the lease's output folder. */
  readonly path: string;
  readonly rowCount: number;
  readonly sizeBytes: number;
  /** What all its rows have after the transforms, in the order of the target's partition fields. */
  readonly partition: readonly (PrimitiveValue | null)[];
  /** By field id, of the float and double columns of which the writer knows: whether a NaN is among their values. */
  readonly hasNan: ReadonlyMap<number, boolean>;
}

export interface WrittenFragment {
  readonly files: readonly Omit<WrittenFile, 'path'>[];
  readonly rowCount: bigint;
  /** `rowsReturned` are the rows written. */
  readonly statistics: FragmentStatistics;
}

/** Bounds what the engine says of the files it has written: some kilobytes for each. */
const maxAnswerBytes = 512 * 2 ** 20;

/**
 * Runs the request's query and writes its rows. Throws QueryError: EVALUATION_ERROR naming the column of a row that the
 * table cannot have, NOT_SUPPORTED and INVALID_ARGUMENT of a target that cannot be written, DISK_FULL, and all that
 * `runFragment` throws. However it ends, no host is held and no file is left.
 */
export async function writeFragment(
  request: WriteRequest,
  environment: FragmentEnvironment,
  options: WriteOptions,
): Promise<WrittenFragment> {
  return await onLease(request, environment, options, async (fragment) => {
    try {
      return await writeOnLease(fragment, request.target, options);
    } finally {
      fragment.link[Symbol.dispose]();
      await fragment.lease.release();
    }
  });
}

async function writeOnLease(
  fragment: LeasedFragment,
  target: WriteTarget,
  options: WriteOptions,
): Promise<WrittenFragment> {
  const { request, link, lease } = fragment;
  // Never the same path twice: the engine keeps what it has read of a file by its path.
  const plan = planWrite(request.sql, target, `${lease.outputDirectory}/${randomUUID()}`);
  const stagingStart = performance.now();
  const staged = await stageTables(fragment);
  await options.fill?.(lease, link.signal);
  const engineStart = performance.now();
  const { files: written, profile } = await runPlan(fragment, staged, plan, target).catch(
    (error: unknown) => {
      throwIfAborted(link.signal);
      throw namingOriginalFiles(error, stagedGroups(staged));
    },
  );
  const files = await conformFiles(written, target, link.signal);
  const engineMs = performance.now() - engineStart;
  await options.take(files, link.signal);
  const rowCount = files.reduce((sum, file) => sum + BigInt(file.rowCount), 0n);
  const times = { stagingMs: engineStart - stagingStart, engineMs };
  return {
    files: files.map(({ path: _path, ...file }) => file),
    rowCount,
    statistics: { ...fragmentStatistics(staged, profile, times), rowsReturned: rowCount },
  };
}

async function conformFiles(
  files: readonly WrittenFile[],
  { columns }: WriteTarget,
  signal: AbortSignal,
): Promise<readonly WrittenFile[]> {
  const fields = columns.map(({ field }) => field);
  const sizes = await conformDataFiles(files, fields, signal);
  return files.map((file, index) => ({ ...file, sizeBytes: sizes[index] ?? file.sizeBytes }));
}

async function runPlan(
  fragment: LeasedFragment,
  staged: readonly StagedTable[],
  plan: PlannedWrite,
  target: WriteTarget,
): Promise<{ readonly files: readonly WrittenFile[]; readonly profile: EngineProfile }> {
  const { options, link, lease } = fragment;
  const setup = await bindTables(fragment, staged);
  if (setup.length > 0) await lease.execute(setup, link.signal);
  options.onExecuting?.();
  await assertStructsFit(fragment, plan);
  const { rows, profile } = await copyRows(fragment, plan.sql).catch(async (error: unknown) => {
    throw await namingColumn(error, fragment, plan);
  });
  const values = await partitionValues(lease, rows.map(pathOf), plan, link.signal);
  return { files: rows.map((row) => writtenFile(row, values, target)), profile };
}

/** What COPY says of each file that has rows. */
async function copyRows(
  { request, options, link, lease }: LeasedFragment,
  sql: string,
): Promise<{ readonly rows: readonly ResultRow[]; readonly profile: EngineProfile }> {
  const result = await lease.query({
    sql,
    ...(request.parameters === undefined ? {} : { parameters: request.parameters }),
    arrow: 'lossless',
    signal: link.signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
  const rows = await collectRows(result, maxAnswerBytes);
  await result.engineDone;
  return { rows: rows.filter((row) => wholeNumber(row, 'count') > 0), profile: result.profile() };
}

/** The engine would leave out fields of structs that the table does not have. */
async function assertStructsFit(fragment: LeasedFragment, { columns }: PlannedWrite): Promise<void> {
  for (const { field, sourceSql } of columns) {
    if (!hasStructs(field.type)) continue;
    const [source] = readArrowSchema((await describe(fragment, sourceSql)).schema).fields;
    if (source !== undefined) assertNoFieldIsLost(field, source);
  }
}

/** The engine knows no cast from some types to others, and then names only the types. */
async function namingColumn(
  error: unknown,
  fragment: LeasedFragment,
  { columns }: PlannedWrite,
): Promise<unknown> {
  if (!(error instanceof QueryError) || error.code !== 'BINDING_ERROR') return error;
  const failureOf = (sql: string) =>
    describe(fragment, sql).then(
      () => undefined,
      (failure: unknown) => QueryError.from(failure),
    );
  for (const { field, sourceSql, castSql } of columns) {
    if ((await failureOf(sourceSql)) !== undefined) return error;
    const failure = await failureOf(castSql);
    if (failure !== undefined)
      return new QueryError(
        failure.code,
        `Column ${JSON.stringify(field.name)} cannot take the values of the query: ${failure.message.split('\n', 1)[0] ?? ''}`,
        { cause: error },
      );
  }
  return error;
}

async function describe(
  { request: { parameters }, link, lease }: LeasedFragment,
  sql: string,
): Promise<StatementDescription> {
  return await lease.describe({ sql, ...(parameters === undefined ? {} : { parameters }) }, link.signal);
}

type ValuesByFile = ReadonlyMap<string, readonly (PrimitiveValue | null)[]>;

/** Read back from each file's first row: the folders' names do not tell them. */
async function partitionValues(
  lease: EngineLease,
  paths: readonly string[],
  { partitions, columns }: PlannedWrite,
  signal: AbortSignal,
): Promise<ValuesByFile> {
  const nulls = partitions.map(() => null);
  if (paths.length === 0 || partitions.every(({ transform }) => transform.kind === 'void'))
    return new Map(paths.map((path) => [path, nulls]));
  // Read by their ids, under names of ours: a table's own could be those that the engine gives path and row number.
  const read = new Map<number, string>();
  const columnSql = (index: number) => {
    const { field, type } = columns[index] ?? {};
    read.set(
      index,
      `${field?.id}: {name: 'c${index}', type: ${quoteString(type ?? '')}, default_value: NULL}`,
    );
    return `f.c${index}`;
  };
  const texts = partitions.map(({ valueSql }) => `CAST(${valueSql(columnSql)} AS VARCHAR)`);
  const files = paths.map(quoteString).join(', ');
  const source = `read_parquet([${files}], hive_partitioning = false, schema = MAP {${[...read.values()].join(', ')}})`;
  const result = await lease.query({
    sql: `SELECT f.filename AS path, [${texts.join(', ')}] AS texts FROM ${source} AS f WHERE f.file_row_number = 0`,
    arrow: 'lossless',
    signal,
  });
  const rows = await collectRows(result, maxAnswerBytes);
  await result.engineDone;
  return new Map(
    rows.map((row) => {
      const found = row.get('texts');
      const values = partitions.map(({ transform, type }, index) => {
        const value = Array.isArray(found) ? found[index] : undefined;
        if (typeof value !== 'string') return null;
        assertPartitionValue(transform, type, value);
        return partitionValue(transform, type, value);
      });
      return [String(row.get('path')), values];
    }),
  );
}

function writtenFile(row: ResultRow, values: ValuesByFile, target: WriteTarget): WrittenFile {
  const path = pathOf(row);
  const partition = values.get(path);
  if (partition === undefined)
    throw new QueryError('INTERNAL_ERROR', 'A file that was written has no first row.');
  return {
    path,
    rowCount: wholeNumber(row, 'count'),
    sizeBytes: wholeNumber(row, 'file_size_bytes'),
    partition,
    hasNan: nansOf(row, target),
  };
}

function nansOf(row: ResultRow, { columns }: WriteTarget): ReadonlyMap<number, boolean> {
  const statistics = row.get('column_statistics');
  const found = new Map<number, boolean>();
  if (!(statistics instanceof Map)) return found;
  for (const [path, id] of floatingLeaves(columns.map(({ field }) => field))) {
    const column: unknown = statistics.get(path);
    const hasNan: unknown = column instanceof Map ? column.get('has_nan') : undefined;
    if (hasNan === 'true' || hasNan === 'false') found.set(id, hasNan === 'true');
  }
  return found;
}

/** Field ids of the columns that may have NaNs, by the path under which COPY answers their statistics. */
function floatingLeaves(
  fields: readonly Pick<NestedField, 'id' | 'name' | 'type'>[],
  prefix = '',
): readonly (readonly [string, number])[] {
  return fields.flatMap(({ id, name, type }) => {
    const path = `${prefix}${quoteIdentifier(name)}`;
    switch (type.kind) {
      case 'float':
      case 'double':
        return [[path, id] as const];
      case 'struct':
        return floatingLeaves(type.fields, `${path}.`);
      case 'list':
        return floatingLeaves([{ id: type.elementId, name: 'element', type: type.element }], `${path}.`);
      case 'map':
        return floatingLeaves(
          [
            { id: type.keyId, name: 'key', type: type.key },
            { id: type.valueId, name: 'value', type: type.value },
          ],
          `${path}.`,
        );
      default:
        return [];
    }
  });
}

function pathOf(row: ResultRow): string {
  return String(row.get('filename'));
}

function wholeNumber(row: ResultRow, column: string): number {
  const value = row.get(column);
  if (typeof value !== 'bigint')
    throw new QueryError('INTERNAL_ERROR', `The engine does not say the ${column} of a file it has written.`);
  return Number(value);
}
