import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

const idBytes = 16;
const headBytes = 1 + idBytes;
const macBytes = 32;
const formatVersion = 1;

/**
 * Handles that clients hold for statements kept here: `version ‖ id ‖ HMAC-SHA256`, the MAC over the first two and
 * the session's key. A handle that was issued here for this session but is no longer known has therefore expired;
 * anything else is damaged or foreign.
 */
export class HandleSigner {
  readonly #secret = randomBytes(32);

  issue(sessionKey: string): { readonly id: string; readonly handle: Uint8Array } {
    const head = Buffer.concat([Buffer.of(formatVersion), randomBytes(idBytes)]);
    return { id: idOf(head), handle: Buffer.concat([head, this.#mac(head, sessionKey)]) };
  }

  /** Answers the id, or undefined when this was not issued here for this session. */
  verify(handle: Uint8Array, sessionKey: string): string | undefined {
    const bytes = Buffer.from(handle.buffer, handle.byteOffset, handle.byteLength);
    if (bytes.length !== headBytes + macBytes || bytes[0] !== formatVersion) return undefined;
    const head = bytes.subarray(0, headBytes);
    if (!timingSafeEqual(bytes.subarray(headBytes), this.#mac(head, sessionKey))) return undefined;
    return idOf(head);
  }

  #mac(head: Buffer, sessionKey: string): Buffer {
    return createHmac('sha256', this.#secret).update(head).update(sessionKey).digest();
  }
}

function idOf(head: Buffer): string {
  return head.toString('hex', 1);
}
