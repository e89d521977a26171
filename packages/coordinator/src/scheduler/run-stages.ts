/**
 * Runs a statement in stages: splits on executors, what stands between and behind them here. Until the first row is there
 * nothing has been answered, so whatever fails before may be decided by running the statement on one node.
 */
import { linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type { FragmentResult } from '@svc/fragment-fn';
import type { Stage } from '@svc/sql';
import { isSameSchema } from '../service/schema-check.js';
import { resultMessages } from './result-messages.js';
import { StageRuns, type StageRunsOptions, type WholeStatement } from './stage-runs.js';

export interface RunStagesOptions extends Omit<StageRunsOptions, 'signal' | 'onFailure'> {
  /** Announced to the client. */
  readonly schema: Uint8Array;
  /** What is run where the plan is not divided. */
  readonly statement: WholeStatement;
  readonly signal: AbortSignal;
}

/** Resolves when the first row is there, or it is known that there is none. Throws QueryError; then nothing is left behind. */
export async function runStages(options: RunStagesOptions): Promise<FragmentResult> {
  const link = linkAbort(options.signal);
  const runs = new StageRuns({ ...options, signal: link.signal, onFailure: (error) => link.abort(error) });
  try {
    const last = options.stages.plan.stages.at(-1);
    if (last === undefined) throw new QueryError('INTERNAL_ERROR', 'A plan has no stage.');
    const result = await startLast(runs, last, options);
    if (!isSameSchema(result.schema, options.schema)) {
      await result.messages[Symbol.asyncIterator]().return?.();
      throw new QueryError('INTERNAL_ERROR', 'The stages of a statement answer other columns than it has.');
    }
    const messages = resultMessages(result.messages, options.context.limits, async (how) => {
      // Who watches for the failure of a result must not take its end for one.
      if (how === 'complete') link[Symbol.dispose]();
      else link.abort(new QueryError('CANCELLED', 'Nobody reads the result any more.'));
      await runs.close();
    });
    return { ...result, messages, statistics: () => runs.statistics() };
  } catch (caught) {
    const error = QueryError.from(caught);
    link.abort(error);
    await runs.close();
    throwIfAborted(options.signal);
    throw runs.failure ?? error;
  }
}

async function startLast(
  runs: StageRuns,
  last: Stage,
  { stages, statement, schema }: RunStagesOptions,
): Promise<FragmentResult> {
  if (stages.isWhole === true) return await runs.streamWhole(last, statement, schema);
  runs.startAllBut(last);
  return last.split === undefined ? await runs.runHere(last, 'client') : await runs.stream(last, schema);
}
