import { createHmac, createSecretKey, randomBytes, randomFillSync, timingSafeEqual } from 'node:crypto';

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
  readonly #secret = createSecretKey(randomBytes(32));

  issue(sessionKey: string): { readonly id: string; readonly handle: Uint8Array } {
    const handle = Buffer.alloc(headBytes + macBytes);
    handle[0] = formatVersion;
    randomFillSync(handle, 1, idBytes);
    this.#mac(handle.subarray(0, headBytes), sessionKey).copy(handle, headBytes);
    return { id: idOf(handle), handle };
  }

  /** Answers the id, or undefined when this was not issued here for this session. */
  verify(handle: Uint8Array, sessionKey: string): string | undefined {
    const id = claimedId(handle);
    if (id === undefined) return undefined;
    const bytes = asBuffer(handle);
    const mac = this.#mac(bytes.subarray(0, headBytes), sessionKey);
    return timingSafeEqual(bytes.subarray(headBytes), mac) ? id : undefined;
  }

  #mac(head: Buffer, sessionKey: string): Buffer {
    return createHmac('sha256', this.#secret).update(head).update(sessionKey).digest();
  }
}

/** The id that a handle claims to have, or undefined when it has not the form of one. It proves nothing. */
export function claimedId(handle: Uint8Array): string | undefined {
  return handle.length === headBytes + macBytes && handle[0] === formatVersion
    ? idOf(asBuffer(handle))
    : undefined;
}

/** Whether a handle is, in each byte, the one that was issued. */
export function isSameHandle(issued: Uint8Array, given: Uint8Array): boolean {
  return issued.length === given.length && timingSafeEqual(issued, given);
}

function idOf(handle: Buffer): string {
  return handle.toString('hex', 1, headBytes);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
