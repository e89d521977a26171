/**
 * What the server of a worker needs of the worker behind it: one call for each task, both ways, and small actions.
 * `S` is what a call was admitted as, opaque here.
 */
import type { CallContext } from '../backend.js';
import type { SentMessage } from '../framing/send-result.js';

export interface WorkerBackend<S> {
  /** Whose call it is, by its bearer; nothing of the call is read before. Throws FRAGMENT_REFUSED. */
  admit(bearer: string | undefined, context: CallContext): Promise<S>;
  /** Iterated once; ends early by `return`, also while a `next` is pending, which `context.signal` then ends. */
  exchange(caller: S, exchange: Exchange, context: CallContext): AsyncIterable<SentMessage>;
  /** Throws NOT_SUPPORTED for an action that it does not have. */
  action(caller: S, type: string, body: Uint8Array, context: CallContext): Promise<Uint8Array>;
}

export interface Exchange {
  /** What the client sends, pulled; undefined at its end. One read at a time. Throws when the client goes away. */
  read(): Promise<ExchangeMessage | undefined>;
}

export interface ExchangeMessage {
  readonly header: Uint8Array;
  readonly metadata: Uint8Array;
  readonly body: Uint8Array;
}
