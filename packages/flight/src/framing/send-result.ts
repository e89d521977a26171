import { abortable, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import { schemaMessage } from '../arrow/ipc-message.js';
import type { ResultMessage, ResultStream } from '../backend.js';
import { flightDataLength, type IpcMessage } from './flight-data.js';
import type { ResultSink } from './result-sink.js';

export interface SendResultOptions {
  /** The call's signal: its abort ends the source at once. */
  readonly signal: AbortSignal;
  readonly maxMessageBytes: number;
  /** How long an ended result still waits for a reader, so that the error can follow the data. */
  readonly lastWordMs: number;
  /** Errors that have no other way out: of the source's `return`. */
  readonly onBackgroundError: (error: unknown) => void;
}

/** How long the schema waits for the first message. A small result takes one write then, which its client reads at once. */
const SCHEMA_HOLD_MS = 5;

/** A message of which the memory is given back once it was sent. */
export type SentMessage = IpcMessage & Pick<ResultMessage, 'release'>;

/** Sends the schema and then every message, as `sendMessages` does. */
export async function sendResult(
  result: ResultStream,
  sink: ResultSink,
  options: SendResultOptions,
): Promise<void> {
  await sendMessages([schemaMessage(result.schema)], result, sink, options);
}

/**
 * Sends `first` and then every message, pulling the next one only when the socket has taken the last; `first` goes
 * with the first message when that comes soon. Each message is released exactly once, after its write has settled;
 * messages that arrive too late are released unsent. However this ends, the source has ended or its `return` has been
 * called. Rejects with the source's error, the reason of the signal, or RESULT_TOO_LARGE for a message that clients would
 * refuse.
 */
export async function sendMessages(
  first: readonly IpcMessage[],
  result: { readonly messages: AsyncIterable<SentMessage>; readonly failed?: AbortSignal },
  sink: ResultSink,
  options: SendResultOptions,
): Promise<void> {
  using stop = linkAbort(options.signal);
  using _failure = follow(result.failed, (reason) => stop.abort(QueryError.from(reason)));
  const iterator = result.messages[Symbol.asyncIterator]();
  const writer = createWriter(sink, options.lastWordMs);
  let started = false;
  let ended = false;
  /** Pulled and not sent yet. */
  let next: Promise<SentMessage | undefined> | undefined;
  const endSource = () => {
    if (ended) return;
    ended = true;
    // A generator that never started would not run its `finally` blocks on return.
    if (!started) releaseWhenLate(iterator.next());
    Promise.resolve(iterator.return?.()).catch(options.onBackgroundError);
  };
  using _stop = follow(stop.signal, () => {
    endSource();
    writer.stop();
  });
  try {
    throwIfAborted(stop.signal);
    started = true;
    let unsent = first;
    next = pull(iterator, stop.signal);
    if (unsent.length > 0 && !(await settlesWithin(next, SCHEMA_HOLD_MS))) {
      await writer.write(unsent);
      unsent = [];
    }
    for (;;) {
      const message = await next;
      next = undefined;
      if (message === undefined) {
        ended = true;
        if (unsent.length > 0) await writer.write(unsent);
        return;
      }
      await send(message, unsent, writer, options.maxMessageBytes);
      unsent = [];
      next = pull(iterator, stop.signal);
    }
  } catch (error) {
    next?.then(
      (late) => late?.release(),
      () => undefined, // it is the error at hand, or explains less than that
    );
    endSource();
    throwIfAborted(stop.signal); // a reason explains more than the write it interrupted
    throw error;
  }
}

/** Whether the promise settles, either way, before the time is over. */
async function settlesWithin(promise: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const isOver = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  const hasSettled = promise.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([hasSettled, isOver]);
  } finally {
    clearTimeout(timer);
  }
}

async function pull(
  iterator: AsyncIterator<SentMessage>,
  signal: AbortSignal,
): Promise<SentMessage | undefined> {
  throwIfAborted(signal);
  const pending = iterator.next();
  try {
    const next = await abortable(pending, signal);
    return next.done === true ? undefined : next.value;
  } catch (error) {
    releaseWhenLate(pending);
    throw error;
  }
}

function releaseWhenLate(pending: Promise<IteratorResult<SentMessage>>): void {
  pending.then(
    (late) => {
      if (late.done !== true) late.value.release();
    },
    () => undefined, // nobody waits for this error any more, or it was reported already
  );
}

async function send(
  message: SentMessage,
  before: readonly IpcMessage[],
  writer: Writer,
  maxMessageBytes: number,
): Promise<void> {
  try {
    const length = flightDataLength(message);
    if (length > maxMessageBytes) {
      throw new QueryError(
        'RESULT_TOO_LARGE',
        `A row batch of ${length} bytes is larger than the message limit of ${maxMessageBytes} bytes.`,
      );
    }
    await writer.write([...before, message]);
  } finally {
    message.release();
  }
}

interface Writer {
  write(messages: readonly IpcMessage[]): Promise<void>;
  /** From now on a write gets `lastWordMs`, then the stream is cut off, which settles it. */
  stop(): void;
}

function createWriter(sink: ResultSink, lastWordMs: number): Writer {
  let isStopped = false;
  let isWriting = false;
  let timer: NodeJS.Timeout | undefined;
  const limit = () => {
    if (isStopped && isWriting) timer = setTimeout(() => sink.reset(), lastWordMs);
  };
  return {
    async write(messages) {
      isWriting = true;
      limit();
      try {
        await sink.write(messages);
      } finally {
        isWriting = false;
        clearTimeout(timer);
      }
    },
    stop() {
      isStopped = true;
      limit();
    },
  };
}

/** Calls `listener` on abort, or at once when aborted already; disposing removes it. */
function follow(signal: AbortSignal | undefined, listener: (reason: unknown) => void): Disposable {
  const onAbort = () => listener(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', onAbort) };
}
