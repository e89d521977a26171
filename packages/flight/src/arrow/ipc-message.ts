/** Encapsulated Arrow IPC messages (https://arrow.apache.org/docs/format/Columnar.html#encapsulated-message-format). */
import { QueryError } from '@svc/base';
import type { IpcMessage } from '../framing/flight-data.js';
import { asBuffer } from './as-buffer.js';

const CONTINUATION = 0xffffffff;
const PREFIX_BYTES = 8;
const EMPTY = new Uint8Array(0);

/** Splits an IPC stream into its messages without copying. Throws INVALID_ARGUMENT when the bytes are no such stream. */
export function splitIpcStream(bytes: Uint8Array): IpcMessage[] {
  const buffer = asBuffer(bytes);
  const messages: IpcMessage[] = [];
  let position = 0;
  while (position < buffer.length) {
    const headerLength = readHeaderLength(buffer, position);
    if (headerLength === 0) break;
    const headerStart = position + PREFIX_BYTES;
    const header = buffer.subarray(headerStart, headerStart + headerLength);
    const bodyStart = headerStart + headerLength;
    const bodyLength = readBodyLength(header);
    if (bodyStart + bodyLength > buffer.length) throw malformed();
    messages.push({ header, body: buffer.subarray(bodyStart, bodyStart + bodyLength) });
    position = bodyStart + bodyLength;
  }
  return messages;
}

/** The single message without a body that an encapsulated schema is. */
export function schemaMessage(encapsulated: Uint8Array): IpcMessage {
  const buffer = asBuffer(encapsulated);
  const length = readHeaderLength(buffer, 0);
  return { header: buffer.subarray(PREFIX_BYTES, PREFIX_BYTES + length), body: EMPTY };
}

/** Puts messages back into one IPC stream with its end marker; headers are padded to 8 bytes as the format asks. */
export function joinIpcStream(messages: readonly IpcMessage[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const message of messages) parts.push(...encapsulate(message.header), message.body);
  parts.push(prefix(0));
  return Buffer.concat(parts);
}

/** A header with its prefix and padding, as FlightInfo, prepared results and `table_schema` carry schemas. */
export function encapsulateHeader(header: Uint8Array): Buffer {
  return Buffer.concat(encapsulate(header));
}

function encapsulate(header: Uint8Array): Uint8Array[] {
  const padding = (8 - (header.length % 8)) % 8;
  return [prefix(header.length + padding), header, new Uint8Array(padding)];
}

function prefix(length: number): Buffer {
  const out = Buffer.allocUnsafe(PREFIX_BYTES);
  out.writeUInt32LE(CONTINUATION, 0);
  out.writeUInt32LE(length, 4);
  return out;
}

function readHeaderLength(buffer: Buffer, position: number): number {
  if (position + PREFIX_BYTES > buffer.length || buffer.readUInt32LE(position) !== CONTINUATION)
    throw malformed();
  const length = buffer.readUInt32LE(position + 4);
  if (position + PREFIX_BYTES + length > buffer.length) throw malformed();
  return length;
}

/** What a message is, by its header; undefined for kinds that no stream has. Throws INVALID_ARGUMENT. */
export function messageKind(header: Uint8Array): 'schema' | 'dictionary' | 'batch' | undefined {
  try {
    const buffer = asBuffer(header);
    const table = buffer.readUInt32LE(0);
    const vtable = table - buffer.readInt32LE(table);
    const slot = 4 + 1 * 2;
    const offset = buffer.readUInt16LE(vtable) > slot ? buffer.readUInt16LE(vtable + slot) : 0;
    const kind = offset === 0 ? 0 : buffer.readUInt8(table + offset);
    return ([undefined, 'schema', 'dictionary', 'batch'] as const)[kind];
  } catch (cause) {
    throw malformed(cause);
  }
}

/** `Message.bodyLength`, the fourth field of the flatbuffer table; an absent field is 0. */
function readBodyLength(header: Buffer): number {
  try {
    const table = header.readUInt32LE(0);
    const vtable = table - header.readInt32LE(table);
    const slot = 4 + 3 * 2;
    const offset = header.readUInt16LE(vtable) > slot ? header.readUInt16LE(vtable + slot) : 0;
    const length = offset === 0 ? 0n : header.readBigInt64LE(table + offset);
    if (length < 0n || length > BigInt(Number.MAX_SAFE_INTEGER)) throw malformed();
    return Number(length);
  } catch (cause) {
    throw cause instanceof QueryError ? cause : malformed(cause);
  }
}

function malformed(cause?: unknown): QueryError {
  return new QueryError('INVALID_ARGUMENT', 'The bytes are not an Arrow IPC stream.', { cause });
}
