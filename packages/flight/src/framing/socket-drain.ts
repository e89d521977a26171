import type { Http2Session } from 'node:http2';

/** Waits between looks at the socket, which reports no event for this. */
const FIRST_LOOK_MS = 1;
const LAST_LOOK_MS = 50;

export interface SocketDrainOptions {
  readonly session: Http2Session;
  /** Bytes that the kernel has not taken yet. */
  readonly pendingBytes: () => number;
  /** A peer that takes nothing at all for this long is cut off. */
  readonly stalledAfterMs: number;
}

/**
 * Resolves once no memory handed to the session is read any more. On a living stream the callback of an HTTP/2 write
 * tells that. On a stream that was destroyed it does not: node reports the unsent rest of a message as cancelled while
 * the part before it may still wait in the socket's queue, by address. Reusing that memory would put other data,
 * perhaps another user's, on the wire. A peer that then takes nothing loses its connection.
 */
export async function socketDrained({
  session,
  pendingBytes,
  stalledAfterMs,
}: SocketDrainOptions): Promise<void> {
  let pending = pendingBytes();
  let waitMs = FIRST_LOOK_MS;
  let stalledMs = 0;
  while (pending > 0) {
    await new Promise<void>((resolve) => {
      setTimeout(resolve, waitMs);
    });
    const now = pendingBytes();
    stalledMs = now < pending ? 0 : stalledMs + waitMs;
    if (stalledMs >= stalledAfterMs && !session.destroyed) session.destroy();
    pending = now;
    waitMs = Math.min(waitMs * 2, LAST_LOOK_MS);
  }
}
