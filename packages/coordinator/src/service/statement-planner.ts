/** Turns one SQL text of a session into something that is ready to run, whatever door it came through. */
import { randomUUID } from 'node:crypto';
import { QueryError, withSpan } from '@svc/base';
import type { CreateTable, Insert, PolicyChange, ShowGrants, ShowPolicies, Statement } from '@svc/sql';
import type { CatalogDirectory, ReadableCatalog } from '../catalogs/catalog-directory.js';
import type { Session } from '../identity/session.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { isInformationSchema } from '../information-schema/names.js';
import { throwIfRefused } from '../planner/analyze.js';
import { loadRelation } from '../planner/load-relation.js';
import { namespaceOf, schemaName } from '../planner/names.js';
import { describeQueryStatement, planQuery } from '../planner/plan-query.js';
import { planStages } from '../planner/plan-stages.js';
import type { PlannedStatement } from '../planner/planned-statement.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { permitInsert } from '../policy/insert-rules.js';
import { readableCatalogs } from '../policy/permitted-catalogs.js';
import { plannedPolicies } from '../policy/planned-policies.js';
import { arrowFields } from '../results/arrow-fields.js';
import { emptySchema, type TextAnswer, textAnswer } from '../results/text-answer.js';
import type { StageRunsOptions } from '../scheduler/stage-runs.js';
import { describeQuery, describeTable } from '../statements/describe.js';
import type { AnalyzedRun } from '../statements/explain-stages.js';
import { type SessionLimits, withoutSetting, withSetting } from '../statements/session-options.js';
import { answerShow, likeMatcher } from '../statements/show.js';
import { createStatementOf } from '../statements/show-create.js';
import { changeCatalog } from '../writes/change-catalog.js';
import { createView, dropView } from '../writes/change-view.js';
import { insertParameterSchema } from '../writes/insert-parameters.js';
import type { WriteOptions as RowWriteOptions, WriteOutcome } from '../writes/write-rows.js';
import type { AnalyzeOptions } from './analyze-query.js';
import { explainQuery } from './explain-query.js';
import type { PlannedToRun } from './start-fragments.js';

export interface StatementPlannerDependencies extends PlannerDependencies {
  readonly sessionDefaults: SessionSettings;
  readonly sessionLimits: SessionLimits;
  /** Runs INSERT and CREATE TABLE AS. */
  writeRows(
    statement: Insert | (CreateTable & { readonly query: string }),
    options: RowWriteOptions,
  ): Promise<WriteOutcome>;
  /** Runs CREATE OR REPLACE TABLE with columns. */
  replaceTable(
    statement: CreateTable,
    options: Pick<StatementOptions, 'session' | 'signal'>,
  ): Promise<string>;
  /** Runs a query for EXPLAIN ANALYZE. */
  analyzePlanned(planned: PlannedToRun, options: AnalyzeOptions): Promise<AnalyzedRun>;
  /** Divides a scan as a stage would. */
  divide?: StageRunsOptions['divide'] | undefined;
  /** Absent: there are no policies, as on the command line without a server. */
  readonly policyStatements?: PolicyStatements | undefined;
  /** Has the session's user's catalogs asked anew. */
  refreshCatalogs(session: Session): void;
  /** Throws INVALID_ARGUMENT for a time zone that the engine does not know. */
  checkTimeZone(name: string, session: Session, signal: AbortSignal): Promise<void>;
}

/** Runs statements about policies. */
export interface PolicyStatements {
  /** Answers a line that says what was done. */
  change(statement: PolicyChange, options: Pick<StatementOptions, 'session' | 'signal'>): Promise<string>;
  show(statement: ShowPolicies | ShowGrants, session: Session): TextAnswer;
}

export interface StatementOptions {
  readonly session: Session;
  readonly sql: string;
  /** Arrow IPC stream: of a query one row, of INSERT any number. */
  readonly parameters?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Of the query that the statement will be, where it is one already. */
  readonly queryId?: string;
  /** Told the names of the policies of what is written or explained, before a row is read: a statement that fails had them too. */
  readonly onPolicies?: (names: readonly string[]) => void;
}

/** What `prepare` promises to a client. */
export interface StatementShape {
  /** Of a statement that changes something: without fields. */
  readonly schema: Uint8Array;
  readonly isUpdate: boolean;
  readonly parameterSchema: Uint8Array | undefined;
}

type RunnableStatement = Exclude<Statement, { kind: 'unsupported' | 'not-allowed' }>;

/** Plans a statement. What has an effect on the session (USE, SET) has it here, once. */
export function planStatement(
  dependencies: StatementPlannerDependencies,
  options: StatementOptions,
): Promise<PlannedStatement> {
  return withSpan('svc.plan', {}, () => plan(dependencies, options));
}

async function plan(
  dependencies: StatementPlannerDependencies,
  options: StatementOptions,
): Promise<PlannedStatement> {
  const startedAt = performance.now();
  const statement = dependencies.analyzer.classify(options.sql);
  throwIfRefused(statement);
  const base = { sql: options.sql, statementType: statement.statementType };
  if (statement.kind === 'query') {
    const query = await analyzeQuery(dependencies, statement.sql, options);
    const plan = await planQuery(dependencies, { ...options, query });
    const { execution } = plan.settings;
    const { stages } = await planStages(dependencies, plan, execution, options.signal);
    return {
      ...base,
      kind: 'fragment',
      schema: plan.stub.description.schema,
      fragment: plan.fragment,
      stores: plan.stores,
      stages,
      policies:
        plan.fragment.tables.length === 0
          ? undefined
          : plannedPolicies(dependencies, options.session, plan.policies),
      planningMs: performance.now() - startedAt,
    };
  }
  const answered = (answer: TextAnswer) => ({
    ...base,
    kind: 'answer' as const,
    schema: answer.schema,
    answer,
    planningMs: performance.now() - startedAt,
  });
  if (isRowWrite(statement)) {
    const { text, rowCount, policies } = await writeStatement(dependencies, statement, options);
    return {
      ...answered(resultAnswer(text)),
      changedRows: rowCount,
      policies: { names: policies, isGuarded: false },
    };
  }
  if (options.parameters !== undefined) {
    throw new QueryError('INVALID_PARAMETER', 'Only queries and INSERT take parameters.');
  }
  const isOnlyTold = !changes.has(statement.kind) && !affectsSession.has(statement.kind);
  // Before it is answered: what changes meanwhile may be in it or not.
  const policies = isOnlyTold ? plannedPolicies(dependencies, options.session) : undefined;
  let applied: readonly string[] = [];
  const onPolicies = (names: readonly string[]) => {
    applied = names;
    options.onPolicies?.(names);
  };
  const answer = await answerStatement(dependencies, statement, { ...options, onPolicies });
  return { ...answered(answer), policies: policies && { ...policies, names: applied } };
}

type RowWrite = Insert | (CreateTable & { readonly query: string });

function isRowWrite(statement: RunnableStatement): statement is RowWrite {
  return statement.kind === 'insert' || (statement.kind === 'create-table' && statement.query !== undefined);
}

function writeStatement(
  dependencies: StatementPlannerDependencies,
  statement: RowWrite,
  { session, parameters, signal, queryId = randomUUID(), onPolicies }: StatementOptions,
): Promise<WriteOutcome> {
  return dependencies.writeRows(statement, { session, queryId, parameters, onPolicies, signal });
}

/** Result schema and parameters without planning scans, and without the effects of USE and SET. */
export async function describeStatement(
  dependencies: StatementPlannerDependencies,
  options: StatementOptions,
): Promise<StatementShape> {
  const statement = dependencies.analyzer.classify(options.sql);
  throwIfRefused(statement);
  if (statement.kind === 'query') {
    const query = await analyzeQuery(dependencies, statement.sql, options);
    const description = await describeQueryStatement(dependencies, { ...options, query });
    const { schema, parameterSchema } = description;
    return { schema, parameterSchema, isUpdate: false };
  }
  if (isRowWrite(statement)) {
    const query = await analyzeQuery(dependencies, statement.query, options);
    const { parameterSchema } = await describeQueryStatement(dependencies, { ...options, query });
    if (statement.kind !== 'insert') return { schema: emptySchema, parameterSchema, isUpdate: true };
    const { session, signal } = options;
    const catalogs = dependencies.catalogsToChange(session);
    const change = { settings: session.settings, catalogs, signal };
    return {
      schema: emptySchema,
      parameterSchema: await insertParameterSchema(statement, parameterSchema, change, (catalog, table) =>
        permitInsert(dependencies, { session, catalog, table }),
      ),
      isUpdate: true,
    };
  }
  if (changes.has(statement.kind)) return { schema: emptySchema, parameterSchema: undefined, isUpdate: true };
  const answer = affectsSession.has(statement.kind)
    ? resultAnswer('')
    : await answerStatement(dependencies, statement, options);
  return { schema: answer.schema, parameterSchema: undefined, isUpdate: false };
}

function analyzeQuery(
  dependencies: StatementPlannerDependencies,
  sql: string,
  { session, signal }: StatementOptions,
) {
  return dependencies.analyzer.analyze(sql, ownerOf(session, dependencies.policies), signal);
}

/** Statements that change the catalog or its policies, beside those that write rows. */
const changes: ReadonlySet<Statement['kind']> = new Set([
  'create-policy',
  'create-schema',
  'create-table',
  'create-view',
  'drop-policy',
  'drop-schema',
  'drop-table',
  'drop-view',
  'grant',
  'revoke',
]);

/** Statements that change what holds for the session. */
const affectsSession: ReadonlySet<Statement['kind']> = new Set(['use', 'set', 'reset', 'call']);

/** What statements with an effect answer: one row that says what holds now. */
function resultAnswer(text: string): TextAnswer {
  return textAnswer([{ name: 'result', isNullable: false }], [[text]]);
}

async function answerStatement(
  dependencies: StatementPlannerDependencies,
  statement: Exclude<RunnableStatement, { kind: 'query' | 'insert' }>,
  options: StatementOptions,
): Promise<TextAnswer> {
  const { session, signal } = options;
  const catalogs = readableCatalogs(dependencies, session);
  switch (statement.kind) {
    case 'show-catalogs':
    case 'show-schemas':
    case 'show-tables':
      return await answerShow(statement, session.settings, catalogs, signal);
    case 'describe-table':
    case 'show-columns': {
      const { columns } = await loadRelation(statement.name, session.settings, catalogs, signal);
      const matches = likeMatcher('like' in statement ? statement.like : undefined);
      return describeTable(columns.filter(({ name }) => matches(name)));
    }
    case 'show-create': {
      const relation = await loadRelation(statement.name, session.settings, catalogs, signal);
      return textAnswer([{ name: 'statement', isNullable: false }], [[createStatementOf(relation)]]);
    }
    case 'describe-query': {
      const query = await analyzeQuery(dependencies, statement.sql, options);
      const description = await describeQueryStatement(dependencies, { ...options, query });
      return describeQuery(arrowFields(description.schema));
    }
    case 'explain':
      return await explainQuery(dependencies, statement, options);
    case 'use': {
      const { catalog, schema } = await use(statement.name, session.settings, catalogs, signal);
      // Another call may have set something else meanwhile.
      session.settings = { ...session.settings, catalog, schema };
      return resultAnswer(`USE ${[catalog, schema].filter((part) => part !== undefined).join('.')}`);
    }
    case 'set':
      if (statement.name === 'timezone') await dependencies.checkTimeZone(statement.value, session, signal);
      session.settings = withSetting(
        session.settings,
        statement.name,
        statement.value,
        dependencies.sessionLimits,
      );
      return resultAnswer(`SET ${statement.name}`);
    case 'reset':
      session.settings = withoutSetting(session.settings, statement.name, dependencies.sessionDefaults);
      return resultAnswer(`RESET ${statement.name}`);
    case 'create-view':
      return resultAnswer(await createView(statement, dependencies, options));
    case 'drop-view':
      return resultAnswer(await dropView(statement, dependencies, options));
    case 'create-schema':
    case 'create-table':
    case 'drop-schema':
    case 'drop-table':
      if (statement.kind === 'create-table' && statement.orReplace)
        return resultAnswer(await dependencies.replaceTable(statement, options));
      return resultAnswer(
        await changeCatalog(statement, {
          settings: session.settings,
          catalogs: dependencies.catalogsToChange(session),
          signal,
        }),
      );
    case 'create-policy':
    case 'drop-policy':
    case 'grant':
    case 'revoke':
      return resultAnswer(await policyStatementsOf(dependencies).change(statement, options));
    case 'show-policies':
    case 'show-grants':
      return policyStatementsOf(dependencies).show(statement, session);
    case 'call':
      dependencies.refreshCatalogs(session);
      return resultAnswer('The catalog cache was refreshed.');
  }
}

function policyStatementsOf({ policyStatements }: StatementPlannerDependencies): PolicyStatements {
  if (policyStatements !== undefined) return policyStatements;
  throw new QueryError('NOT_SUPPORTED', 'Policies are of a service with users; here is one without.');
}

/** `USE s`, `USE c` or `USE c.s`: one part is a schema of the current catalog, else a catalog. */
export async function use(
  name: readonly string[],
  settings: SessionSettings,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<SessionSettings> {
  const [first = '', second] = name;
  if (second === undefined) {
    const current = catalogs.get(settings.catalog);
    if (await schemaExists(current.catalog, first, signal)) return { ...settings, schema: first };
    const isCatalog = catalogs.names.some((each) => each.toLowerCase() === first.toLowerCase());
    if (isCatalog) return { ...settings, catalog: catalogs.get(first).name, schema: undefined };
    throw new QueryError(
      'SCHEMA_NOT_FOUND',
      `There is no schema "${first}" in catalog "${settings.catalog}", and no catalog of that name.`,
    );
  }
  const { name: catalogName, catalog } = catalogs.get(first);
  if (!(await schemaExists(catalog, second, signal))) {
    throw new QueryError('SCHEMA_NOT_FOUND', `There is no schema "${second}" in catalog "${catalogName}".`);
  }
  return { ...settings, catalog: catalogName, schema: schemaName(namespaceOf(second)) };
}

async function schemaExists(catalog: ReadableCatalog, schema: string, signal: AbortSignal): Promise<boolean> {
  const namespace = namespaceOf(schema);
  return isInformationSchema(namespace) || (await catalog.namespaceExists(namespace, { signal }));
}
