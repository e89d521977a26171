/** What a task answers, as the messages of its call. */
import { errorFields, type Logger, linkAbort, QueryError } from '@svc/base';
import type { SplitEvent, SplitRun } from '../splits/split-task.js';
import { encodeWorkerFrame, type WorkerFrame } from './frames.js';
import { createRenewals } from './renewals.js';
import type { RunTaskOptions, TaskMessages } from './worker-door.js';

export interface AnswerMessage {
  readonly metadata: Uint8Array;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  release(): void;
}

export interface AnswerOptions {
  run(options: RunTaskOptions): Promise<SplitRun>;
  readonly messages: TaskMessages;
  readonly signal: AbortSignal;
  readonly aliveMs: number;
  readonly logger: Logger;
}

const nothing = new Uint8Array(0);
const encapsulationBytes = 8;

/**
 * The run's schema and events. A failure of the run is the last event, and the answer then is `false`. However it ends, the run is
 * over when this is.
 */
export async function* answerFrames(
  options: AnswerOptions,
): AsyncGenerator<AnswerMessage, boolean, undefined> {
  const { messages, signal, logger } = options;
  using stop = linkAbort(signal);
  const frames = createFrameQueue(options.aliveMs);
  const renew = createRenewals({ send: frames.push, read: () => messages.read() });
  const started = options.run({ signal: stop.signal, renew });
  let events: AsyncIterator<SplitEvent> | undefined;
  /** Asked for, and not sent yet. */
  let pending: Promise<IteratorResult<SplitEvent>> | undefined;
  let isOver = false;
  try {
    const run = yield* meanwhile(started, frames);
    events = run.events[Symbol.asyncIterator]();
    yield { ...frameMessage({ kind: 'schema' }), header: run.schema.subarray(encapsulationBytes) };
    for (;;) {
      pending = events.next();
      const next = yield* meanwhile(pending, frames);
      pending = undefined;
      isOver = next.done === true;
      if (next.done === true) return true;
      yield eventMessage(next.value);
    }
  } catch (caught) {
    if (signal.aborted) throw caught;
    const error = QueryError.from(caught);
    if (error.code === 'INTERNAL_ERROR')
      logger.log('error', 'a task failed by a defect', errorFields(caught));
    pending = undefined;
    yield frameMessage({ kind: 'event', event: { kind: 'error', error: error.toSerialized() } });
    return false;
  } finally {
    if (!isOver) {
      stop.abort(new QueryError('CANCELLED', 'Nobody waits for the answer any more.'));
      pending?.then(releaseLate, () => undefined); // ended by the abort
      events ??= await started.then(
        (run) => run.events[Symbol.asyncIterator](),
        () => undefined, // it did not start
      );
      await events?.return?.();
    }
  }
}

function releaseLate(late: IteratorResult<SplitEvent>): void {
  if (late.done !== true && late.value.kind === 'message') late.value.message.release();
}

function eventMessage(event: SplitEvent): AnswerMessage {
  if (event.kind === 'end') return frameMessage({ kind: 'event', event });
  const { kind: messageKind, rowCount, header, body, release } = event.message;
  const metadata = encodeWorkerFrame({
    kind: 'event',
    event: { kind: 'message', split: event.split, messageKind, rowCount },
  });
  return { metadata, header, body, release: () => release.call(event.message) };
}

function frameMessage(frame: WorkerFrame): AnswerMessage {
  return { metadata: encodeWorkerFrame(frame), header: nothing, body: nothing, release: () => undefined };
}

interface FrameQueue {
  readonly push: (frame: WorkerFrame) => void;
  take(): WorkerFrame | undefined;
  /** Resolves when there is something to take, or nothing was sent for a while. */
  wake(): { readonly woken: Promise<void>; stop(): void };
}

function createFrameQueue(aliveMs: number): FrameQueue {
  const queue: WorkerFrame[] = [];
  let onPush = () => {};
  return {
    push(frame) {
      queue.push(frame);
      onPush();
    },
    take: () => queue.shift(),
    wake() {
      let timer: NodeJS.Timeout | undefined;
      const woken = new Promise<void>((resolve) => {
        onPush = resolve;
        if (queue.length > 0) resolve();
        else timer = setTimeout(resolve, aliveMs);
      });
      return { woken, stop: () => clearTimeout(timer) };
    },
  };
}

/** The result of `work`; until it is there, what else there is to say, and from time to time that the worker is alive. */
async function* meanwhile<T>(
  work: Promise<T>,
  frames: FrameQueue,
): AsyncGenerator<AnswerMessage, T, undefined> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  const settled = work.then(done, done);
  for (;;) {
    const { woken, stop } = frames.wake();
    try {
      await Promise.race([settled, woken]);
    } finally {
      stop();
    }
    const frame = frames.take();
    if (frame !== undefined) yield frameMessage(frame);
    else if (isDone) return await work;
    else yield frameMessage({ kind: 'alive' });
  }
}
