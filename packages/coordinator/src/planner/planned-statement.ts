import type { StatementType } from '@svc/base';
import type { FragmentRequest } from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import type { PlannedPolicies } from '../policy/planned-policies.js';
import type { TextAnswer } from '../results/text-answer.js';
import type { PlannedStages } from '../scheduler/planned-stages.js';

/** A statement that is ready to run: its result's schema is known and its snapshots are pinned. */
export type PlannedStatement = PlannedFragment | PlannedAnswer;

interface PlannedBase {
  /** The id under which it was planned: that of its first run too. */
  readonly queryId?: string;
  readonly sql: string;
  /** As the client sent it, where `sql` is not that any more. */
  readonly sentSql?: string | undefined;
  readonly statementType: StatementType;
  /** Encapsulated Arrow IPC schema, exactly what running it will answer. */
  readonly schema: Uint8Array;
  readonly planningMs: number;
  /** What it was planned under; absent where nothing of it depends on policies. */
  readonly policies?: PlannedPolicies | undefined;
}

/** Runs in an engine. The request may be run again: it reads the same snapshots. */
export interface PlannedFragment extends PlannedBase {
  readonly kind: 'fragment';
  /** Everything but the query id, which each run gets anew. */
  readonly fragment: Omit<FragmentRequest, 'queryId'>;
  /**
   * One per table of the fragment, where it has files: opens them with what the user was granted for it. Never leaves
   * the process.
   */
  readonly stores: readonly (ObjectStore | undefined)[];
  /** Where it is to be run on executors; `fragment` answers the same. */
  readonly stages?: PlannedStages | undefined;
}

/** Answered by the coordinator already (SHOW, DESCRIBE, EXPLAIN, USE, SET). */
export interface PlannedAnswer extends PlannedBase {
  readonly kind: 'answer';
  readonly answer: TextAnswer;
  /** Of statements that change something: the rows that were changed. */
  readonly changedRows?: bigint;
}

const bytesPerFile = 400;
const bytesPerRowGroup = 8;

/** About how much memory a planned statement takes: its text, its answer, and a row for each file that it will read. */
export function plannedBytes(planned: PlannedStatement): number {
  const text = 2 * (planned.sql.length + (planned.sentSql?.length ?? 0)) + planned.schema.length;
  if (planned.kind === 'answer')
    return planned.answer.messages.reduce((sum, { body }) => sum + body.length, text);
  const { tables, parameters } = planned.fragment;
  const rowBytes = tables.reduce(
    (sum, table) => sum + (table.kind === 'rows' ? table.rows.byteLength : 0),
    0,
  );
  const { stages } = planned;
  const stageBytes = (stages?.plan.stages ?? []).reduce((sum, { sql }) => sum + 2 * sql.length, 0);
  const scans = [...tables, ...[...(stages?.scans.values() ?? [])].map(({ table }) => table)];
  // The scan of a stage is often that of the statement.
  const groups = new Set(scans.flatMap((table) => (table.kind === 'scan' ? table.scan.groups : [])));
  const files = [...groups].flatMap((group) => group.files);
  return files.reduce(
    (sum, { location, rowGroups }) =>
      sum + bytesPerFile + 2 * location.length + bytesPerRowGroup * (rowGroups?.length ?? 0),
    text + rowBytes + stageBytes + (parameters?.length ?? 0),
  );
}
