/** INSERT: a query's rows become data files, and these a snapshot. */
import { QueryError } from '@svc/base';
import { commitWithRetry } from '@svc/lake';
import type { Insert } from '@svc/sql';
import { insertRules, permitInsert } from '../policy/insert-rules.js';
import { throwIfPoliciesChanged } from '../policy/planned-policies.js';
import { writablePlace } from './change-catalog.js';
import { planRows } from './plan-rows.js';
import { columnNames } from './query-columns.js';
import {
  appendOf,
  appliedPolicies,
  currentFields,
  discardOnFailure,
  targetColumns,
  type WriteDependencies,
  type WriteOptions,
  type WriteOutcome,
  writeRows,
} from './write-rows.js';

/** Throws what the query throws, BINDING_ERROR and EVALUATION_ERROR naming the column, and what a commit throws. */
export async function insertRows(
  statement: Insert,
  dependencies: WriteDependencies,
  options: WriteOptions,
): Promise<WriteOutcome> {
  const { session, signal } = options;
  const { catalog, identifier, name, writable } = writablePlace(statement.name, {
    settings: session.settings,
    catalogs: dependencies.planner.catalogsToChange(session),
  });
  const table = await writable.loadTable(identifier, { signal });
  permitInsert(dependencies.planner, { session, catalog, table });
  const plan = await planRows(statement.query, dependencies, options);
  const names = columnNames(plan.stub.description.schema);
  if (statement.byName) checkDistinct(names);
  const columns = targetColumns(
    statement.byName ? { columns: names } : statement,
    name,
    currentFields(table),
    names.length,
  );
  const rules = await insertRules(dependencies.planner, {
    ...{ session, catalog, table, columns, signal },
    nowMs: plan.nowMs,
  });
  throwIfPoliciesChanged(dependencies.planner, session, plan);
  const policies = appliedPolicies(plan, rules);
  options.onPolicies?.(policies);
  const rows = await writeRows({ dependencies, options, table, ...plan, columns, rules });
  if (rows.dataFiles.length > 0) {
    const append = appendOf(rows.dataFiles, table, dependencies);
    await discardOnFailure(rows, () =>
      commitWithRetry({ catalog: writable, identifier: table.identifier, change: append, signal }),
    );
  }
  return {
    text: `${rowsText(rows.rowCount)} added to ${name}.`,
    rowCount: rows.rowCount,
    policies,
  };
}

function checkDistinct(names: readonly string[]): void {
  const seen = new Set<string>();
  for (const name of names) {
    if (seen.has(name.toLowerCase()))
      throw new QueryError(
        'BINDING_ERROR',
        `Column ${JSON.stringify(name)} is twice in the answer of the query, whose columns go by their names.`,
      );
    seen.add(name.toLowerCase());
  }
}

function rowsText(count: bigint): string {
  return count === 1n ? '1 row was' : `${count} rows were`;
}
