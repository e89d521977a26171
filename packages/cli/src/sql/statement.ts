/** Running one statement and writing what it answers. */
import { QueryError } from '@svc/base';
import type { Answer, SqlSession } from './answer/answer.js';
import { batchRowCount } from './answer/read-batches.js';
import { type FormatName, formats } from './output/format.js';
import type { Sink } from './output/sink.js';
import { writeAnswer } from './output/write-answer.js';
import type { ProgressLine } from './progress/progress-line.js';

export interface StatementOptions {
  readonly session: SqlSession;
  readonly sql: string;
  readonly sink: Sink;
  readonly format: FormatName;
  /** Columns of the terminal that the output goes to; undefined when it goes elsewhere. */
  readonly width: number | undefined;
  readonly signal: AbortSignal;
  /** Shown while the statement runs. */
  readonly progress: ProgressLine | undefined;
}

export interface StatementOutcome {
  /** Undefined where the rows were not counted. */
  readonly rowCount: number | undefined;
  readonly elapsedMs: number;
}

/**
 * Runs a statement to its end, or until `signal` aborts (CANCELLED) or nobody takes the output any more (no error).
 * Throws QueryError and OutputError.
 */
export async function runStatement(options: StatementOptions): Promise<StatementOutcome> {
  const { session, sql, sink, format, width, signal, progress } = options;
  const startedAt = performance.now();
  const signals = AbortSignal.any([signal, sink.closed]);
  progress?.start();
  try {
    const answer = await session.run(sql, {
      signal: signals,
      ...(progress === undefined ? {} : { onProgress: ({ fraction }) => progress.update(fraction) }),
    });
    const seen = progress === undefined ? answer : observed(answer, progress);
    const rowCount = await writeAnswer(seen, withoutProgress(sink, progress), {
      format: formats[format],
      width,
      signal: signals,
    });
    return { rowCount, elapsedMs: performance.now() - startedAt };
  } catch (error) {
    if (signal.aborted) throw new QueryError('CANCELLED', 'The statement was cancelled.', { cause: error });
    if (sink.closed.aborted && QueryError.from(error).code === 'CANCELLED')
      return { rowCount: undefined, elapsedMs: performance.now() - startedAt };
    throw error;
  } finally {
    progress?.stop();
  }
}

/** The answer, whose size is counted as it passes. */
function observed({ schema, messages }: Answer, progress: ProgressLine): Answer {
  const source = messages[Symbol.asyncIterator]();
  const iterator = {
    async next() {
      const next = await source.next();
      if (!next.done) progress.received(batchRowCount(next.value.header), next.value.body.byteLength);
      return next;
    },
    async return() {
      await source.return?.();
      return { done: true as const, value: undefined };
    },
  };
  return { schema, messages: { [Symbol.asyncIterator]: () => iterator } };
}

/** What is written to the terminal takes the place of the progress line. */
function withoutProgress(sink: Sink, progress: ProgressLine | undefined): Sink {
  if (progress === undefined || !progress.sharesTerminal) return sink;
  return {
    ...sink,
    write: (piece) => {
      progress.stop();
      return sink.write(piece);
    },
  };
}
