/** INSERT and CREATE TABLE AS: a query's rows become data files, and these a snapshot. */
import { QueryError } from '@svc/base';
import {
  defaultWriteSettings,
  type WriteOptions as FragmentWriteOptions,
  type TargetColumn,
  type WriteTarget,
  writeFragment,
} from '@svc/fragment-fn';
import {
  commitWithRetry,
  createAppend,
  type LoadedTable,
  type MetadataFiles,
  type NestedField,
  type StagedNewTable,
  schemaById,
  type TableToWrite,
} from '@svc/lake';
import type { CreateTable, Insert } from '@svc/sql';
import type { Session } from '../identity/session.js';
import type { Analyzer } from '../planner/analyze.js';
import { planQuery, type QueryPlan } from '../planner/plan-query.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { environmentOf, type QueryRunnerDependencies } from '../service/query-runner.js';
import { isCode, writablePlace } from './change-catalog.js';
import { parameterRowCount, rowsByParameters } from './parameter-rows.js';
import { type PlacedFiles, placeFiles } from './place-files.js';
import { columnCount, columnsOfQuery } from './query-columns.js';
import { tableDefinition } from './table-definition.js';

export interface WriteDependencies {
  readonly planner: PlannerDependencies;
  readonly analyzer: Analyzer;
  readonly runner: Pick<QueryRunnerDependencies, 'pool' | 'stage' | 'admission' | 'metrics'>;
  readonly manifests: MetadataFiles;
  /** Says in each snapshot who made it. */
  readonly version: string;
}

export interface WriteOptions {
  readonly session: Session;
  readonly queryId: string;
  /** Arrow IPC stream; of INSERT with any number of rows, for each of which its query runs. */
  readonly parameters?: Uint8Array | undefined;
  readonly signal: AbortSignal;
}

export interface WriteOutcome {
  readonly text: string;
  readonly rowCount: bigint;
}

/** Runs the statement. See `insertRows` and `createTableAs`. */
export function writeStatementRows(
  statement: Insert | (CreateTable & { readonly query: string }),
  dependencies: WriteDependencies,
  options: WriteOptions,
): Promise<WriteOutcome> {
  return statement.kind === 'insert'
    ? insertRows(statement, dependencies, options)
    : createTableAs(statement, dependencies, options);
}

/** Throws what the query throws, BINDING_ERROR and EVALUATION_ERROR naming the column, and what a commit throws. */
async function insertRows(
  statement: Insert,
  dependencies: WriteDependencies,
  options: WriteOptions,
): Promise<WriteOutcome> {
  const { session, signal } = options;
  const { catalogs } = dependencies.planner;
  const { identifier, name, writable } = writablePlace(statement.name, {
    settings: session.settings,
    catalogs,
  });
  const table = await writable.loadTable(identifier, { signal });
  const plan = await planRows(statement.query, dependencies, options);
  const columns = targetColumns(
    statement,
    name,
    currentFields(table),
    columnCount(plan.stub.description.schema),
  );
  const rows = await writeRows({ dependencies, options, table, ...plan, columns });
  if (rows.dataFiles.length > 0) {
    const append = appendOf(rows.dataFiles, table, dependencies);
    await discardOnFailure(rows, () =>
      commitWithRetry({ catalog: writable, identifier: table.identifier, change: append, signal }),
    );
  }
  return { text: `${rowsText(rows.rowCount)} added to ${name}.`, rowCount: rows.rowCount };
}

/** CREATE TABLE AS: the table is there with all its rows, or not at all. */
async function createTableAs(
  statement: CreateTable & { readonly query: string },
  dependencies: WriteDependencies,
  options: WriteOptions,
): Promise<WriteOutcome> {
  const { session, signal } = options;
  const { catalogs } = dependencies.planner;
  const { identifier, name, writable } = writablePlace(statement.name, {
    settings: session.settings,
    catalogs,
  });
  if (options.parameters !== undefined && parameterRowCount(options.parameters) > 1)
    throw new QueryError('NOT_SUPPORTED', 'Several rows of parameters are taken by INSERT … VALUES only.');
  if (statement.ifNotExists && (await exists(() => writable.loadTable(identifier, { signal }))))
    return { text: `Table ${name} exists already.`, rowCount: 0n };
  const plan = await planRows(statement.query, dependencies, options);
  const definition = tableDefinition(statement, columnsOfQuery(plan.stub.description.schema));
  const table = await writable.stageTable(identifier, definition, { signal });
  try {
    const columns = currentFields(table).map((field, position) => ({ field, position }));
    const rows = await writeRows({ dependencies, options, table, ...plan, columns });
    await discardOnFailure(rows, () => commitNewTable(table, rows.dataFiles, dependencies, writable, signal));
    return {
      text: `Table ${name} was created with ${rows.rowCount} ${rows.rowCount === 1n ? 'row' : 'rows'}.`,
      rowCount: rows.rowCount,
    };
  } catch (error) {
    if (!isCode(error, 'COMMIT_OUTCOME_UNKNOWN')) await writable.discardTable(table);
    throw error;
  }
}

interface PlannedRows extends QueryPlan {
  readonly fill?: RowsToWrite['fill'];
}

async function planRows(
  sql: string,
  { planner, analyzer }: WriteDependencies,
  { session, parameters, signal }: WriteOptions,
): Promise<PlannedRows> {
  const query = await analyzer.analyze(sql, ownerOf(session), signal);
  if (parameters === undefined || parameterRowCount(parameters) === 1)
    return await planQuery(planner, { query, session, parameters, signal });
  const plan = await planQuery(planner, { query, session, signal });
  const { sql: rowsSql, fill } = rowsByParameters(plan, query.gated.parameters, parameters);
  return { ...plan, fragment: { ...plan.fragment, sql: rowsSql, lane: 'query' }, fill };
}

export interface RowsToWrite extends Pick<QueryPlan, 'stores'> {
  readonly fragment: Omit<QueryPlan['fragment'], 'lane'>;
  readonly dependencies: Pick<WriteDependencies, 'runner'>;
  readonly options: Pick<WriteOptions, 'signal' | 'queryId'>;
  readonly table: TableToWrite & { readonly store: LoadedTable['store'] };
  readonly columns: readonly TargetColumn[];
  /** Where the files go, when there are more to come: they are discarded all together. */
  readonly placed?: PlacedFiles;
  /** Makes what the query reads beside tables. */
  readonly fill?: FragmentWriteOptions['fill'];
}

export interface WrittenRows extends Pick<PlacedFiles, 'dataFiles' | 'discard'> {
  readonly rowCount: bigint;
}

/** Runs the query and puts its rows into the table's folder, as files of nobody yet. Leaves none when it throws. */
export async function writeRows(rows: RowsToWrite): Promise<WrittenRows> {
  const { dependencies, options, table, columns, fill } = rows;
  const { runner } = dependencies;
  const { signal, queryId } = options;
  const placed = rows.placed ?? placeFiles(table, table.store);
  // Pages of whole columns are for clients: here the engine reads and writes them.
  const { wholeColumns: _wholeColumns, ...fragment } = rows.fragment;
  const request = { ...fragment, lane: 'query', queryId, target: targetOf(table, columns) } as const;
  using _place = await runner.admission.enter('query', signal);
  return await discardOnFailure(placed, async () => {
    const environment = environmentOf(runner, { fragment: request, stores: rows.stores });
    const { rowCount, statistics } = await writeFragment(request, environment, {
      signal,
      take: placed.take,
      ...(fill && { fill }),
    });
    runner.metrics.scanRows.inc({ stage: 'read' }, Number(statistics.rowsScanned));
    return { dataFiles: placed.dataFiles, discard: placed.discard, rowCount };
  });
}

function targetOf({ metadata }: TableToWrite, columns: readonly TargetColumn[]): WriteTarget {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  const partitions = (spec?.fields ?? []).map(({ sourceIds, transform }) => ({
    sourceId: sourceIds[0] ?? 0,
    transform,
  }));
  return { ...defaultWriteSettings, columns, partitions };
}

export function currentFields({ metadata }: TableToWrite): readonly NestedField[] {
  return schemaById(metadata, undefined).fields;
}

/** Which column of the query each column of the table takes. */
export function targetColumns(
  { columns }: Pick<Insert, 'columns'>,
  table: string,
  fields: readonly NestedField[],
  count: number,
): readonly TargetColumn[] {
  const wanted = columns?.length ?? fields.length;
  if (count !== wanted)
    throw new QueryError(
      'BINDING_ERROR',
      `The query answers ${count} columns, but ${wanted} columns of ${table} are to be filled.`,
    );
  if (columns === undefined) return fields.map((field, position) => ({ field, position }));
  for (const column of columns)
    if (!fields.some((field) => isNamed(field, column)))
      throw new QueryError('BINDING_ERROR', `Table ${table} has no column ${JSON.stringify(column)}.`);
  return fields.map((field) => {
    const position = columns.findIndex((column) => isNamed(field, column));
    if (position === -1 && field.required && field.writeDefault === undefined)
      throw new QueryError(
        'BINDING_ERROR',
        `Column ${JSON.stringify(field.name)} of ${table} must not be null, and the statement leaves it out.`,
      );
    return position === -1 ? { field } : { field, position };
  });
}

/** As in queries: names do not differ by case. */
export function isNamed(field: NestedField, name: string): boolean {
  return field.name.toLowerCase() === name.toLowerCase();
}

export function appendOf(
  dataFiles: WrittenRows['dataFiles'],
  { metadata, store }: TableToWrite & Pick<LoadedTable, 'store'>,
  { manifests, version }: Pick<WriteDependencies, 'manifests' | 'version'>,
): ReturnType<typeof createAppend> {
  return createAppend({
    store,
    files: manifests,
    dataFiles,
    tableUuid: metadata.tableUuid,
    specId: metadata.defaultSpecId,
    summary: { 'engine-name': 'svc', 'engine-version': version },
  });
}

export async function commitNewTable(
  table: StagedNewTable,
  dataFiles: WrittenRows['dataFiles'],
  dependencies: Pick<WriteDependencies, 'manifests' | 'version'>,
  writable: ReturnType<typeof writablePlace>['writable'],
  signal: AbortSignal,
): Promise<void> {
  const { creation, identifier } = table;
  if (dataFiles.length === 0) {
    await writable.commitTable(identifier, creation);
    return;
  }
  const append = appendOf(dataFiles, table, dependencies);
  let committed: LoadedTable;
  try {
    const { updates } = await append.prepare(table, { signal });
    committed = await writable.commitTable(identifier, {
      ...creation,
      updates: [...creation.updates, ...updates],
    });
  } catch (error) {
    if (!isCode(error, 'COMMIT_OUTCOME_UNKNOWN')) await append.cleanUp(undefined);
    throw error;
  }
  // The table is there: what cannot be cleaned up must not make it look as if it were not.
  await append.cleanUp(committed.metadata).catch(() => undefined);
}

/** After a definite failure the files are nobody's. While it is unknown whether a commit succeeded they stay. */
export async function discardOnFailure<T>(
  rows: { discard(): Promise<void> },
  body: () => Promise<T>,
): Promise<T> {
  try {
    return await body();
  } catch (error) {
    if (!isCode(error, 'COMMIT_OUTCOME_UNKNOWN')) await rows.discard();
    throw error;
  }
}

function rowsText(count: bigint): string {
  return count === 1n ? '1 row was' : `${count} rows were`;
}

async function exists(load: () => Promise<unknown>): Promise<boolean> {
  try {
    await load();
    return true;
  } catch (error) {
    if (isCode(error, 'TABLE_NOT_FOUND')) return false;
    throw error;
  }
}
