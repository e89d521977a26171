/**
 * The only file that reads private parts of @grpc/grpc-js, which is why its version is pinned. Each part is tested
 * for when it is taken; a caller that does not get it falls back or refuses to start.
 */
import type { Http2Server, ServerHttp2Stream } from 'node:http2';
import type { Server, ServerInterceptingCallInterface } from '@grpc/grpc-js';

/** The HTTP/2 stream under a server call, which lets a body be written without copying it. */
export function http2StreamOf(call: ServerInterceptingCallInterface): ServerHttp2Stream | undefined {
  const stream: unknown = Reflect.get(call, 'stream');
  return isServerHttp2Stream(stream) ? stream : undefined;
}

/** Sets the size of the messages that a call may send, which grpc-js takes from the server's options only. */
export function limitRequestBytes(call: ServerInterceptingCallInterface, maxBytes: number): void {
  const decoder: unknown = Reflect.get(call, 'decoder');
  if (typeof decoder === 'object' && decoder !== null && 'maxReadMessageLength' in decoder)
    decoder.maxReadMessageLength = maxBytes;
}

/** The HTTP/2 servers behind a gRPC server, one per bound address; `undefined` when grpc-js keeps them elsewhere. */
export function http2ServersOf(server: Server): readonly Http2Server[] | undefined {
  const servers: unknown = Reflect.get(server, 'http2Servers');
  if (!(servers instanceof Map) || servers.size === 0) return undefined;
  const list: unknown[] = [...servers.keys()];
  return list.every(isHttp2Server) ? list : undefined;
}

/** The socket handle's count of bytes that the kernel has not taken yet; 0 once the handle is closed. */
export function pendingSocketBytes(stream: ServerHttp2Stream): (() => number) | undefined {
  const socket: unknown = stream.session?.socket;
  const handle: unknown =
    typeof socket === 'object' && socket !== null ? Reflect.get(socket, '_handle') : undefined;
  if (typeof handle !== 'object' || handle === null) return undefined;
  const read = (): unknown => Reflect.get(handle, 'writeQueueSize');
  if (typeof read() !== 'number') return undefined;
  return () => {
    const size = read();
    return typeof size === 'number' ? size : 0;
  };
}

function isServerHttp2Stream(value: unknown): value is ServerHttp2Stream {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['write', 'cork', 'uncork', 'close', 'respond'].every(
      (name) => typeof Reflect.get(value, name) === 'function',
    )
  );
}

function isHttp2Server(value: unknown): value is Http2Server {
  return (
    typeof value === 'object' &&
    value !== null &&
    ['on', 'listeners', 'removeListener'].every((name) => typeof Reflect.get(value, name) === 'function')
  );
}
