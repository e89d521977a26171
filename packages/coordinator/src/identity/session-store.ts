import { QueryError } from '@svc/base';
import { bearerKey, newBearer, sessionLabel } from './bearer.js';
import type { BearerOwner, SignedIn } from './identity-provider.js';
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
  /** SHA-256 of the bearer, hex. */
  readonly digest: string;
  readonly session: Session;
  readonly controller: AbortController;
}

/** The sessions of this coordinator, in memory. Expired ones are found by `sweep` and at use, whichever comes first. */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  /** By the bearer's digest: a look-up by digest leaks nothing about near misses by its timing. */
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

  /** Answers the bearer of a new session. The user's least recently used one goes when there are more than the cap. */
  create(signedIn: SignedIn, clientAddress: string): string {
    const bearer = newBearer();
    const digest = bearerKey(bearer);
    this.#add(digest, digest, signedIn, clientAddress);
    return bearer;
  }

  /** The session of a bearer that was not issued here: one for each issuer, subject and token. */
  adopt(bearer: string, owner: BearerOwner, clientAddress: string): Session {
    const digest = bearerKey(bearer);
    const key = bearerKey(JSON.stringify([owner.issuer, owner.subject, digest]));
    return this.#entries.get(digest)?.session ?? this.#add(digest, key, owner, clientAddress);
  }

  /** Undefined for a bearer that is none of a session here. Throws SESSION_EXPIRED for one whose session is over. */
  find(bearer: string): Session | undefined {
    const session = this.peek(bearer);
    if (session !== undefined) session.lastUsedAtMs = this.#options.now();
    return session;
  }

  /** As `find`, for what is no use of the session: it gets as idle as it would. */
  peek(bearer: string): Session | undefined {
    const entry = this.#entries.get(bearerKey(bearer));
    if (entry === undefined) return undefined;
    const now = this.#options.now();
    if (entry.session.isExpired) throw sessionExpired();
    if (this.#isExpired(entry.session, now)) {
      this.#end(entry);
      throw sessionExpired();
    }
    return entry.session;
  }

  /** All that are not over. */
  sessions(): readonly Session[] {
    return [...this.#entries.values()].map(({ session }) => session);
  }

  #add(digest: string, key: string, { identity, tokens, renew }: SignedIn, clientAddress: string): Session {
    const now = this.#options.now();
    const controller = new AbortController();
    this.#evictFor(identity.username);
    const session: Session = {
      key,
      label: sessionLabel(digest),
      identity,
      clientAddress,
      createdAtMs: now,
      lastUsedAtMs: now,
      settings: this.#options.defaults,
      tokens,
      renew,
      isExpired: false,
      closed: controller.signal,
    };
    this.#entries.set(digest, { digest, session, controller });
    return session;
  }

  close(session: Session): void {
    const entry = [...this.#entries.values()].find((each) => each.session === session);
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
    if (!this.#entries.delete(entry.digest)) return;
    entry.controller.abort(sessionExpired());
    for (const listener of this.#endListeners) listener(entry.session);
  }
}

export function sessionExpired(): QueryError {
  return new QueryError('SESSION_EXPIRED', 'session expired, sign in again');
}
