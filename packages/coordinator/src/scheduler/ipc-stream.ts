/** The rows of a stage as an Arrow IPC stream. */
import { QueryError } from '@svc/base';
import type { EngineMessage } from '@svc/engine';
import { encapsulateHeader } from '@svc/flight/arrow';

const endOfStream = Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0);

/** Each message is released once the piece behind it is asked for. */
export async function* ipcStream(
  schema: Uint8Array,
  messages: AsyncIterable<EngineMessage>,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield schema;
  for await (const message of messages) {
    try {
      yield encapsulateHeader(message.header);
      if (message.body.byteLength > 0) yield message.body;
    } finally {
      message.release();
    }
  }
  yield endOfStream;
}

/** The whole stream, where it is no larger. Otherwise NOT_SUPPORTED: such rows do not travel by value. */
export async function ipcBytes(
  stream: AsyncIterable<Uint8Array>,
  maxBytes: number,
  stage: string,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of stream) {
    bytes += piece.byteLength;
    if (bytes > maxBytes)
      throw new QueryError(
        'NOT_SUPPORTED',
        `The rows of stage ${stage}, which every fragment behind it needs, are more than ${maxBytes} bytes (fragments.broadcast_bytes).`,
      );
    pieces.push(Uint8Array.from(piece));
  }
  return Buffer.concat(pieces);
}
