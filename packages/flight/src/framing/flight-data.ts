/**
 * FlightData by hand: `0x12 <varint> header`, `0x1A <varint> metadata` where there is some, then `0xC2 0x3E <varint> body`
 * (field 1000), as the format's protobuf definition gives it. A protobuf encoder would copy every body; here a body is only ever pointed at.
 */
import { asBuffer } from '../arrow/as-buffer.js';

/** One Arrow IPC message: the Message flatbuffer without its 8-byte prefix, and the body (empty for a schema). */
export interface IpcMessage {
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  /** What our own parts say beside it (`app_metadata`); clients of Flight SQL are sent none. */
  readonly metadata?: Uint8Array;
}

/** compressed flag and message length in front of every gRPC message. */
export const GRPC_PREFIX_BYTES = 5;

const HEADER_TAG = 0x12;
const METADATA_TAG = 0x1a;
const BODY_TAG_LOW = 0xc2;
const BODY_TAG_HIGH = 0x3e;
const EMPTY = new Uint8Array(0);

function varintLength(value: number): number {
  let length = 1;
  for (let rest = value; rest > 127; rest = Math.floor(rest / 128)) length++;
  return length;
}

function writeVarint(out: Uint8Array, offset: number, value: number): number {
  let position = offset;
  let rest = value;
  while (rest > 127) {
    out[position++] = (rest % 128) | 0x80;
    rest = Math.floor(rest / 128);
  }
  out[position++] = rest;
  return position;
}

function prefixLength(message: IpcMessage): number {
  const { header, body, metadata = EMPTY } = message;
  const bodyTag = body.length === 0 ? 0 : 2 + varintLength(body.length);
  const metadataLength = metadata.length === 0 ? 0 : 1 + varintLength(metadata.length) + metadata.length;
  return 1 + varintLength(header.length) + header.length + metadataLength + bodyTag;
}

/** Bytes of the whole FlightData message, without the gRPC prefix. */
export function flightDataLength(message: IpcMessage): number {
  return prefixLength(message) + message.body.length;
}

function writeField(out: Uint8Array, offset: number, tag: number, value: Uint8Array): number {
  out[offset] = tag;
  const position = writeVarint(out, offset + 1, value.length);
  out.set(value, position);
  return position + value.length;
}

function writePrefix(out: Uint8Array, offset: number, message: IpcMessage): number {
  const { header, body, metadata = EMPTY } = message;
  let position = writeField(out, offset, HEADER_TAG, header);
  if (metadata.length > 0) position = writeField(out, position, METADATA_TAG, metadata);
  if (body.length > 0) {
    out[position++] = BODY_TAG_LOW;
    out[position++] = BODY_TAG_HIGH;
    position = writeVarint(out, position, body.length);
  }
  return position;
}

/** A body up to this size is copied behind its prefix: another buffer of a write costs more than that. */
const MAX_COPIED_BODY_BYTES = 16 * 1024;

/** Messages as they go on the wire, behind their gRPC prefixes. Large bodies are not copied: they lie where they were. */
export function encodeFrames(messages: readonly IpcMessage[]): Buffer[] {
  return messages.flatMap((message) =>
    message.body.length <= MAX_COPIED_BODY_BYTES
      ? [encodeFrame(message, message.body)]
      : [encodeFrame(message, EMPTY), asBuffer(message.body)],
  );
}

/** gRPC prefix and everything of the FlightData message up to the body's first byte, then `body`. */
function encodeFrame(message: IpcMessage, body: Uint8Array): Buffer {
  const length = prefixLength(message);
  const out = Buffer.allocUnsafe(GRPC_PREFIX_BYTES + length + body.length);
  out.writeUInt8(0, 0);
  out.writeUInt32BE(length + message.body.length, 1);
  const position = writePrefix(out, GRPC_PREFIX_BYTES, message);
  out.set(body, position);
  return out;
}

/**
 * Serializes for grpc-js with a single copy of the body: grpc-js asks a serialized message for nothing but
 * `byteLength` and `copy`, and copies it behind its own prefix.
 */
export function serializeWithOneCopy(message: IpcMessage): Buffer {
  const byteLength = flightDataLength(message);
  const lazy = {
    byteLength,
    copy(target: Buffer, targetStart: number): number {
      const position = writePrefix(target, targetStart, message);
      target.set(message.body, position);
      return byteLength;
    },
  };
  return lazy as unknown as Buffer;
}

/** The whole message in one new buffer, for small messages and for clients. */
export function encodeFlightData(message: IpcMessage, descriptor?: Uint8Array): Buffer {
  const descriptorLength =
    descriptor === undefined ? 0 : 1 + varintLength(descriptor.length) + descriptor.length;
  const out = Buffer.allocUnsafe(descriptorLength + flightDataLength(message));
  let position = 0;
  if (descriptor !== undefined) {
    out[position++] = 0x0a;
    position = writeVarint(out, position, descriptor.length);
    out.set(descriptor, position);
    position += descriptor.length;
  }
  position = writePrefix(out, position, message);
  out.set(asBuffer(message.body), position);
  return out;
}
