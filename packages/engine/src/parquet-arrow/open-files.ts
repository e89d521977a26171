import { closeSync, openSync, readSync } from 'node:fs';
import { basename } from 'node:path';
import { QueryError } from '@svc/base';

/** Columns are read side by side, so that only the last few files are in use. */
const maxOpen = 4;
const firstBufferBytes = 256 << 10;

/** Ranges of files, read into one buffer that the next read overwrites. */
export class OpenFiles implements Disposable {
  private readonly descriptors = new Map<string, number>();
  private buffer = Buffer.allocUnsafe(firstBufferBytes);

  /** Throws DATA_CORRUPT when the file ends before the range does. */
  read(path: string, position: number, byteCount: number): Uint8Array {
    if (byteCount > this.buffer.length)
      this.buffer = Buffer.allocUnsafe(2 ** Math.ceil(Math.log2(byteCount)));
    const descriptor = this.open(path);
    for (let done = 0; done < byteCount; ) {
      const count = readSync(descriptor, this.buffer, done, byteCount - done, position + done);
      if (count === 0)
        throw new QueryError(
          'DATA_CORRUPT',
          `The Parquet file "${basename(path)}" is damaged: it ends too early.`,
        );
      done += count;
    }
    return this.buffer.subarray(0, byteCount);
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.descriptors.values()) closeSync(descriptor);
    this.descriptors.clear();
  }

  private open(path: string): number {
    const known = this.descriptors.get(path);
    if (known !== undefined) return known;
    const [oldest] = this.descriptors;
    if (oldest !== undefined && this.descriptors.size >= maxOpen) {
      closeSync(oldest[1]);
      this.descriptors.delete(oldest[0]);
    }
    const descriptor = openSync(path, 'r');
    this.descriptors.set(path, descriptor);
    return descriptor;
  }
}
