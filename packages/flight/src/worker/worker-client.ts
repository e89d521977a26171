/** The coordinator's end of its calls to one worker. */
import { Metadata } from '@grpc/grpc-js';
import { outgoingCorrelation, QueryError } from '@svc/base';
import { type ClientTls, openChannel } from '../client/channel.js';
import { openRawCall, type RawCall } from '../client/raw-call.js';
import { encodeFlightData, type IpcMessage } from '../framing/flight-data.js';
import { ActionSchema, FlightDataSchema, ResultSchema } from '../gen/Flight_pb.js';
import { decodeMessage, encodeMessage } from '../messages/any.js';
import type { FlightMethod } from '../server/service-definition.js';
import type { ExchangeMessage } from './worker-backend.js';
import { maxTaskMessageBytes } from './worker-limits.js';

export interface WorkerClientOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: ClientTls;
  readonly keepalive: { readonly timeMs: number; readonly timeoutMs: number };
}

export interface WorkerClient {
  /** Disposing the call cancels it. */
  exchange(bearer: string, signal: AbortSignal): ExchangeCall;
  action(type: string, body: Uint8Array, bearer: string, options: ActionOptions): Promise<Uint8Array>;
  /** Ends the connection and every call on it. Idempotent. */
  close(): void;
}

export interface ActionOptions {
  readonly signal?: AbortSignal;
  readonly deadlineMs: number;
}

export interface ExchangeCall extends Disposable {
  /** Resolves once another message may follow, or the call is over. */
  send(message: IpcMessage): Promise<void>;
  /** The next message, or undefined at a successful end. Throws what the worker ended the call with. One read at a time. */
  read(): Promise<ExchangeMessage | undefined>;
}

/** What a worker may send before it is read: some batches, so that the wire is busy while one is looked at. */
const WINDOW_BYTES = 4 * 1024 * 1024;
/** A worker that was started again is to be found by the next heartbeats. */
const MAX_RECONNECT_MS = 3000;

/** Errors are QueryErrors with the worker's code; PEER_UNAVAILABLE where nobody answers. */
export function createWorkerClient(options: WorkerClientOptions): WorkerClient {
  const channel = openChannel({
    ...options,
    maxReceiveBytes: maxTaskMessageBytes,
    windowBytes: WINDOW_BYTES,
    maxReconnectMs: MAX_RECONNECT_MS,
  });
  // A closed channel lets its calls go on: they are ended here.
  const openCalls = new Set<RawCall>();
  const open = (method: FlightMethod, bearer: string, call: Partial<ActionOptions>): RawCall => {
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${bearer}`);
    for (const [name, value] of Object.entries(outgoingCorrelation())) metadata.set(name, value);
    const raw = openRawCall({ channel, method, metadata, signal: call.signal, deadlineMs: call.deadlineMs });
    openCalls.add(raw);
    return {
      ...raw,
      [Symbol.dispose]() {
        openCalls.delete(raw);
        raw[Symbol.dispose]();
      },
    };
  };
  return {
    exchange(bearer, signal) {
      const call = open('DoExchange', bearer, { signal });
      return {
        send: (message) => call.send(encodeFlightData(message)),
        async read() {
          const message = await call.read();
          if (message === undefined) return undefined;
          const data = decodeMessage(FlightDataSchema, message, "A worker's message");
          return { header: data.dataHeader, metadata: data.appMetadata, body: data.dataBody };
        },
        [Symbol.dispose]: () => call[Symbol.dispose](),
      };
    },
    async action(type, body, bearer, actionOptions) {
      using call = open('DoAction', bearer, actionOptions);
      await call.send(encodeMessage(ActionSchema, { type, body }));
      call.halfClose();
      const answer = await call.read();
      if (answer === undefined)
        throw new QueryError('PEER_UNAVAILABLE', `The worker answers nothing to ${type}.`);
      const { body: answered } = decodeMessage(ResultSchema, answer, "A worker's answer");
      while ((await call.read()) !== undefined);
      return answered;
    },
    close() {
      for (const call of openCalls) call[Symbol.dispose]();
      openCalls.clear();
      channel.close();
    },
  };
}
