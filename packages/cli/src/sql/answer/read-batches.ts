import { Message, type RecordBatch, RecordBatchReader, type Schema } from 'apache-arrow';
import type { Answer, AnswerMessage } from './answer.js';

const prefixBytes = 8;
const continuation = 0xffffffff;

/** The end marker of an Arrow IPC stream. */
export const endOfStream: Uint8Array = framed(new Uint8Array(0), new Uint8Array(0));

/** A message as it stands in an Arrow IPC stream, in memory of its own; aligned, so that values are read in place. */
export function streamBytes(message: AnswerMessage): Uint8Array {
  try {
    return framed(message.header, message.body);
  } finally {
    message.release();
  }
}

function framed(header: Uint8Array, body: Uint8Array): Uint8Array<ArrayBuffer> {
  const headerBytes = Math.ceil(header.length / 8) * 8;
  const bytes = new Uint8Array(new ArrayBuffer(prefixBytes + headerBytes + body.length));
  const view = new DataView(bytes.buffer);
  view.setUint32(0, continuation, true);
  view.setUint32(4, headerBytes, true);
  bytes.set(header, prefixBytes);
  bytes.set(body, prefixBytes + headerBytes);
  return bytes;
}

/** The schema of an answer. */
export function readSchema(encapsulated: Uint8Array): Schema {
  return RecordBatchReader.from(encapsulated).open().schema;
}

/**
 * The batches of an answer, one at a time: nothing is read ahead, and whoever stops early ends the statement.
 */
export async function* readBatches(answer: Answer): AsyncGenerator<RecordBatch, void, undefined> {
  const reader = await RecordBatchReader.from(answerStream(answer));
  await reader.open();
  // Of a stream without batches the reader makes an empty one.
  for await (const batch of reader) if (batch.numRows > 0) yield batch;
}

/** The bytes of an answer as an Arrow IPC stream, without its end marker. */
export async function* answerStream(answer: Answer): AsyncGenerator<Uint8Array, void, undefined> {
  yield encapsulated(answer.schema);
  for await (const message of answer.messages) yield streamBytes(message);
}

/** A copy that begins at an aligned address. */
function encapsulated(schema: Uint8Array): Uint8Array {
  return Uint8Array.from(schema);
}

/** Rows of the batch that a message header announces; 0 for a dictionary. */
export function batchRowCount(header: Uint8Array): number {
  const message = Message.decode(header);
  return message.isRecordBatch() ? message.header().length : 0;
}
