/** Starts a statement where it is to run: in stages on executors, or here, as one fragment with the user's own text. */
import { errorFields, type Logger, outgoingCorrelation, QueryError, throwIfAborted } from '@svc/base';
import {
  type EnvironmentDependencies,
  environmentOf,
  type FragmentRequest,
  type FragmentResult,
  runFragment,
} from '@svc/fragment-fn';
import type { ObjectStore } from '@svc/lake';
import type { PlannedFragment } from '../planner/planned-statement.js';
import { guardedError, guardedMessages, guardedSignal } from '../policy/guarded-error.js';
import { executorsOf } from '../scheduler/executors.js';
import { mayRunHere } from '../scheduler/failure.js';
import type { PlannedStages } from '../scheduler/planned-stages.js';
import { runStages } from '../scheduler/run-stages.js';
import type { Scheduler } from '../scheduler/scheduler.js';
import type { FragmentReport } from '../tracker/fragment-record.js';

export type PlannedToRun = Pick<PlannedFragment, 'fragment' | 'stores' | 'stages' | 'schema' | 'policies'>;

export interface StartDependencies extends EnvironmentDependencies {
  readonly logger: Logger;
  readonly scheduler?: Scheduler | undefined;
}

export interface StartOptions {
  readonly planned: PlannedToRun;
  readonly queryId: string;
  readonly signal: AbortSignal;
  report(report: FragmentReport): void;
  /** Told when what was to run in stages runs as one fragment. */
  onHereAfterAll?(): void;
}

/** Resolves when the schema is known. Throws QueryError; then nothing is left behind. */
export async function startFragments(
  dependencies: StartDependencies,
  options: StartOptions,
): Promise<FragmentResult> {
  if (options.planned.policies?.isGuarded !== true) return await start(dependencies, options);
  try {
    const result = await start(dependencies, options);
    const { messages, failed } = result;
    return { ...result, messages: guardedMessages(messages), failed: guardedSignal(failed) };
  } catch (error) {
    throw guardedError(error);
  }
}

async function start(dependencies: StartDependencies, options: StartOptions): Promise<FragmentResult> {
  const { planned, queryId, signal } = options;
  const { scheduler, logger } = dependencies;
  const { stages } = planned;
  if (stages !== undefined && scheduler !== undefined)
    try {
      return await startStages(dependencies, { ...options, stages, scheduler });
    } catch (caught) {
      throwIfAborted(signal);
      const error = QueryError.from(caught);
      if (!mayRunHere(error, stages.isForced)) throw error;
      options.onHereAfterAll?.();
      // Nothing has been answered: what one node says is the statement's answer.
      const level = error.category === 'internal' ? 'warn' : 'info';
      const told = planned.policies?.isGuarded === true ? guardedError(error) : error;
      logger.log(level, 'query runs on one node after all', { query_id: queryId, ...errorFields(told) });
    }
  return await runHere(dependencies, { ...planned.fragment, queryId }, planned.stores, signal);
}

async function startStages(
  dependencies: StartDependencies,
  {
    planned,
    queryId,
    signal,
    report,
    stages,
    scheduler,
  }: StartOptions & { readonly stages: PlannedStages; readonly scheduler: Scheduler },
): Promise<FragmentResult> {
  const { lane, owner, settings, setup, limits } = planned.fragment;
  const { traceparent } = outgoingCorrelation();
  return await runStages({
    ...{ stages, signal, report, parts: scheduler.parts, divide: scheduler.divide },
    schema: planned.schema,
    statement: { request: { ...planned.fragment, queryId }, stores: planned.stores },
    context: {
      ...{ queryId, lane, owner, settings, setup, limits },
      ...(traceparent !== undefined && { traceparent }),
    },
    executors: () => executorsOf(scheduler.executors, stages.kinds),
    runLocal: (request, stores, within) => runHere(dependencies, request, stores, within),
  });
}

function runHere(
  dependencies: StartDependencies,
  request: FragmentRequest,
  stores: readonly (ObjectStore | undefined)[],
  signal: AbortSignal,
): Promise<FragmentResult> {
  for (const table of request.tables)
    if (table.kind === 'scan')
      dependencies.metrics.fragmentRows.inc({ place: 'here' }, table.scan.counts.rowsPlanned);
  return runFragment(request, environmentOf(dependencies, { fragment: request, stores }), { signal });
}
