import { AvroError } from '../iceberg/avro/avro-error.js';
import type { ObjectInfo, ObjectStore } from '../storage/object-store.js';

export interface ForwardReaderOptions {
  /** Asked of storage at a time. */
  readonly pieceBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** A stored file from its beginning to its end, in pieces; what was taken is let go. */
export class ForwardReader {
  readonly #store: ObjectStore;
  readonly #info: ObjectInfo;
  readonly #options: ForwardReaderOptions;
  #buffer: Buffer = Buffer.alloc(0);
  #nextStart = 0;

  constructor(store: ObjectStore, info: ObjectInfo, options: ForwardReaderOptions) {
    this.#store = store;
    this.#info = info;
    this.#options = options;
  }

  /** Not taken yet, whether it is here or in storage. */
  get remaining(): number {
    return this.#buffer.length + this.#info.sizeBytes - this.#nextStart;
  }

  get bytesFetched(): number {
    return this.#nextStart;
  }

  /** What is here of the file, at least `length` bytes if it has so many, and not taken yet. */
  async peek(length: number): Promise<Buffer> {
    const wanted = Math.min(length, this.remaining);
    if (this.#buffer.length >= wanted) return this.#buffer;
    const pieces: Uint8Array[] = [this.#buffer];
    let bytes = this.#buffer.length;
    while (bytes < wanted) {
      const piece = await this.#fetch(wanted - bytes);
      pieces.push(piece);
      bytes += piece.length;
    }
    this.#buffer = Buffer.concat(pieces, bytes);
    return this.#buffer;
  }

  /** A view. Throws an AvroError when the file ends before. */
  async take(length: number): Promise<Buffer> {
    const bytes = await this.peek(length);
    if (length > bytes.length) throw new AvroError('the file ends in the middle of a block');
    this.#buffer = bytes.subarray(length);
    return bytes.subarray(0, length);
  }

  async #fetch(missing: number): Promise<Uint8Array> {
    const { location, version, sizeBytes } = this.#info;
    const { pieceBytes, signal } = this.#options;
    const start = this.#nextStart;
    const end = Math.min(sizeBytes, start + Math.max(pieceBytes, missing));
    const [bytes] = await this.#store.readRanges(location, [{ start, end }], {
      version,
      ...(signal && { signal }),
    });
    if (bytes?.length !== end - start) throw new AvroError('storage answered fewer bytes than it has');
    this.#nextStart = end;
    return bytes;
  }
}
