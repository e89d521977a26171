/** What all statements that write rows share: a query's rows become data files, and these a snapshot. */
import { QueryError } from '@svc/base';
import {
  defaultWriteSettings,
  type EnvironmentDependencies,
  environmentOf,
  type WriteOptions as FragmentWriteOptions,
  type TargetColumn,
  type WriteTarget,
  writeFragment,
} from '@svc/fragment-fn';
import {
  checkAppendable,
  commitOnce,
  createAppend,
  type LoadedTable,
  type MetadataFiles,
  type NestedField,
  type StagedNewTable,
  schemaById,
  suggestNames,
  type TableToWrite,
} from '@svc/lake';
import type { Insert } from '@svc/sql';
import type { Session } from '../identity/session.js';
import type { Analyzer } from '../planner/analyze.js';
import type { AppliedPolicies } from '../planner/guard-relations.js';
import type { QueryPlan } from '../planner/plan-query.js';
import type { PlannerDependencies } from '../planner/planner-dependencies.js';
import { guardedError } from '../policy/guarded-error.js';
import type { InsertRules } from '../policy/insert-rules.js';
import type { QueryRunnerDependencies } from '../service/query-runner.js';
import { isCode, type writablePlace } from './change-catalog.js';
import { type PlacedFiles, placeFiles } from './place-files.js';

export interface WriteDependencies {
  readonly planner: PlannerDependencies;
  readonly analyzer: Analyzer;
  readonly runner: EnvironmentDependencies & Pick<QueryRunnerDependencies, 'admission'>;
  readonly manifests: MetadataFiles;
  /** Says in each snapshot who made it. */
  readonly version: string;
}

export interface WriteOptions {
  readonly session: Session;
  readonly queryId: string;
  /** Arrow IPC stream; of INSERT with any number of rows, for each of which its query runs. */
  readonly parameters?: Uint8Array | undefined;
  /** Told which policies hold for what is read and written, before any row is. */
  readonly onPolicies?: ((names: readonly string[]) => void) | undefined;
  readonly signal: AbortSignal;
}

export interface WriteOutcome {
  readonly text: string;
  readonly rowCount: bigint;
  /** Names of the policies of what was read, and of the table for its new rows. */
  readonly policies: readonly string[];
}

export function appliedPolicies(plan: Pick<QueryPlan, 'policies'>, rules?: InsertRules): readonly string[] {
  return [...new Set([...plan.policies.names, ...(rules?.applied ?? [])])].sort();
}

export interface RowsToWrite extends Pick<QueryPlan, 'stores'> {
  readonly fragment: Omit<QueryPlan['fragment'], 'lane'>;
  readonly dependencies: Pick<WriteDependencies, 'runner'>;
  readonly options: Pick<WriteOptions, 'signal' | 'queryId'>;
  readonly table: TableToWrite & { readonly store: LoadedTable['store'] };
  readonly columns: readonly TargetColumn[];
  /** Where the files go, when there are more to come: they are discarded all together. */
  readonly placed?: PlacedFiles;
  /** What policies of the table say of its rows. */
  readonly rules?: InsertRules;
  /** What policies hid of the tables that the query reads. */
  readonly policies?: AppliedPolicies;
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
  checkAppendable(table.metadata);
  const placed = rows.placed ?? placeFiles(table, table.store);
  // Pages of whole columns are for clients: here the engine reads and writes them.
  const { wholeColumns: _wholeColumns, ...fragment } = rows.fragment;
  const { rules, policies } = rows;
  const isGuarded = policies?.isGuarded === true;
  const asked = { fragment, stores: rows.stores };
  const checked = rules === undefined ? asked : rules.checked(asked, isGuarded);
  const target = targetOf(table, columns);
  const request = { ...checked.fragment, lane: 'query', queryId, target } as const;
  using _place = await runner.admission.enter('query', signal);
  return await discardOnFailure(placed, async () => {
    const environment = environmentOf(runner, { fragment: request, stores: checked.stores });
    const { rowCount, statistics } = await writeFragment(request, environment, {
      signal,
      take: placed.take,
      ...(fill && { fill }),
    }).catch((caught: unknown) => {
      const error = rules === undefined ? caught : rules.failure(caught);
      throw isGuarded ? guardedError(error) : error;
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
    if (!fields.some((field) => isNamed(field, column))) {
      const names = fields.map((field) => field.name);
      const near = suggestNames(column, names);
      throw new QueryError('BINDING_ERROR', `Table ${table} has no column ${JSON.stringify(column)}${near}`);
    }
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
    schemaId: metadata.currentSchemaId,
    summary: engineSummary(version),
  });
}

/** Says in a snapshot who made it. */
export function engineSummary(version: string): Readonly<Record<string, string>> {
  return { 'engine-name': 'svc', 'engine-version': version };
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
    await commitOnce(writable, identifier, creation);
    return;
  }
  const append = appendOf(dataFiles, table, dependencies);
  let committed: LoadedTable;
  try {
    const { updates } = await append.prepare(table, { signal });
    committed = await commitOnce(writable, identifier, {
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
