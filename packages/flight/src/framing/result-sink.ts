import { constants, type ServerHttp2Stream } from 'node:http2';
import { Metadata, type ServerInterceptingCallInterface, type ServerWritableStream } from '@grpc/grpc-js';
import { QueryError } from '@svc/base';
import { asBuffer } from '../arrow/as-buffer.js';
import { encodeFramedPrefix, type IpcMessage } from './flight-data.js';
import { pendingSocketBytes } from './grpc-internals.js';
import { socketDrained } from './socket-drain.js';

/** Where the messages of one DoGet go. One write at a time. */
export interface ResultSink {
  /**
   * Settles only when the message's memory may be reused, whatever became of the call: resolves once the socket has
   * taken it, rejects with CANCELLED when the stream is gone.
   */
  write(message: IpcMessage): Promise<void>;
  /** Cuts the stream off, so that a pending write settles. No status reaches the client. */
  reset(): void;
}

const STALLED_AFTER_MS = 2000;

/**
 * Writes to the HTTP/2 stream itself: a small prefix, then the body where it lies. `undefined` when the parts this
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
  return {
    async write(message) {
      if (stream.destroyed || stream.closed) throw clientGone();
      call.sendMetadata(new Metadata()); // has an effect only before the first message
      await writeFrames(stream, message);
      if (!stream.destroyed) return;
      await socketDrained({ session, pendingBytes, stalledAfterMs: STALLED_AFTER_MS });
      throw clientGone();
    },
    reset: () => stream.close(constants.NGHTTP2_CANCEL),
  };
}

/** Resolves when node is done with the message, sent or not. */
function writeFrames(stream: ServerHttp2Stream, message: IpcMessage): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.removeListener('close', done);
      resolve();
    };
    stream.once('close', done);
    const prefix = encodeFramedPrefix(message);
    if (message.body.length === 0) {
      stream.write(prefix, done);
      return;
    }
    stream.cork();
    stream.write(prefix);
    stream.write(asBuffer(message.body), done);
    stream.uncork();
  });
}

/** Goes through grpc-js, whose serializer copies the message before `write` returns. */
export function openCopyingSink(
  call: ServerWritableStream<Buffer, IpcMessage>,
  stream: ServerHttp2Stream | undefined,
): ResultSink {
  return {
    write: (message) =>
      new Promise((resolve, reject) => {
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
      }),
    reset: () => stream?.close(constants.NGHTTP2_CANCEL),
  };
}

function clientGone(cause?: unknown): QueryError {
  return new QueryError('CANCELLED', 'The client cancelled the call or went away.', { cause });
}
