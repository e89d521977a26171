import { QueryError } from '@svc/base';

/**
 * Frames on the pipe between parent and host: two little-endian 32-bit lengths, a JSON object, then bytes.
 * Both ends are ours and of one version; a frame that does not parse means a broken peer.
 */
export interface Frame<T> {
  readonly head: T;
  /** A view into the receive buffer, valid until the next frame is read. */
  readonly body: Buffer;
}

const PREFIX_BYTES = 8;
/** Schemas, statements and ingested chunks; result bodies travel in slots. */
export const maxFrameBytes = 64 << 20;

const MINIMUM_ROOM_BYTES = 64 << 10;

const noBody = Buffer.alloc(0);

/** One frame, ready to be written. */
export function encodeFrame(head: object, body: Uint8Array = noBody): Buffer {
  const json = JSON.stringify(head);
  const jsonBytes = Buffer.byteLength(json);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + jsonBytes + body.length);
  frame.writeUInt32LE(jsonBytes, 0);
  frame.writeUInt32LE(body.length, 4);
  frame.write(json, PREFIX_BYTES);
  frame.set(body, PREFIX_BYTES + jsonBytes);
  if (frame.length > maxFrameBytes)
    throw new QueryError(
      'STATEMENT_TOO_LARGE',
      `A statement or its answer may take ${maxFrameBytes} bytes on its way to the engine.`,
    );
  return frame;
}

/** Takes received bytes in any division and gives whole frames. */
export class FrameReader<T> {
  #buffer = Buffer.alloc(MINIMUM_ROOM_BYTES);
  #start = 0;
  #end = 0;

  /** Where the next received bytes go; never empty. Views given out before are no longer valid. */
  space(): Buffer {
    if (this.#start === this.#end) this.#start = this.#end = 0;
    const missing = this.#missingBytes();
    if (this.#end + missing > this.#buffer.length || this.#end === this.#buffer.length)
      this.#makeRoom(missing);
    return this.#buffer.subarray(this.#end);
  }

  /** Tells how many bytes were put into `space()`. */
  received(byteLength: number): void {
    this.#end += byteLength;
  }

  push(chunk: Uint8Array): void {
    for (let offset = 0; offset < chunk.length; ) {
      const space = this.space();
      const length = Math.min(space.length, chunk.length - offset);
      space.set(chunk.subarray(offset, offset + length));
      this.received(length);
      offset += length;
    }
  }

  /** The next whole frame, if there is one. Throws INTERNAL_ERROR on bytes that are not a frame. */
  next(): Frame<T> | undefined {
    if (this.#missingBytes() > 0) return undefined;
    const jsonBytes = this.#buffer.readUInt32LE(this.#start);
    const bodyBytes = this.#buffer.readUInt32LE(this.#start + 4);
    const jsonStart = this.#start + PREFIX_BYTES;
    const bodyStart = jsonStart + jsonBytes;
    const head = JSON.parse(this.#buffer.toString('utf8', jsonStart, bodyStart)) as T;
    this.#start = bodyStart + bodyBytes;
    return { head, body: this.#buffer.subarray(bodyStart, this.#start) };
  }

  /** How many bytes the next frame still lacks, as far as known. */
  #missingBytes(): number {
    const available = this.#end - this.#start;
    if (available < PREFIX_BYTES) return PREFIX_BYTES - available;
    const total =
      PREFIX_BYTES + this.#buffer.readUInt32LE(this.#start) + this.#buffer.readUInt32LE(this.#start + 4);
    if (total > maxFrameBytes)
      throw new QueryError('INTERNAL_ERROR', 'The pipe to the engine is out of step.');
    return Math.max(0, total - available);
  }

  #makeRoom(missing: number): void {
    const available = this.#end - this.#start;
    // Whole frames may wait unread, lacking nothing: there is still to be room behind them.
    const wanted = available + Math.max(missing, MINIMUM_ROOM_BYTES);
    const target = wanted > this.#buffer.length ? Buffer.alloc(wanted) : this.#buffer;
    this.#buffer.copy(target, 0, this.#start, this.#end);
    this.#buffer = target;
    this.#start = 0;
    this.#end = available;
  }
}
