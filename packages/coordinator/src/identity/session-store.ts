import { QueryError } from '@svc/base';
import { bearerKey, newBearer, sessionLabel } from './bearer.js';
import type { Identity } from './identity-provider.js';
import type { Session } from './session.js';
import type { SessionSettings } from './session-settings.js';

export interface SessionStoreOptions {
  readonly idleTimeoutMs: number;
  readonly maxAgeMs: number;
  readonly maxPerUser: number;
  readonly defaults: SessionSettings;
  readonly now: () => number;
}

interface Entry {
  readonly session: Session;
  readonly controller: AbortController;
}

/** The sessions of this coordinator, in memory. Expired ones are found by `sweep` and at use, whichever comes first. */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #endListeners: ((session: Session) => void)[] = [];

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Called once for each session that ends, whatever ended it. */
  onEnd(listener: (session: Session) => void): void {
    this.#endListeners.push(listener);
  }

  /** Answers the bearer. The user's least recently used session goes when there are more than the cap. */
  create(identity: Identity, clientAddress: string): string {
    const bearer = newBearer();
    const key = bearerKey(bearer);
    const now = this.#options.now();
    const controller = new AbortController();
    this.#evictFor(identity.username);
    this.#entries.set(key, {
      controller,
      session: {
        key,
        label: sessionLabel(key),
        identity,
        clientAddress,
        createdAtMs: now,
        lastUsedAtMs: now,
        settings: this.#options.defaults,
        closed: controller.signal,
      },
    });
    return bearer;
  }

  /** Throws SESSION_EXPIRED for an unknown, closed or expired bearer: the answer is the same for all three. */
  find(bearer: string): Session {
    const entry = this.#entries.get(bearerKey(bearer));
    if (entry === undefined) throw expired();
    const now = this.#options.now();
    if (this.#isExpired(entry.session, now)) {
      this.#end(entry);
      throw expired();
    }
    entry.session.lastUsedAtMs = now;
    return entry.session;
  }

  close(session: Session): void {
    const entry = this.#entries.get(session.key);
    if (entry) this.#end(entry);
  }

  /** Ends what has expired. A session of `active`, for which something is running, is in use and not idle. */
  sweep(active: ReadonlySet<Session> = new Set()): void {
    const now = this.#options.now();
    for (const session of active) session.lastUsedAtMs = now;
    for (const entry of [...this.#entries.values()]) {
      if (this.#isExpired(entry.session, now)) this.#end(entry);
    }
  }

  closeAll(): void {
    for (const entry of [...this.#entries.values()]) this.#end(entry);
  }

  #isExpired(session: Session, now: number): boolean {
    return (
      now - session.lastUsedAtMs > this.#options.idleTimeoutMs ||
      now - session.createdAtMs > this.#options.maxAgeMs
    );
  }

  #evictFor(username: string): void {
    const own = [...this.#entries.values()].filter((entry) => entry.session.identity.username === username);
    own.sort((a, b) => a.session.lastUsedAtMs - b.session.lastUsedAtMs);
    for (const entry of own.slice(0, Math.max(0, own.length - this.#options.maxPerUser + 1)))
      this.#end(entry);
  }

  #end(entry: Entry): void {
    if (!this.#entries.delete(entry.session.key)) return;
    entry.controller.abort(expired());
    for (const listener of this.#endListeners) listener(entry.session);
  }
}

function expired(): QueryError {
  return new QueryError('SESSION_EXPIRED', 'The session is unknown, closed or expired: sign in again.');
}
