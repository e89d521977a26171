/**
 * One invocation: open the order, run its splits, answer. It never throws: the service would log what it throws. When it
 * is over, nothing of it is left in the sandbox, which may serve another user next.
 */
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { linkAbort, QueryError } from '@svc/base';
import type { SplitRun } from '../splits/split-task.js';
import { encodeEventHeader } from '../wire/event-codec.js';
import type { RemoteTask } from '../wire/task-codec.js';
import { AnswerWriter, jsonHeader } from './answer-writer.js';
import type { InvocationSummary } from './invocation.js';
import { openOrder } from './open-order.js';
import { clearSandbox, openSandbox, type SandboxPlace } from './sandbox.js';
import type { OpeningKeys } from './sealing.js';
import { credentialsAreOver, credentialsEnd, SplitClock, timeIsOver, timeLimits } from './time-left.js';

export interface InvocationContext {
  readonly awsRequestId: string;
  getRemainingTimeInMillis(): number;
}

export type FragmentHandler = (event: unknown, stream: Writable, context: InvocationContext) => Promise<void>;

/** A task under way. Disposing gives up its engine; then nothing uses the sandbox's folder any more. */
export interface RunningTask extends AsyncDisposable {
  readonly run: SplitRun;
}

export interface HandlerParts {
  readonly functionName: string;
  /** Throws CONFIGURATION_ERROR. */
  readonly keys: () => Promise<OpeningKeys>;
  /** The only place on disk that may be written to. */
  readonly temporaryFolder: string;
  readonly startTask: (task: RemoteTask, place: SandboxPlace, signal: AbortSignal) => Promise<RunningTask>;
  readonly log: (fields: Readonly<Record<string, unknown>>) => void;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const noSpool = { inlineBytes: Number.POSITIVE_INFINITY, partBytes: 0, partUrls: [] };

export function createFragmentHandler(parts: HandlerParts): FragmentHandler {
  let isColdStart = true;
  return async (event, stream, context) => {
    const started = performance.now();
    const summary = { isColdStart };
    isColdStart = false;
    const error = await invoke(event, stream, context, parts, (writer) => ({
      ...summary,
      frames: writer.frames,
      parts: writer.parts,
      durationMs: Math.ceil(performance.now() - started),
    }));
    // Neither the query nor its user: who invoked knows the request's id.
    parts.log({
      message: 'invocation',
      request_id: context.awsRequestId,
      outcome: error?.code ?? 'ok',
      ...(error?.code === 'INTERNAL_ERROR' && { error_place: placeOf(error) }),
      cold_start: summary.isColdStart,
      duration_ms: Math.round(performance.now() - started),
    });
  };
}

/** Where something unexpected came from. Its message may quote anything, so it is left out. */
function placeOf({ cause }: QueryError): string {
  if (!(cause instanceof Error)) return 'unknown';
  const frames = (cause.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line));
  const code = 'code' in cause ? ` ${String(cause.code).slice(0, 40)}` : '';
  return `${cause.name}${code}${frames.slice(0, 8).join('')}`;
}

/** Answers what went wrong, once it has been told to who invoked. */
async function invoke(
  event: unknown,
  stream: Writable,
  context: InvocationContext,
  parts: HandlerParts,
  summary: (writer: AnswerWriter) => InvocationSummary,
): Promise<QueryError | undefined> {
  const { workMs, answerMs } = timeLimits(context.getRemainingTimeInMillis());
  using work = linkAbort(undefined, workMs, timeIsOver);
  using answering = linkAbort(undefined, answerMs, timeIsOver);
  let writer = new AnswerWriter(stream, noSpool, answering.signal);
  let failure: QueryError | undefined;
  try {
    const opener = { keys: await keysOf(parts), functionName: parts.functionName, nowMs: parts.now() };
    const { order, task } = await openOrder(event, opener, work.signal);
    writer = new AnswerWriter(stream, order, answering.signal);
    try {
      await runTask(task, writer, parts, work.signal);
    } finally {
      // Of a task that failed too: what has ended counts.
      await writer.flush();
    }
  } catch (caught) {
    failure = QueryError.from(caught);
  }
  try {
    await writer.drop();
    if (failure !== undefined) {
      const error = failure.toSerialized();
      await writer.writeLast({ kind: 'event', header: encodeEventHeader({ kind: 'error', error }) });
    }
    await writer.writeLast({ kind: 'end', header: jsonHeader(summary(writer)) });
    stream.end();
    await finished(stream);
  } catch (caught) {
    stream.destroy();
    failure ??= QueryError.from(caught);
  }
  return failure;
}

async function keysOf(parts: HandlerParts): Promise<OpeningKeys> {
  try {
    return await parts.keys();
  } catch (cause) {
    throw new QueryError(
      'FRAGMENT_REFUSED',
      'The function does not take the fragment: it has no key to open it with (SVC_FUNCTION_KEYS).',
      { cause },
    );
  }
}

async function runTask(
  task: RemoteTask,
  writer: AnswerWriter,
  parts: HandlerParts,
  signal: AbortSignal,
): Promise<void> {
  const endMs = credentialsEnd(task);
  const clock = new SplitClock(parts.now);
  if (!clock.hasTimeForOneMore(endMs)) throw credentialsAreOver();
  const place = await openSandbox(parts.temporaryFolder);
  try {
    await using running = await parts.startTask(task, place, signal);
    await writer.write({ kind: 'schema', body: running.run.schema });
    let splitsLeft = task.request.splits.length;
    for await (const event of running.run.events) {
      if (event.kind === 'message') {
        const { split, message } = event;
        try {
          const { kind: messageKind, rowCount } = message;
          const header = encodeEventHeader({ kind: 'message', split, messageKind, rowCount });
          await writer.write({ kind: 'event', header, arrowHeader: message.header, body: message.body });
        } finally {
          message.release();
        }
        continue;
      }
      await writer.write({ kind: 'event', header: encodeEventHeader(event) });
      splitsLeft -= 1;
      clock.ended();
      if (splitsLeft > 0 && !clock.hasTimeForOneMore(endMs)) throw credentialsAreOver();
    }
  } catch (error) {
    const isDenied = error instanceof QueryError && error.code === 'STORAGE_ACCESS_DENIED';
    throw isDenied && parts.now() >= endMs ? credentialsAreOver(error) : error;
  } finally {
    await clearSandbox(place);
  }
}
