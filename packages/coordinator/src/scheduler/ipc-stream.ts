/** The rows of a stage as an Arrow IPC stream. */
import type { EngineMessage } from '@svc/engine';
import { encapsulateHeader, joinIpcStream } from '@svc/flight/arrow';

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
  yield joinIpcStream([]);
}

/** A whole stream. */
export function ipcBytes(
  schema: Uint8Array,
  messages: readonly Pick<EngineMessage, 'header' | 'body'>[],
): Uint8Array {
  return Buffer.concat([schema, joinIpcStream(messages)]);
}
