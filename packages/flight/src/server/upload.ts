/** What a client sends in a DoPut or DoExchange, pulled: of the messages that are on their way, two at a time are held here. */
import type { Readable } from 'node:stream';
import type { ServerInterceptingCallInterface } from '@grpc/grpc-js';
import { throwIfAborted } from '@svc/base';
import { FlightDataSchema } from '../gen/Flight_pb.js';
import { decodeMessage } from '../messages/any.js';

export type UploadMessage = ReturnType<typeof decodeFlightData>;

export interface Upload extends Disposable {
  /** The next message, or undefined at the client's half-close. Throws the signal's reason. One read at a time. */
  read(): Promise<UploadMessage | undefined>;
}

/** Messages ahead of the reader: grpc-js itself would hold sixteen, however large. */
const MAX_AHEAD = 2;

/** Disposing drops what is still on its way, so that the client can be told why. */
export function openUpload(
  call: Pick<Readable, 'on' | 'once' | 'off' | 'resume'>,
  transport: ServerInterceptingCallInterface,
  signal: AbortSignal,
): Upload {
  const gate = gateReads(transport);
  const messages: Buffer[] = [];
  let isEnded = false;
  let failure: { readonly error: unknown } | undefined;
  let wake = () => {};
  const onData = (message: Buffer) => {
    messages.push(message);
    wake();
  };
  const onEnd = () => {
    isEnded = true;
    wake();
  };
  const onFailure = (error: unknown) => {
    failure ??= { error };
    wake();
  };
  const onAbort = () => onFailure(signal.reason);
  call.on('data', onData);
  call.once('end', onEnd);
  call.once('error', onFailure);
  signal.addEventListener('abort', onAbort, { once: true });
  return {
    async read() {
      for (;;) {
        throwIfAborted(signal);
        if (failure !== undefined) throw failure.error;
        const message = messages.shift();
        if (message !== undefined) {
          gate.allow();
          return decodeFlightData(message);
        }
        if (isEnded) return undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    [Symbol.dispose]() {
      signal.removeEventListener('abort', onAbort);
      call.off('data', onData);
      call.off('end', onEnd);
      call.off('error', onFailure);
      call.resume();
      gate.open();
    },
  };
}

function decodeFlightData(message: Buffer) {
  return decodeMessage(FlightDataSchema, message, 'An uploaded message');
}

/** Holds back grpc-js's wish for the next message, which it has as soon as it was given one. */
function gateReads(transport: ServerInterceptingCallInterface) {
  const startRead = transport.startRead.bind(transport);
  let allowed = MAX_AHEAD;
  let isWaiting = false;
  transport.startRead = () => {
    if (allowed === 0) {
      isWaiting = true;
      return;
    }
    allowed -= 1;
    startRead();
  };
  const resume = () => {
    if (!isWaiting) return;
    isWaiting = false;
    transport.startRead();
  };
  return {
    allow() {
      allowed += 1;
      resume();
    },
    open() {
      allowed = Number.POSITIVE_INFINITY;
      resume();
    },
  };
}
