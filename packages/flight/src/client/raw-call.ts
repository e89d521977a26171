/** One gRPC call with bytes for messages, pulled: nothing is read from the connection before it is asked for. */
import { type Channel, type Metadata, type StatusObject, status } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { type FlightMethod, methodPath } from '../server/service-definition.js';
import { errorOfStatus } from './flight-error.js';

export interface RawCallOptions {
  readonly channel: Channel;
  readonly method: FlightMethod;
  readonly metadata: Metadata;
  readonly signal?: AbortSignal | undefined;
  readonly deadlineMs?: number | undefined;
}

export interface RawCall extends Disposable {
  /** Resolves once the message may be followed by another, or the call is over. */
  send(message: Buffer): Promise<void>;
  halfClose(): void;
  /** The next message, or undefined at a successful end. Rejects with the server's error. One read at a time. */
  read(): Promise<Buffer | undefined>;
  /** Initial metadata, or that of the trailers when there was none. Known after the first read. */
  headers(): Metadata | undefined;
  trailers(): Metadata | undefined;
}

type Outcome = { readonly message: Buffer } | { readonly status: StatusObject };

/** Starts a call. Disposing cancels what has not ended. */
export function openRawCall(options: RawCallOptions): RawCall {
  const { channel, method, metadata, signal, deadlineMs } = options;
  const deadline = deadlineMs === undefined ? Number.POSITIVE_INFINITY : Date.now() + deadlineMs;
  const call = channel.createCall(methodPath(method), deadline, null, null, null);
  let initial: Metadata | undefined;
  let end: StatusObject | undefined;
  let waiting: ((outcome: Outcome) => void) | undefined;
  let onOver = () => {};
  const over = new Promise<void>((resolve) => {
    onOver = resolve;
  });
  const deliver = (outcome: Outcome) => {
    const reader = waiting;
    waiting = undefined;
    reader?.(outcome);
  };
  const cancel = () => {
    if (end === undefined) call.cancelWithStatus(status.CANCELLED, 'The caller cancelled the call.');
  };
  call.start(metadata, {
    onReceiveMetadata: (received) => {
      initial = received;
    },
    onReceiveMessage: (message: Buffer) => deliver({ message }),
    onReceiveStatus: (received) => {
      end = received;
      signal?.removeEventListener('abort', cancel);
      onOver();
      deliver({ status: received });
    },
  });
  if (signal?.aborted) cancel();
  else signal?.addEventListener('abort', cancel, { once: true });

  return {
    // A server that ends the call while a message is on its way never takes it; the reader learns why.
    send: (message) =>
      Promise.race([
        over,
        new Promise<void>((resolve, reject) => {
          const callback = (error?: Error | null) => {
            if (error && end === undefined) reject(new QueryError('PEER_UNAVAILABLE', error.message));
            else resolve();
          };
          call.sendMessageWithContext({ callback }, message);
        }),
      ]),
    halfClose: () => call.halfClose(),
    async read() {
      const outcome = await new Promise<Outcome>((resolve) => {
        if (end !== undefined) {
          resolve({ status: end });
          return;
        }
        waiting = resolve;
        call.startRead();
      });
      if ('message' in outcome) return outcome.message;
      if (outcome.status.code === status.OK) return undefined;
      if (signal?.aborted) throw QueryError.from(signal.reason);
      throw errorOfStatus(outcome.status.code, outcome.status.details);
    },
    headers: () => initial,
    trailers: () => end?.metadata,
    [Symbol.dispose]: () => {
      signal?.removeEventListener('abort', cancel);
      cancel();
    },
  };
}
