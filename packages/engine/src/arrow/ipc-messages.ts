/** Splits an Arrow IPC stream into messages, from pieces of any size. Input is untrusted. */
import { FlatTable, malformed, toCount } from './flatbuffer-read.js';

export interface IpcMessage {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  readonly header: FlatTable;
  /** Memory of its own, aligned to 8 bytes. */
  readonly body: Uint8Array;
}

const prefixBytes = 8;
const continuation = 0xffffffff;
const maxMetadataBytes = 16 * 1024 * 1024;

/** Collects pieces and answers whole messages. Holds at most one unfinished message. */
export class IpcMessageReader {
  private readonly maxBodyBytes: number;
  private pieces: Uint8Array[] = [];
  private available = 0;
  private ended = false;
  private pending:
    | { readonly kind: IpcMessage['kind']; readonly header: FlatTable; readonly bodyBytes: number }
    | undefined;

  constructor(maxBodyBytes: number) {
    this.maxBodyBytes = maxBodyBytes;
  }

  /** Adds bytes; the piece must not change until the reader has consumed it. */
  push(piece: Uint8Array): void {
    if (piece.byteLength === 0) return;
    this.pieces.push(piece);
    this.available += piece.byteLength;
  }

  /** The next whole message, or undefined until more bytes are there. Throws INVALID_ARGUMENT on damage. */
  next(): IpcMessage | undefined {
    if (this.ended) return undefined;
    if (this.pending === undefined && !this.readMetadata()) return undefined;
    const { pending } = this;
    if (pending === undefined || this.available < pending.bodyBytes) return undefined;
    this.pending = undefined;
    return { kind: pending.kind, header: pending.header, body: this.take(pending.bodyBytes) };
  }

  /** Throws INVALID_ARGUMENT when the stream stops within a message. */
  finish(): void {
    if (!this.ended && (this.pending !== undefined || this.available > 0))
      throw malformed('the stream ends within a message');
  }

  private readMetadata(): boolean {
    if (this.available < prefixBytes) return false;
    const prefix = this.peek(prefixBytes);
    const view = new DataView(prefix.buffer, prefix.byteOffset, prefixBytes);
    if (view.getUint32(0, true) !== continuation) throw malformed('a message does not start with FFFFFFFF');
    const metadataBytes = view.getInt32(4, true);
    if (metadataBytes === 0) {
      this.ended = true;
      return false;
    }
    if (metadataBytes < 0 || metadataBytes > maxMetadataBytes)
      throw malformed(`a message header of ${metadataBytes} bytes`);
    if (this.available < prefixBytes + metadataBytes) return false;
    this.take(prefixBytes);
    const message = FlatTable.root(this.take(metadataBytes));
    const kind = ([undefined, 'schema', 'dictionary', 'batch'] as const)[message.int8(1, 0)];
    const header = message.table(2);
    if (kind === undefined || header === undefined) throw malformed('a message is of an unknown kind');
    const bodyBytes = toCount(message.int64(3, 0n));
    if (bodyBytes > this.maxBodyBytes)
      throw malformed(`a message body of ${bodyBytes} bytes; at most ${this.maxBodyBytes} are accepted`);
    this.pending = { kind, header, bodyBytes };
    return true;
  }

  private peek(byteCount: number): Uint8Array {
    const first = this.pieces[0];
    if (first !== undefined && first.byteLength >= byteCount) return first.subarray(0, byteCount);
    const bytes = this.take(byteCount);
    this.pieces.unshift(bytes);
    this.available += byteCount;
    return bytes;
  }

  private take(byteCount: number): Uint8Array {
    const bytes = new Uint8Array(new ArrayBuffer(byteCount));
    let filled = 0;
    while (filled < byteCount) {
      const piece = this.pieces[0];
      if (piece === undefined) throw malformed('the stream ends within a message');
      const length = Math.min(piece.byteLength, byteCount - filled);
      bytes.set(piece.subarray(0, length), filled);
      filled += length;
      if (length === piece.byteLength) this.pieces.shift();
      else this.pieces[0] = piece.subarray(length);
    }
    this.available -= byteCount;
    return bytes;
  }
}
