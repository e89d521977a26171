import { readSync, writeSync } from 'node:fs';
import { setBlocking, waitReadable } from '../shm/libc.js';
import { encodeFrame, type Frame, FrameReader } from './frame.js';
import type { FromHost, ToHost } from './protocol.js';

/** The host's end of the request pipe: reads and writes block the thread. */
export class BlockingChannel {
  readonly #fd: number;
  readonly #waiting: Buffer[] = [];
  readonly #reader = new FrameReader<ToHost>();

  constructor(fd: number) {
    this.#fd = fd;
    // The descriptor comes blocking from Node today; nothing promises it.
    setBlocking(fd);
  }

  /** The next frame, or undefined when the parent is gone. */
  read(): Frame<ToHost> | undefined {
    for (;;) {
      const frame = this.#reader.next();
      if (frame) return frame;
      this.#flush();
      const byteLength = readBlocking(this.#fd, this.#reader.space());
      if (byteLength === 0) return undefined;
      this.#reader.received(byteLength);
    }
  }

  write(head: FromHost, body?: Uint8Array): void {
    this.writeLater(head, body);
    this.#flush();
  }

  /** With what is written next, or before the thread waits for the parent: each write wakes it. For small frames. */
  writeLater(head: FromHost, body?: Uint8Array): void {
    this.#waiting.push(encodeFrame(head, body));
  }

  #flush(): void {
    const frames = this.#waiting.splice(0);
    if (frames.length > 0)
      writeBlocking(this.#fd, frames.length === 1 ? (frames[0] as Buffer) : Buffer.concat(frames));
  }
}

/** Reads at least one byte; 0 at the end, also when the peer was killed. */
export function readBlocking(fd: number, target: Uint8Array): number {
  for (;;) {
    try {
      return readSync(fd, target, 0, target.length, null);
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'ECONNRESET' || code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw error;
      waitReadable(fd, -1);
    }
  }
}

export function writeBlocking(fd: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    offset += writeSync(fd, bytes, offset, bytes.length - offset);
  }
}
