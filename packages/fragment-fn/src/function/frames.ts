/**
 * How a function answers: frames, one behind the other, in its response stream and in the parts of it that went to the
 * spool. Each tells its own length, and the last of the stream says that it is the last: a cut answer is told from a whole one.
 */
import { QueryError } from '@svc/base';

export type FrameKind = 'schema' | 'event' | 'part' | 'end';

export interface Frame {
  readonly kind: FrameKind;
  /** By kind: empty, an event's header, JSON. */
  readonly header: Uint8Array;
  /** Of an Arrow message: its flatbuffer. */
  readonly arrowHeader: Uint8Array;
  /** Of an Arrow message: its body; of `schema`, all of it. Begins at a multiple of 8 in memory that is the frame's own. */
  readonly body: Uint8Array;
}

const kindNumbers: Readonly<Record<FrameKind, number>> = { schema: 1, event: 2, part: 3, end: 4 };
const kinds = new Map(Object.entries(kindNumbers).map(([kind, number]) => [number, kind as FrameKind]));

/** Length of the frame, kind, lengths of both headers; each of 32 bits. */
const prefixBytes = 16;
const alignment = 8;
/** Larger than any message of an engine, which are of 16 MiB. */
export const maxFrameBytes = 64 * 1024 * 1024;
const nothing = new Uint8Array(0);

/** A copy: what the parts lie in may be used for something else afterwards. */
export function encodeFrame(frame: Pick<Frame, 'kind'> & Partial<Frame>): Uint8Array {
  const { kind, header = nothing, arrowHeader = nothing, body = nothing } = frame;
  const bodyStart = aligned(prefixBytes + header.byteLength + arrowHeader.byteLength);
  const bytes = new Uint8Array(bodyStart + body.byteLength);
  const view = new DataView(bytes.buffer);
  for (const [place, value] of [
    bytes.byteLength,
    kindNumbers[kind],
    header.byteLength,
    arrowHeader.byteLength,
  ].entries())
    view.setUint32(4 * place, value, true);
  bytes.set(header, prefixBytes);
  bytes.set(arrowHeader, prefixBytes + header.byteLength);
  bytes.set(body, bodyStart);
  return bytes;
}

function aligned(length: number): number {
  return Math.ceil(length / alignment) * alignment;
}

/** Holds one frame at most. Throws EXECUTOR_LOST for bytes that are no frames, and where they end within one. */
export async function* readFrames(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Frame, void, undefined> {
  const prefix = new Uint8Array(prefixBytes);
  /** Of the frame that is being read, prefix included; grows once its length is known. */
  let bytes = prefix;
  let filled = 0;
  for await (const chunk of chunks) {
    let taken = 0;
    while (taken < chunk.byteLength) {
      const piece = chunk.subarray(taken, taken + bytes.byteLength - filled);
      bytes.set(piece, filled);
      filled += piece.byteLength;
      taken += piece.byteLength;
      if (filled < bytes.byteLength) continue;
      if (bytes === prefix) {
        bytes = new Uint8Array(frameLength(prefix));
        bytes.set(prefix);
        if (bytes.byteLength > prefixBytes) continue;
      }
      yield decodeFrame(bytes);
      bytes = prefix;
      filled = 0;
    }
  }
  if (filled > 0) throw noFrame('it ends within a frame');
}

function frameLength(prefix: Uint8Array): number {
  const length = new DataView(prefix.buffer).getUint32(0, true);
  if (length < prefixBytes || length > maxFrameBytes) throw noFrame('a frame has an impossible length');
  return length;
}

function decodeFrame(bytes: Uint8Array): Frame {
  const view = new DataView(bytes.buffer);
  const kind = kinds.get(view.getUint32(4, true));
  const headerEnd = prefixBytes + view.getUint32(8, true);
  const arrowEnd = headerEnd + view.getUint32(12, true);
  const bodyStart = aligned(arrowEnd);
  if (kind === undefined) throw noFrame('a frame is of no known kind');
  if (bodyStart > bytes.byteLength) throw noFrame('a frame is shorter than its parts');
  return {
    kind,
    header: bytes.subarray(prefixBytes, headerEnd),
    arrowHeader: bytes.subarray(headerEnd, arrowEnd),
    body: bytes.subarray(bodyStart),
  };
}

function noFrame(why: string): QueryError {
  return new QueryError('EXECUTOR_LOST', `What a function answered is not whole: ${why}.`);
}
