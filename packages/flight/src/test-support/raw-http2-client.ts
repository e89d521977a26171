/** An HTTP/2 client in bytes, for what well-behaved clients cannot do: repeat headers, stop reading, cancel while stalled. */
import { connect, type Socket } from 'node:net';
import { methodPath } from '../server/service-definition.js';

const DATA = 0;
const HEADERS = 1;
const RST_STREAM = 3;
const SETTINGS = 4;
const WINDOW_UPDATE = 8;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;
const SETTING_INITIAL_WINDOW_SIZE = 4;
const CANCEL = 8;
const MAX_WINDOW = 2 ** 31 - 1;
const DEFAULT_WINDOW = 65_535;

export interface RawHttp2Client {
  readonly socket: Socket;
  /** Starts a call on stream 1 and ends it with one gRPC message. */
  call(
    method: 'DoGet' | 'GetFlightInfo',
    headers: readonly (readonly [string, string])[],
    message: Buffer,
  ): void;
  reset(): void;
  /** All bytes of DATA frames received so far on stream 1. */
  received(): Buffer;
  /** The server has ended stream 1. */
  isEnded(): boolean;
}

/** `streamWindow` is what the server may send on a stream; the connection's window is as large as can be. */
export async function connectRawHttp2(port: number, streamWindow: number): Promise<RawHttp2Client> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  await new Promise((resolve) => socket.once('connect', resolve));
  const setting = Buffer.alloc(6);
  setting.writeUInt16BE(SETTING_INITIAL_WINDOW_SIZE, 0);
  setting.writeUInt32BE(streamWindow, 2);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(frame(SETTINGS, 0, 0, setting));
  socket.write(frame(SETTINGS, ACK, 0, Buffer.alloc(0)));
  socket.write(frame(WINDOW_UPDATE, 0, 0, uint32(MAX_WINDOW - DEFAULT_WINDOW)));
  return {
    socket,
    call(method, headers, message) {
      const block = Buffer.concat(
        [
          [':method', 'POST'] as const,
          [':scheme', 'http'] as const,
          [':path', methodPath(method)] as const,
          [':authority', 'localhost'] as const,
          ['content-type', 'application/grpc'] as const,
          ['te', 'trailers'] as const,
          ...headers,
        ].map(([name, value]) => literalHeader(name, value)),
      );
      const prefix = Buffer.alloc(5);
      prefix.writeUInt32BE(message.length, 1);
      socket.write(frame(HEADERS, END_HEADERS, 1, block));
      socket.write(frame(DATA, END_STREAM, 1, Buffer.concat([prefix, message])));
    },
    reset() {
      socket.write(frame(RST_STREAM, 0, 1, uint32(CANCEL)));
    },
    received: () =>
      Buffer.concat(
        framesOf(Buffer.concat(chunks))
          .filter(isData)
          .map(({ payload }) => payload),
      ),
    isEnded: () =>
      framesOf(Buffer.concat(chunks)).some(
        ({ type, flags }) => type === RST_STREAM || (type <= HEADERS && (flags & END_STREAM) !== 0),
      ),
  };
}

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function uint32(value: number): Buffer {
  const out = Buffer.alloc(4);
  out.writeUInt32BE(value, 0);
  return out;
}

/** HPACK literal without indexing, without Huffman coding. */
function literalHeader(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.from([0]), literal(name), literal(value)]);
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  if (bytes.length >= 127) throw new Error('Longer literals are not needed here.');
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly payload: Buffer;
}

const isData = ({ type }: Frame) => type === DATA;

/** The whole frames of stream 1. */
function framesOf(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  let position = 0;
  while (position + 9 <= bytes.length) {
    const length = bytes.readUIntBE(position, 3);
    const payload = bytes.subarray(position + 9, position + 9 + length);
    if (bytes.readUInt32BE(position + 5) === 1)
      frames.push({ type: bytes.readUInt8(position + 3), flags: bytes.readUInt8(position + 4), payload });
    position += 9 + length;
  }
  return frames;
}
