import { HandleSigner, handleExpired } from './handles.js';

interface Slot<T> {
  readonly value: T;
  expiresAtMs: number;
}

export interface HandleTableOptions {
  readonly ttlMs: number;
  /** Oldest first out, per session: a client that never closes its handles costs a bounded amount. */
  readonly maxPerSession: number;
  readonly now: () => number;
}

/** What signed handles stand for, with a time to live from their last use. Ends with the session. */
export class HandleTable<T> {
  readonly #options: HandleTableOptions;
  readonly #signer = new HandleSigner();
  readonly #bySession = new Map<string, Map<string, Slot<T>>>();

  constructor(options: HandleTableOptions) {
    this.#options = options;
  }

  add(sessionKey: string, value: T): Uint8Array {
    const { id, handle } = this.#signer.issue(sessionKey);
    let slots = this.#bySession.get(sessionKey);
    if (slots === undefined) {
      slots = new Map();
      this.#bySession.set(sessionKey, slots);
    }
    slots.set(id, { value, expiresAtMs: this.#options.now() + this.#options.ttlMs });
    for (const oldest of slots.keys()) {
      if (slots.size <= this.#options.maxPerSession) break;
      slots.delete(oldest);
    }
    return handle;
  }

  /** Throws TICKET_INVALID or TICKET_EXPIRED. */
  get(sessionKey: string, handle: Uint8Array): T {
    const id = this.#signer.verify(handle, sessionKey);
    const slot = this.#bySession.get(sessionKey)?.get(id);
    const now = this.#options.now();
    if (slot === undefined || slot.expiresAtMs < now) throw handleExpired();
    slot.expiresAtMs = now + this.#options.ttlMs;
    return slot.value;
  }

  delete(sessionKey: string, handle: Uint8Array): void {
    const id = this.#signer.verify(handle, sessionKey);
    this.#bySession.get(sessionKey)?.delete(id);
  }

  endSession(sessionKey: string): void {
    this.#bySession.delete(sessionKey);
  }

  sweep(): void {
    const now = this.#options.now();
    for (const [key, slots] of this.#bySession) {
      for (const [id, slot] of slots) if (slot.expiresAtMs < now) slots.delete(id);
      if (slots.size === 0) this.#bySession.delete(key);
    }
  }
}
