import { QueryError } from '@svc/base';
import { claimedId, HandleSigner, isSameHandle } from './handles.js';

interface Slot<T> {
  /** As it was issued. */
  readonly handle: Uint8Array;
  readonly value: T;
  readonly bytes: number;
  readonly expiresAtMs: number;
}

/** In order of use, oldest first; `bytes` is their sum. */
interface SessionSlots<T> {
  readonly slots: Map<string, Slot<T>>;
  bytes: number;
}

/** What a client is told of a handle that stands for nothing. */
export interface HandleErrors {
  /** Damaged, or issued elsewhere or for another session. */
  readonly invalid: () => QueryError;
  /** Issued here for this session, but given up since. */
  readonly expired: () => QueryError;
}

export const ticketErrors: HandleErrors = {
  invalid: () =>
    new QueryError(
      'TICKET_INVALID',
      'The ticket is damaged, or was not issued by this service for this session: call GetFlightInfo again.',
    ),
  expired: () => new QueryError('TICKET_EXPIRED', 'The ticket has expired: call GetFlightInfo again.'),
};

const noSuchStatement = () =>
  new QueryError(
    'PREPARED_STATEMENT_NOT_FOUND',
    'The prepared statement was closed, has expired, or is not one of this session: prepare it again.',
  );

export const preparedStatementErrors: HandleErrors = { invalid: noSuchStatement, expired: noSuchStatement };

export interface HandleTableOptions<T> {
  readonly errors: HandleErrors;
  readonly ttlMs: number;
  /** Least recently used first out, per session: a client that never closes its handles costs a bounded amount. */
  readonly maxPerSession: number;
  /** Of all sessions together; the one that holds most gives up its least recently used first. */
  readonly maxBytes: number;
  /** About how many bytes of memory a value takes. */
  readonly bytesOf: (value: T) => number;
  readonly now: () => number;
}

/** What signed handles stand for, with a time to live from their last use. Ends with the session. */
export class HandleTable<T> {
  readonly #options: HandleTableOptions<T>;
  readonly #signer = new HandleSigner();
  readonly #bySession = new Map<string, SessionSlots<T>>();
  #bytes = 0;

  constructor(options: HandleTableOptions<T>) {
    this.#options = options;
  }

  add(sessionKey: string, value: T): Uint8Array {
    const { id, handle } = this.#signer.issue(sessionKey);
    this.#put(sessionKey, id, handle, value);
    return handle;
  }

  /** Throws one of `errors`. */
  get(sessionKey: string, handle: Uint8Array): T {
    const id = this.#idOf(sessionKey, handle);
    const slots = this.#bySession.get(sessionKey)?.slots;
    const slot = slots?.get(id);
    const now = this.#options.now();
    if (slots === undefined || slot === undefined || slot.expiresAtMs < now)
      throw this.#options.errors.expired();
    // Moved to the end: the order of a map is the order of use.
    slots.delete(id);
    slots.set(id, { ...slot, expiresAtMs: now + this.#options.ttlMs });
    return slot.value;
  }

  /** Makes a handle stand for another value. Throws one of `errors`. */
  replace(sessionKey: string, handle: Uint8Array, value: T): void {
    this.get(sessionKey, handle);
    const id = this.#idOf(sessionKey, handle);
    this.#remove(sessionKey, id);
    this.#put(sessionKey, id, Buffer.from(handle), value);
  }

  /** Twice is once. Throws `errors.invalid`. */
  delete(sessionKey: string, handle: Uint8Array): void {
    this.#remove(sessionKey, this.#idOf(sessionKey, handle));
  }

  /** A handle that is known here for this session is the one that was issued; only of others the MAC has to tell. */
  #idOf(sessionKey: string, handle: Uint8Array): string {
    const claimed = claimedId(handle);
    const slot = claimed === undefined ? undefined : this.#bySession.get(sessionKey)?.slots.get(claimed);
    if (claimed !== undefined && slot !== undefined && isSameHandle(slot.handle, handle)) return claimed;
    const id = this.#signer.verify(handle, sessionKey);
    if (id === undefined) throw this.#options.errors.invalid();
    return id;
  }

  endSession(sessionKey: string): void {
    this.#bytes -= this.#bySession.get(sessionKey)?.bytes ?? 0;
    this.#bySession.delete(sessionKey);
  }

  sweep(): void {
    const now = this.#options.now();
    for (const [key, { slots }] of [...this.#bySession])
      for (const [id, slot] of slots) if (slot.expiresAtMs < now) this.#remove(key, id);
  }

  #put(sessionKey: string, id: string, handle: Uint8Array, value: T): void {
    const bytes = this.#options.bytesOf(value);
    let session = this.#bySession.get(sessionKey);
    if (session === undefined) {
      session = { slots: new Map(), bytes: 0 };
      this.#bySession.set(sessionKey, session);
    }
    session.slots.set(id, {
      handle,
      value,
      bytes,
      expiresAtMs: this.#options.now() + this.#options.ttlMs,
    });
    session.bytes += bytes;
    this.#bytes += bytes;
    if (session.slots.size > this.#options.maxPerSession) this.#removeOldest(sessionKey, session);
    this.#shrink();
  }

  /** A session always keeps its newest handle: its client is about to use it. */
  #shrink(): void {
    while (this.#bytes > this.#options.maxBytes) {
      const [heaviest] = [...this.#bySession]
        .filter(([, { slots }]) => slots.size > 1)
        .sort(([, left], [, right]) => right.bytes - left.bytes);
      if (heaviest === undefined) return;
      this.#removeOldest(...heaviest);
    }
  }

  #removeOldest(sessionKey: string, { slots }: SessionSlots<T>): void {
    const [oldest] = slots.keys();
    if (oldest !== undefined) this.#remove(sessionKey, oldest);
  }

  #remove(sessionKey: string, id: string): void {
    const session = this.#bySession.get(sessionKey);
    const slot = session?.slots.get(id);
    if (session === undefined || slot === undefined) return;
    session.slots.delete(id);
    session.bytes -= slot.bytes;
    this.#bytes -= slot.bytes;
    if (session.slots.size === 0) this.#bySession.delete(sessionKey);
  }
}
