import { QueryError } from '@svc/base';
import { bearerKey, newBearer, sessionLabel } from './bearer.js';
import type { BearerOwner, SignedIn } from './identity-provider.js';
import { isSpent, type Session } from './session.js';
import type { SessionSettings } from './session-settings.js';

export interface SessionStoreOptions {
  readonly idleTimeoutMs: number;
  readonly maxAgeMs: number;
  readonly maxPerUser: number;
  /** Of all users together. */
  readonly maxTotal: number;
  readonly defaults: SessionSettings;
  readonly now: () => number;
}

/** Why a session is over: what its bearer answers from then on. */
type Ending = 'closed' | 'outdated' | 'spent';

interface Entry {
  /** SHA-256 of the bearer, hex. */
  readonly digest: string;
  readonly session: Session;
  /** Whether its bearer was issued elsewhere: an access token, which may begin another session. */
  readonly isAdopted: boolean;
  readonly controller: AbortController;
}

/**
 * The sessions of this coordinator, in memory. Expired ones are found by `sweep` and at use, whichever comes first. What
 * is done for one session does not depend on how many others there are.
 */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  /** By the bearer's digest: a look-up by digest leaks nothing about near misses by its timing. */
  readonly #entries = new Map<string, Entry>();
  readonly #entryOf = new WeakMap<Session, Entry>();
  readonly #byUser = new Map<string, Set<Entry>>();
  /**
   * Digests of bearers whose sessions expired, oldest first: their owners are told so after the session itself is gone. As
   * many as there may be sessions, at some hundred bytes each.
   */
  readonly #expired = new Set<string>();
  readonly #endListeners: ((session: Session) => void)[] = [];

  constructor(options: SessionStoreOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** How many would answer a call: those whose queries still run, but whose tokens are spent, do not count. */
  openCount(): number {
    const now = this.#options.now();
    let open = 0;
    for (const { session } of this.#entries.values()) if (!isSpent(session, now)) open += 1;
    return open;
  }

  /** Called once for each session that ends, whatever ended it. */
  onEnd(listener: (session: Session) => void): void {
    this.#endListeners.push(listener);
  }

  /**
   * Answers the bearer of a new session. The user's least recently used one goes when there are more than the cap. Throws
   * TOO_MANY_SESSIONS.
   */
  create(signedIn: SignedIn, clientAddress: string): string {
    const bearer = newBearer();
    const digest = bearerKey(bearer);
    this.#add({ digest, key: digest, isAdopted: false }, signedIn, clientAddress);
    return bearer;
  }

  /**
   * The session of a bearer that was not issued here: one for each issuer, subject and token. Throws SESSION_EXPIRED for a
   * token that has expired meanwhile, and TOO_MANY_SESSIONS.
   */
  adopt(bearer: string, owner: BearerOwner, clientAddress: string): Session {
    const known = this.find(bearer);
    if (known !== undefined) return known;
    if (isSpent({ ...owner, isExpired: false }, this.#options.now())) throw sessionExpired();
    const digest = bearerKey(bearer);
    const key = bearerKey(JSON.stringify([owner.issuer, owner.subject, digest]));
    return this.#add({ digest, key, isAdopted: true }, owner, clientAddress);
  }

  /** Undefined for a bearer that is none of a session here. Throws SESSION_EXPIRED for one whose session is over. */
  find(bearer: string): Session | undefined {
    const session = this.peek(bearer);
    if (session !== undefined) session.lastUsedAtMs = this.#options.now();
    return session;
  }

  /** As `find`, for what is no use of the session: it gets as idle as it would. */
  peek(bearer: string): Session | undefined {
    const digest = bearerKey(bearer);
    const entry = this.#entries.get(digest);
    if (entry === undefined) {
      if (this.#expired.has(digest)) throw sessionExpired();
      return undefined;
    }
    const now = this.#options.now();
    if (this.#isOutdated(entry.session, now)) {
      this.#end(entry, 'outdated');
      return this.peek(bearer);
    }
    // Its queries go on: they began while it was valid. The sweep ends it after the last of them.
    if (isSpent(entry.session, now)) throw sessionExpired();
    return entry.session;
  }

  /** All that have not ended. */
  sessions(): readonly Session[] {
    return [...this.#entries.values()].map(({ session }) => session);
  }

  /** Whoever calls with its bearer is a stranger from now on. Twice is once. */
  close(session: Session): void {
    const entry = this.#entryOf.get(session);
    if (entry) this.#end(entry, 'closed');
  }

  /**
   * Ends what has expired. A session of `active`, for which something is running, is in use: not idle, and kept until
   * that has ended when only its tokens are spent.
   */
  sweep(active: ReadonlySet<Session> = new Set()): void {
    const now = this.#options.now();
    for (const session of active) session.lastUsedAtMs = now;
    for (const entry of [...this.#entries.values()]) {
      const { session } = entry;
      if (this.#isOutdated(session, now)) this.#end(entry, 'outdated');
      else if (isSpent(session, now) && !active.has(session)) this.#end(entry, 'spent');
    }
  }

  closeAll(): void {
    for (const entry of [...this.#entries.values()]) this.#end(entry, 'closed');
  }

  #add(
    { digest, key, isAdopted }: Pick<Entry, 'digest' | 'isAdopted'> & { readonly key: string },
    { identity, tokens, renew }: SignedIn,
    clientAddress: string,
  ): Session {
    const now = this.#options.now();
    const controller = new AbortController();
    this.#makeRoom(identity.username);
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
    const entry: Entry = { digest, session, isAdopted, controller };
    this.#entries.set(digest, entry);
    this.#entryOf.set(session, entry);
    const own = this.#byUser.get(identity.username);
    if (own === undefined) this.#byUser.set(identity.username, new Set([entry]));
    else own.add(entry);
    return session;
  }

  #isOutdated(session: Session, now: number): boolean {
    return (
      now - session.lastUsedAtMs > this.#options.idleTimeoutMs ||
      now - session.createdAtMs > this.#options.maxAgeMs
    );
  }

  #makeRoom(username: string): void {
    const { maxPerUser, maxTotal } = this.#options;
    const own = this.#byUser.get(username);
    while (own !== undefined && own.size >= maxPerUser) this.#end(leastRecentlyUsed(own), 'outdated');
    if (this.#entries.size >= maxTotal)
      throw new QueryError(
        'TOO_MANY_SESSIONS',
        `All ${maxTotal} sessions of this coordinator are open (session.max_total): sign in again later.`,
      );
  }

  #end(entry: Entry, ending: Ending): void {
    const { digest, session, isAdopted, controller } = entry;
    if (!this.#entries.delete(digest)) return;
    const { username } = session.identity;
    const own = this.#byUser.get(username);
    own?.delete(entry);
    if (own?.size === 0) this.#byUser.delete(username);
    // An access token that is still valid may begin another session; only one that has expired is told so.
    if (ending === 'spent' || (ending === 'outdated' && !isAdopted)) this.#remember(digest);
    controller.abort(ending === 'closed' ? sessionLost() : sessionExpired());
    for (const listener of this.#endListeners) listener(session);
  }

  #remember(digest: string): void {
    this.#expired.add(digest);
    for (const oldest of this.#expired) {
      if (this.#expired.size <= this.#options.maxTotal) break;
      this.#expired.delete(oldest);
    }
  }
}

function leastRecentlyUsed(entries: Iterable<Entry>): Entry {
  return [...entries].reduce((oldest, entry) =>
    entry.session.lastUsedAtMs < oldest.session.lastUsedAtMs ? entry : oldest,
  );
}

export function sessionExpired(): QueryError {
  return new QueryError('SESSION_EXPIRED', 'session expired, sign in again');
}

/** Also said of a bearer that this coordinator has never seen: another one may have issued it and be gone. */
export function sessionLost(cause?: unknown): QueryError {
  return new QueryError('SESSION_LOST', 'session lost, sign in again', { cause });
}
