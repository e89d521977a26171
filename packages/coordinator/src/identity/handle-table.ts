import { QueryError } from '@svc/base';
import { HandleSigner } from './handles.js';

interface Slot<T> {
  readonly value: T;
  expiresAtMs: number;
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

export interface HandleTableOptions {
  readonly errors: HandleErrors;
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

  /** Throws one of `errors`. */
  get(sessionKey: string, handle: Uint8Array): T {
    const id = this.#idOf(sessionKey, handle);
    const slot = this.#bySession.get(sessionKey)?.get(id);
    const now = this.#options.now();
    if (slot === undefined || slot.expiresAtMs < now) throw this.#options.errors.expired();
    slot.expiresAtMs = now + this.#options.ttlMs;
    return slot.value;
  }

  /** Twice is once. Throws `errors.invalid`. */
  delete(sessionKey: string, handle: Uint8Array): void {
    const id = this.#idOf(sessionKey, handle);
    this.#bySession.get(sessionKey)?.delete(id);
  }

  #idOf(sessionKey: string, handle: Uint8Array): string {
    const id = this.#signer.verify(handle, sessionKey);
    if (id === undefined) throw this.#options.errors.invalid();
    return id;
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
