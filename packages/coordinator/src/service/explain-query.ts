/** EXPLAIN and EXPLAIN ANALYZE: the plan that would be run, and what came of running it. */
import { randomUUID } from 'node:crypto';
import { displayLocation } from '@svc/lake';
import type { AnalyzedQuery } from '../planner/analyze.js';
import { reachableKinds } from '../planner/choose-place.js';
import { planQuery } from '../planner/plan-query.js';
import { planStages, type StageDecision } from '../planner/plan-stages.js';
import { ownerOf } from '../planner/planner-dependencies.js';
import { plannedPolicies } from '../policy/planned-policies.js';
import type { TextAnswer } from '../results/text-answer.js';
import { answerExplain } from '../statements/explain.js';
import { answerGuardedExplain } from '../statements/explain-guarded.js';
import type { ExplainedStages } from '../statements/explain-stages.js';
import type { StatementOptions, StatementPlannerDependencies } from './statement-planner.js';

export async function explainQuery(
  dependencies: StatementPlannerDependencies,
  { sql, analyze }: { readonly sql: string; readonly analyze: boolean },
  options: StatementOptions,
): Promise<TextAnswer> {
  const { session, signal, queryId = randomUUID() } = options;
  const query = await dependencies.analyzer.analyze(sql, ownerOf(session, dependencies.policies), signal);
  const plan = await planQuery(dependencies, { ...options, query });
  const decision = await planStages(dependencies, plan, plan.settings.execution, signal);
  const { fragment, stores, stub } = plan;
  const planned = { fragment, stores, stages: decision.stages, schema: stub.description.schema };
  const policies = plannedPolicies(dependencies, session, plan.policies);
  options.onPolicies?.(plan.policies.names);
  const run = analyze
    ? await dependencies.analyzePlanned({ ...planned, policies }, { session, queryId, signal })
    : undefined;
  const { enforcer } = dependencies.policies ?? {};
  if (plan.policies.isGuarded)
    return answerGuardedExplain({
      ...{ run, policies: plan.policies, reads: plan.reads, sql: shownSql(query) },
      ...{ stages: decision.stages, reason: decision.reason },
      kinds: reachableKinds(plan.settings.execution, dependencies.distribution),
      isAdmin: enforcer?.isAdmin(enforcer.identityOf(session)) === true,
    });
  const scans = fragment.tables.map((table, index) => ({
    table,
    request: stub.requests[index] ?? { columns: undefined, filters: [] },
    keys: (fragment.joinKeys ?? []).flatMap(({ target, source, by }) => {
      const from = fragment.tables[source.table];
      return target.table !== index || by === undefined || from?.kind !== 'scan'
        ? []
        : [{ column: target.name, source: `${from.scan.tableName}.${source.name}` }];
    }),
  }));
  return answerExplain({
    ...{ scans, run, withoutPushdown: stub.withoutPushdown },
    isWholeColumns: fragment.wholeColumns !== undefined,
    sql: shownSql(query),
    stages: await explainedStages(dependencies, decision, signal),
    hereReason: dependencies.distribution === undefined ? undefined : decision.reason,
  });
}

async function explainedStages(
  { divide }: StatementPlannerDependencies,
  { stages, reason }: StageDecision,
  signal: AbortSignal,
): Promise<ExplainedStages | undefined> {
  if (stages === undefined || divide === undefined) return undefined;
  const splits = await Promise.all(
    stages.plan.stages.map(async ({ name, split }): Promise<readonly [string, readonly number[]]> => {
      const scan = split === undefined ? undefined : stages.scans.get(split);
      if (scan === undefined) return [name, []];
      const parts = await divide(scan.table.scan, scan.store, signal);
      return [name, parts.map(({ counts }) => counts.bytesPlanned)];
    }),
  );
  return { stages, reason, splits: new Map(splits.filter(([, bytes]) => bytes.length > 0)) };
}

/** The text as it was sent, but for what may be secret in the URLs of its files. */
function shownSql({ parsed, gated }: AnalyzedQuery): string {
  const paths = gated.fileReads.flatMap((read) => read.paths);
  return paths.reduce((sql, path) => sql.replaceAll(path, displayLocation(path)), parsed.sql);
}
