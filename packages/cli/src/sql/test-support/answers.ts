import { type Table, tableToIPC } from 'apache-arrow';
import type { Answer, AnswerMessage } from '../answer/answer.js';

export interface TestAnswer extends Answer {
  /** How often the answer was ended, early or not. */
  readonly ended: () => number;
}

/** The answer that a session would give with these batches. */
export function answerOf(table: Table): TestAnswer {
  const [schema, ...rest] = messagesOf(tableToIPC(table, 'stream'));
  let ended = 0;
  async function* messages(): AsyncGenerator<AnswerMessage, void, undefined> {
    try {
      for (const message of rest) yield { ...message, release: () => undefined };
    } finally {
      ended += 1;
    }
  }
  const iterator = messages();
  return {
    schema: schema?.bytes ?? new Uint8Array(0),
    messages: { [Symbol.asyncIterator]: () => iterator },
    ended: () => ended,
  };
}

interface StreamMessage {
  readonly bytes: Uint8Array;
  readonly header: Uint8Array;
  readonly body: Uint8Array;
}

/** Takes a stream of the writer in this process apart: what it writes has no other messages. */
function messagesOf(stream: Uint8Array): readonly StreamMessage[] {
  const view = new DataView(stream.buffer, stream.byteOffset, stream.byteLength);
  const messages: StreamMessage[] = [];
  for (let at = 0; at + 8 <= stream.length; ) {
    const headerBytes = view.getUint32(at + 4, true);
    if (headerBytes === 0) break;
    const header = stream.subarray(at + 8, at + 8 + headerBytes);
    const bodyBytes = bodyLength(header);
    const end = at + 8 + headerBytes + bodyBytes;
    messages.push({ bytes: stream.slice(at, end), header, body: stream.subarray(end - bodyBytes, end) });
    at = end;
  }
  return messages;
}

/** The field `bodyLength` of the Message flatbuffer. */
function bodyLength(header: Uint8Array): number {
  const view = new DataView(header.buffer, header.byteOffset, header.byteLength);
  const table = view.getUint32(0, true);
  const vtable = table - view.getInt32(table, true);
  const offset = view.getUint16(vtable, true) > 10 ? view.getUint16(vtable + 10, true) : 0;
  return offset === 0 ? 0 : Number(view.getBigInt64(table + offset, true));
}
