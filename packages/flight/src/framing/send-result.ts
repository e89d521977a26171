import { abortable, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import { schemaMessage } from '../arrow/ipc-message.js';
import type { ResultMessage, ResultStream } from '../backend.js';
import { flightDataLength } from './flight-data.js';
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

/**
 * Sends the schema and then every message, pulling the next one only when the socket has taken the last. Each message
 * is released exactly once, after its write has settled; messages that arrive too late are released unsent. However
 * this ends, the source has ended or its `return` has been called. Rejects with the source's error, the reason of the
 * signal, or RESULT_TOO_LARGE for a message that clients would refuse.
 */
export async function sendResult(
  result: ResultStream,
  sink: ResultSink,
  options: SendResultOptions,
): Promise<void> {
  using stop = linkAbort(options.signal);
  using _failure = follow(result.failed, (reason) => stop.abort(QueryError.from(reason)));
  const iterator = result.messages[Symbol.asyncIterator]();
  let started = false;
  let ended = false;
  const endSource = () => {
    if (ended) return;
    ended = true;
    // A generator that never started would not run its `finally` blocks on return.
    if (!started) releaseWhenLate(iterator.next());
    Promise.resolve(iterator.return?.()).catch(options.onBackgroundError);
  };
  using _end = follow(stop.signal, endSource);
  try {
    throwIfAborted(stop.signal);
    await writeUntilStopped(sink.write(schemaMessage(result.schema)), sink, stop.signal, options.lastWordMs);
    for (;;) {
      started = true;
      const message = await pull(iterator, stop.signal);
      if (message === undefined) {
        ended = true;
        return;
      }
      await send(message, sink, stop.signal, options);
    }
  } catch (error) {
    endSource();
    throwIfAborted(stop.signal); // a reason explains more than the write it interrupted
    throw error;
  }
}

async function pull(
  iterator: AsyncIterator<ResultMessage>,
  signal: AbortSignal,
): Promise<ResultMessage | undefined> {
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

function releaseWhenLate(pending: Promise<IteratorResult<ResultMessage>>): void {
  pending.then(
    (late) => {
      if (late.done !== true) late.value.release();
    },
    () => undefined, // nobody waits for this error any more, or it was reported already
  );
}

async function send(
  message: ResultMessage,
  sink: ResultSink,
  signal: AbortSignal,
  options: SendResultOptions,
): Promise<void> {
  try {
    const length = flightDataLength(message);
    if (length > options.maxMessageBytes) {
      throw new QueryError(
        'RESULT_TOO_LARGE',
        `A row batch of ${length} bytes is larger than the message limit of ${options.maxMessageBytes} bytes.`,
      );
    }
    await writeUntilStopped(sink.write(message), sink, signal, options.lastWordMs);
  } finally {
    message.release();
  }
}

/** Waits for the write to settle. After a stop it gets `lastWordMs`, then the stream is cut off, which settles it. */
async function writeUntilStopped(
  written: Promise<void>,
  sink: ResultSink,
  signal: AbortSignal,
  lastWordMs: number,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  using _stop = follow(signal, () => {
    timer = setTimeout(() => sink.reset(), lastWordMs);
  });
  try {
    await written;
  } finally {
    clearTimeout(timer);
  }
}

/** Calls `listener` on abort, or at once when aborted already; disposing removes it. */
function follow(signal: AbortSignal | undefined, listener: (reason: unknown) => void): Disposable {
  const onAbort = () => listener(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', onAbort) };
}
