/** EXPLAIN of a statement that reads tables whose rows are partly hidden: nothing in it depends on what is hidden. */
import { quoteIdentifier } from '@svc/sql';
import type { AppliedPolicies } from '../planner/guard-relations.js';
import { type ResolvedTable, shownName } from '../planner/resolve-tables.js';
import { type TextAnswer, textAnswer } from '../results/text-answer.js';
import { type AnalyzedRun, milliseconds, oneLine } from './explain-stages.js';

export interface ExplainedGuarded {
  readonly sql: string;
  readonly policies: AppliedPolicies;
  readonly reads: readonly ResolvedTable[];
  /** Whether it was asked for elsewhere, and goes there. */
  readonly isElsewhere: boolean;
  readonly run: AnalyzedRun | undefined;
  /** Admins see what policies say. */
  readonly isAdmin: boolean;
}

export function answerGuardedExplain(explained: ExplainedGuarded): TextAnswer {
  const { sql, policies, reads, isElsewhere, run, isAdmin } = explained;
  const names = reads.map((table) => {
    const { catalog, schema, table: name } = shownName(table);
    return [catalog, schema.trim(), name].map(quoteIdentifier).join('.');
  });
  const lines = [
    ...(run === undefined ? [] : [`Ran in ${milliseconds(run.elapsedMs)}: ${run.rows} rows`]),
    `Runs ${isElsewhere ? 'whole on one of workers' : 'on one node as one fragment'}: policies hide rows of its tables`,
    `Policies: ${policies.names.length === 0 ? 'of a view' : policies.names.join(', ')}`,
    ...(isAdmin ? policies.expressions.map(({ policy, expression }) => `  ${policy}: ${oneLine(expression)}`) : []),
    // A mapping table is the policy's affair.
    ...(isAdmin ? [...new Set(names)].map((name) => `Reads ${name}`) : []),
    `SQL: ${oneLine(sql)}`,
  ];
  return textAnswer(
    [{ name: 'plan', isNullable: false }],
    lines.map((line) => [line]),
  );
}
