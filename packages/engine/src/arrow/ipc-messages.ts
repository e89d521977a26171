/** Splits an Arrow IPC stream into messages, from pieces of any size. Input is untrusted. */
import { FlatTable, malformed, toCount } from './flatbuffer-read.js';

export interface IpcMessage {
  readonly kind: 'schema' | 'dictionary' | 'batch';
  readonly header: FlatTable;
  /** Memory of its own, aligned to 8 bytes. */
  readonly body: Uint8Array;
}

type MessageStart = Omit<IpcMessage, 'body'> & { readonly bodyBytes: number };

const prefixBytes = 8;
const continuation = 0xffffffff;
const maxMetadataBytes = 16 * 1024 * 1024;

/**
 * Copies pieces into the part of a message that comes next: the prefix, the header, or the body. Nothing of a piece
 * is referred to after `read` has run to its end, and at most one message is held.
 */
export class IpcMessageReader {
  private readonly maxBodyBytes: number;
  private part: 'prefix' | 'header' | 'body' | 'end' = 'prefix';
  private target = allocate(prefixBytes);
  private filled = 0;
  private start: MessageStart | undefined;

  constructor(maxBodyBytes: number) {
    this.maxBodyBytes = maxBodyBytes;
  }

  /** The messages that the piece completes. Throws INVALID_ARGUMENT on damage. Bytes after the end are ignored. */
  *read(piece: Uint8Array): Generator<IpcMessage> {
    let position = 0;
    while (this.part !== 'end') {
      const length = Math.min(piece.byteLength - position, this.target.byteLength - this.filled);
      this.target.set(piece.subarray(position, position + length), this.filled);
      position += length;
      this.filled += length;
      if (this.filled < this.target.byteLength) return;
      const message = this.finishPart();
      if (message !== undefined) yield message;
    }
  }

  /** Throws INVALID_ARGUMENT when the stream stops within a message. */
  finish(): void {
    if (this.part === 'header' || this.part === 'body' || (this.part === 'prefix' && this.filled > 0))
      throw malformed('the stream ends within a message');
  }

  private finishPart(): IpcMessage | undefined {
    const bytes = this.target;
    switch (this.part) {
      case 'prefix': {
        const headerBytes = readPrefix(bytes);
        if (headerBytes === 0) this.part = 'end';
        else this.expect('header', headerBytes);
        return undefined;
      }
      case 'header':
        this.start = this.readHeader(bytes);
        this.expect('body', this.start.bodyBytes);
        return undefined;
      case 'body': {
        const { start } = this;
        if (start === undefined) throw malformed('a body comes without its header');
        this.expect('prefix', prefixBytes);
        return { kind: start.kind, header: start.header, body: bytes };
      }
      case 'end':
        return undefined;
    }
  }

  private expect(part: 'prefix' | 'header' | 'body', byteCount: number): void {
    this.part = part;
    this.target = allocate(byteCount);
    this.filled = 0;
  }

  private readHeader(bytes: Uint8Array): MessageStart {
    const message = FlatTable.root(bytes);
    const kind = ([undefined, 'schema', 'dictionary', 'batch'] as const)[message.int8(1, 0)];
    const header = message.table(2);
    if (kind === undefined || header === undefined) throw malformed('a message is of an unknown kind');
    const bodyBytes = toCount(message.int64(3, 0n));
    if (bodyBytes > this.maxBodyBytes)
      throw malformed(`a message body of ${bodyBytes} bytes; at most ${this.maxBodyBytes} are accepted`);
    return { kind, header, bodyBytes };
  }
}

/** Length of the header that follows; 0 at the end of the stream. */
function readPrefix(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer);
  if (view.getUint32(0, true) !== continuation) throw malformed('a message does not start with FFFFFFFF');
  const headerBytes = view.getInt32(4, true);
  if (headerBytes < 0 || headerBytes > maxMetadataBytes)
    throw malformed(`a message header of ${headerBytes} bytes`);
  return headerBytes;
}

function allocate(byteCount: number): Uint8Array {
  return new Uint8Array(new ArrayBuffer(byteCount));
}
