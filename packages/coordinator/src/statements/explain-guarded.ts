/**
 * EXPLAIN of a statement that reads tables whose rows are partly hidden: nothing in it depends on what is hidden. Where and in
 * how many parts it runs does, and the texts of stages have the policies' expressions in them: both are for admins.
 */
import { quoteIdentifier } from '@svc/sql';
import type { AppliedPolicies } from '../planner/guard-relations.js';
import { type ResolvedTable, shownName } from '../planner/resolve-tables.js';
import { type TextAnswer, textAnswer } from '../results/text-answer.js';
import type { ExecutorKinds } from '../scheduler/executors.js';
import type { PlannedStages } from '../scheduler/planned-stages.js';
import { type AnalyzedRun, linesOfStage, milliseconds, oneLine } from './explain-stages.js';

export interface ExplainedGuarded {
  readonly sql: string;
  readonly policies: AppliedPolicies;
  readonly reads: readonly ResolvedTable[];
  /** Where the session's statements may run besides here. */
  readonly kinds: ExecutorKinds;
  /** Absent: it runs here. */
  readonly stages: PlannedStages | undefined;
  readonly reason: string;
  readonly run: AnalyzedRun | undefined;
  /** Admins see what policies say. */
  readonly isAdmin: boolean;
}

export function answerGuardedExplain(explained: ExplainedGuarded): TextAnswer {
  const { sql, policies, reads, run, isAdmin } = explained;
  const names = reads.map((table) => {
    const { catalog, schema, table: name } = shownName(table);
    return [catalog, schema.trim(), name].map(quoteIdentifier).join('.');
  });
  const lines = [
    ...(run === undefined ? [] : [`Ran in ${milliseconds(run.elapsedMs)}: ${run.rows} rows`]),
    ...(isAdmin ? placeLines(explained) : [placeForAll(explained)]),
    `Policies: ${policies.names.length === 0 ? 'of a view' : policies.names.join(', ')}`,
    ...(isAdmin
      ? policies.expressions.map(({ policy, expression }) => `  ${policy}: ${oneLine(expression)}`)
      : []),
    // A mapping table is the policy's affair.
    ...(isAdmin ? [...new Set(names)].map((name) => `Reads ${name}`) : []),
    `SQL: ${oneLine(sql)}`,
  ];
  return textAnswer(
    [{ name: 'plan', isNullable: false }],
    lines.map((line) => [line]),
  );
}

function placeForAll({ kinds }: ExplainedGuarded): string {
  if (kinds.length === 0) return 'Runs on one node as one fragment: policies hide rows of its tables';
  return `Runs on this node or on ${kinds.join(' and ')}, whole or in stages: which is not said, for policies hide rows of its tables`;
}

function placeLines({ stages, reason }: ExplainedGuarded): readonly string[] {
  if (stages === undefined) return [`Runs on one node as one fragment: ${reason}`];
  const { plan, kinds, isWhole, scans } = stages;
  const places = kinds.join(' and ');
  if (isWhole === true) return [`Runs whole on one of ${places}: ${reason}`];
  const scanText = (name: string) => {
    const scan = scans.get(name)?.table.scan;
    return scan === undefined ? name : `${name} (${scan.tableName})`;
  };
  return [
    `Runs in ${plan.stages.length} stages on ${places}: ${reason}`,
    ...plan.stages.flatMap((stage) =>
      linesOfStage(stage, stage.split === undefined ? 'on this node' : `on ${places}`, scanText),
    ),
  ];
}
