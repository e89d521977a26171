/** CREATE TABLE AS: the table is there with all rows of the query, or it is as it was before. */
import { QueryError } from '@svc/base';
import { type LoadedTable, replacedTable, type TableToWrite } from '@svc/lake';
import type { CreateTable } from '@svc/sql';
import { newTableRules } from '../policy/insert-rules.js';
import { throwIfPoliciesChanged } from '../policy/planned-policies.js';
import { isCode, writablePlace } from './change-catalog.js';
import { parameterRowCount } from './parameter-rows.js';
import { type PlannedRows, planRows } from './plan-rows.js';
import { columnsOfQuery } from './query-columns.js';
import {
  commitReplacement,
  createOrReplace,
  currentSnapshotRead,
  permitReplacement,
} from './replace-table.js';
import { tableDefinition } from './table-definition.js';
import {
  appliedPolicies,
  commitNewTable,
  currentFields,
  discardOnFailure,
  type WriteDependencies,
  type WriteOptions,
  type WriteOutcome,
  writeRows,
} from './write-rows.js';

export type CreateTableAs = CreateTable & { readonly query: string };

interface Creation {
  readonly statement: CreateTableAs;
  readonly place: ReturnType<typeof writablePlace>;
  readonly dependencies: WriteDependencies;
  readonly options: WriteOptions;
}

/** Throws what the query throws, EVALUATION_ERROR naming a column, and what a commit throws. */
export async function createTableAs(
  statement: CreateTableAs,
  dependencies: WriteDependencies,
  options: WriteOptions,
): Promise<WriteOutcome> {
  const { session, signal } = options;
  const change = { settings: session.settings, catalogs: dependencies.planner.catalogsToChange(session) };
  const place = writablePlace(statement.name, change);
  const { identifier, name, writable } = place;
  if (options.parameters !== undefined && parameterRowCount(options.parameters) > 1)
    throw new QueryError('NOT_SUPPORTED', 'Several rows of parameters are taken by INSERT … VALUES only.');
  if (statement.ifNotExists && (await exists(() => writable.loadTable(identifier, { signal }))))
    return { text: `Table ${name} exists already.`, rowCount: 0n, policies: [] };
  const creation = { statement, place, dependencies, options };
  if (!statement.orReplace) return await createAs(creation);
  return await createOrReplace(place, signal, {
    create: () => createAs(creation),
    replace: (existing) => replaceAs(creation, existing),
  });
}

async function createAs({ statement, place, dependencies, options }: Creation): Promise<WriteOutcome> {
  const { catalog, identifier, name, writable } = place;
  const { session, signal } = options;
  const plan = await planRows(statement.query, dependencies, options);
  const table = await writable.stageTable(identifier, definitionOf(statement, plan), { signal });
  try {
    const columns = allColumns(table);
    const rules = await newTableRules(dependencies.planner, {
      ...{ session, catalog, table, columns, signal },
      nowMs: plan.nowMs,
    });
    throwIfPoliciesChanged(dependencies.planner, session, plan);
    const policies = appliedPolicies(plan, rules);
    options.onPolicies?.(policies);
    const rows = await writeRows({ dependencies, options, table, ...plan, columns, rules });
    await discardOnFailure(rows, () => commitNewTable(table, rows.dataFiles, dependencies, writable, signal));
    return outcome(`Table ${name} was created`, rows.rowCount, policies);
  } catch (error) {
    if (!isCode(error, 'COMMIT_OUTCOME_UNKNOWN')) await writable.discardTable(table);
    throw error;
  }
}

async function replaceAs(
  { statement, place, dependencies, options }: Creation,
  existing: LoadedTable,
): Promise<WriteOutcome> {
  const { session, signal } = options;
  permitReplacement(dependencies.planner, session, place);
  const plan = await planRows(statement.query, dependencies, options);
  const definition = definitionOf(statement, plan);
  const target = replacedTable(existing, definition);
  const readFrom = currentSnapshotRead(plan.reads, place, existing);
  const policies = appliedPolicies(plan);
  options.onPolicies?.(policies);
  const rows = await writeRows({
    dependencies,
    options,
    table: target,
    ...plan,
    columns: allColumns(target),
  });
  const { dataFiles } = rows;
  await discardOnFailure(rows, () =>
    commitReplacement({ place, definition, target, dataFiles, readFrom, dependencies, session, signal }),
  );
  return outcome(`Table ${place.name} was replaced`, rows.rowCount, policies);
}

function definitionOf(statement: CreateTable, plan: PlannedRows) {
  return tableDefinition(statement, columnsOfQuery(plan.stub.description.schema));
}

/** Each column takes the query's at its place. */
export function allColumns(table: TableToWrite) {
  return currentFields(table).map((field, position) => ({ field, position }));
}

function outcome(done: string, rowCount: bigint, policies: readonly string[]): WriteOutcome {
  return { text: `${done} with ${rowCount} ${rowCount === 1n ? 'row' : 'rows'}.`, rowCount, policies };
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
