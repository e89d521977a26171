import { tableFromIPC } from 'apache-arrow';
import type { TextAnswer } from '../results/text-answer.js';

/** The rows of an answer, read back from its Arrow messages as a client would. */
export function answerRows(answer: TextAnswer): readonly (readonly (string | null)[])[] {
  const parts = [answer.schema, ...answer.messages.flatMap(({ header, body }) => [framed(header), body])];
  const table = tableFromIPC(Buffer.concat(parts));
  const columns = table.schema.fields.map((field) => table.getChild(field.name));
  return Array.from({ length: table.numRows }, (_none, row) =>
    columns.map((column): string | null => column?.get(row) ?? null),
  );
}

/** The first column of an answer. */
export function answerColumn(answer: TextAnswer): readonly (string | null)[] {
  return answerRows(answer).map(([value = null]) => value);
}

/** The encapsulated form of a message header: continuation, length padded to 8 bytes, flatbuffer. */
function framed(header: Uint8Array): Uint8Array {
  const paddedLength = Math.ceil(header.length / 8) * 8;
  const bytes = Buffer.alloc(8 + paddedLength);
  bytes.writeUInt32LE(0xffffffff, 0);
  bytes.writeUInt32LE(paddedLength, 4);
  bytes.set(header, 8);
  return bytes;
}
