import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  Metadata,
  type ServerDuplexStream,
  type ServerInterceptingCallInterface,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { encodeFrames, type IpcMessage } from './flight-data.js';
import { pendingSocketBytes } from './grpc-internals.js';
import { socketDrained } from './socket-drain.js';

/** Where the messages of one DoGet go, in order. One write at a time. */
export interface ResultSink {
  /**
   * Settles only when the messages' memory may be reused, whatever became of the call: resolves once the socket has
   * taken them, rejects with CANCELLED when the stream is gone.
   */
  write(messages: readonly IpcMessage[]): Promise<void>;
  /** Cuts the stream off, so that a pending write settles. No status reaches the client. */
  reset(): void;
}

const STALLED_AFTER_MS = 2000;

/**
 * Writes to the HTTP/2 stream itself: a small prefix, then the body where it lies (a small one is copied behind it). `undefined` when the parts this
 * needs are not there; then every message is copied once (`openCopyingSink`).
 */
export function openZeroCopySink(
  call: ServerInterceptingCallInterface,
  stream: ServerHttp2Stream,
): ResultSink | undefined {
  const { session } = stream;
  if (session === undefined) return undefined;
  // TLS encrypts, and so copies, before write() returns: nothing of ours is ever left in the socket's queue.
  const pendingBytes = session.encrypted === true ? () => 0 : pendingSocketBytes(stream);
  if (pendingBytes === undefined) return undefined;
  let hasBegun = false;
  return {
    async write(messages) {
      if (stream.destroyed || stream.closed) throw clientGone();
      if (!hasBegun) call.sendMetadata(new Metadata()); // without effect when the call has sent its own
      hasBegun = true;
      await writeFrames(stream, encodeFrames(messages));
      if (!stream.destroyed) return;
      await socketDrained({ session, pendingBytes, stalledAfterMs: STALLED_AFTER_MS });
      throw clientGone();
    },
    reset: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}

/** Resolves when node is done with the buffers, sent or not. */
function writeFrames(stream: ServerHttp2Stream, frames: readonly Buffer[]): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.removeListener('close', done);
      resolve();
    };
    stream.once('close', done);
    stream.cork();
    for (const [index, frame] of frames.entries()) {
      if (index < frames.length - 1) stream.write(frame);
      else stream.write(frame, done);
    }
    stream.uncork();
  });
}

/** Goes through grpc-js, whose serializer copies the message before `write` returns. */
export function openCopyingSink(
  call: ServerWritableStream<Buffer, IpcMessage> | ServerDuplexStream<Buffer, IpcMessage>,
  stream: ServerHttp2Stream | undefined,
): ResultSink {
  const writeOne = (message: IpcMessage) =>
    new Promise<void>((resolve, reject) => {
      if (call.cancelled) {
        reject(clientGone());
        return;
      }
      const onCancelled = () => reject(clientGone());
      call.once('cancelled', onCancelled);
      call.write(message, (error: Error | null | undefined) => {
        call.off('cancelled', onCancelled);
        if (error) reject(clientGone(error));
        else resolve();
      });
    });
  return {
    async write(messages) {
      for (const message of messages) await writeOne(message);
    },
    reset: () => stream?.close(constants.NGHTTP2_CANCEL),
  };
}

function clientGone(cause?: unknown): QueryError {
  return new QueryError('CANCELLED', 'The client cancelled the call or went away.', { cause });
}
