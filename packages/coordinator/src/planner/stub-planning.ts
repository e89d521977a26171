/**
 * Planning on stubs: the statement is bound and optimised by an engine host against views over zero-row Parquet files
 * that have the tables' types. No data is near it, and nothing of the optimiser's mind depends on data.
 */
import { createHash } from 'node:crypto';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineLease, StatementDescription } from '@svc/engine';
import { engineType, sessionStatements, stubFileSql, stubViewSql } from '@svc/fragment-fn';
import { planStatements, readPlan, type ScanRequest, scanRequests } from '@svc/sql';
import type { SessionSettings } from '../identity/session-settings.js';
import type { ResolvedTable } from './resolve-tables.js';

export interface StubPlan {
  readonly description: StatementDescription;
  /** One per table, in their order. */
  readonly requests: readonly ScanRequest[];
  readonly withoutPushdown: string | undefined;
}

export interface StubPlanOptions {
  readonly lease: EngineLease;
  readonly sql: string;
  readonly tables: readonly ResolvedTable[];
  readonly settings: SessionSettings;
  readonly signal: AbortSignal;
}

const everything: ScanRequest = { columns: undefined, filters: [] };

/** Binds the statement: result schema and parameters. Throws BINDING_ERROR and the like. */
export async function describeOnStubs(options: StubPlanOptions): Promise<StatementDescription> {
  await createStubs(options);
  return await options.lease.describe(options.sql, options.signal);
}

/** Binds, then asks the optimiser which columns and filters reach each table. */
export async function planOnStubs(options: StubPlanOptions): Promise<StubPlan> {
  const { lease, sql, tables, signal } = options;
  const stubs = await createStubs(options);
  const description = await lease.describe(sql, signal);
  if (tables.length === 0) return { description, requests: [], withoutPushdown: undefined };
  await lease.execute(planStatements.before, signal);
  const text = await lease.queryText(planStatements.plan, [sql], signal);
  const plan = readPlan(text);
  if (plan.kind === 'unreadable') {
    return { description, requests: tables.map(() => everything), withoutPushdown: plan.reason };
  }
  const byStub = scanRequests(plan.root);
  return {
    description,
    requests: stubs.map((path) => byStub.get(path) ?? everything),
    withoutPushdown: undefined,
  };
}

/** Makes the session and the stub views of the statement; answers the stub files in the order of the tables. */
async function createStubs({ lease, tables, settings, signal }: StubPlanOptions): Promise<readonly string[]> {
  const files: string[] = [];
  const statements: string[] = [];
  for (const table of tables) {
    const path = join(lease.inputDirectory, stubName(table));
    files.push(path);
    if (!(await exists(path))) statements.push(stubFileSql(path, table.columns));
  }
  statements.push(...sessionStatements(engineSession(tables, settings)));
  tables.forEach((table, index) => {
    const path = files[index];
    if (path !== undefined) statements.push(stubViewSql(table, path, table.columns, table.snapshot.rowCount));
  });
  await lease.execute(statements, signal);
  return files;
}

/** What the session means for the engine; also what the fragment gets. */
export function engineSession(tables: readonly ResolvedTable[], settings: SessionSettings) {
  return {
    tables,
    defaultCatalog: settings.catalog,
    defaultSchema: settings.schema,
    settings: { TimeZone: settings.timeZone },
  };
}

/** One file per table, so that a scan in the plan names its table; and per column list, so that it may be kept. */
function stubName(table: ResolvedTable): string {
  const columns = table.columns.map((column) => [column.name, engineType(column.type)]);
  const identity = JSON.stringify([table.catalog, table.schema, table.table, columns]);
  return `stub-${createHash('sha256').update(identity).digest('hex').slice(0, 32)}.parquet`;
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
