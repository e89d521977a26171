/** Which client of a catalog acts for a session: one for each user and token, however many sessions share these. */
import type { CatalogClient, CatalogFactory } from '@svc/lake';
import { LRUCache } from 'lru-cache';
import { bearerKey } from '../identity/bearer.js';
import type { Session } from '../identity/session.js';
import { sessionExpired } from '../identity/session-store.js';

/** A catalog client of one user with one token. */
export interface CatalogSession {
  /** Never used twice: what was kept for one catalog session is never another's. */
  readonly id: number;
  /** The client is not closed before the body has ended. */
  use<T>(body: (client: CatalogClient) => Promise<T>): Promise<T>;
}

export interface CatalogSessionsOptions {
  readonly factories: ReadonlyMap<string, CatalogFactory>;
  /** The least recently used goes first; its sessions get another one at their next call. */
  readonly maxOpen: number;
  /** Called once for each catalog session that no session uses any more. */
  readonly onEnd: (id: number) => void;
}

/** How much of a token's end tells catalog sessions apart (spec section 3.2). */
const fingerprintLength = 8;

interface Entry extends CatalogSession {
  readonly key: string;
  readonly username: string;
  /** Of the whole token: a fingerprint may be another token's too. */
  readonly tokenDigest: string | undefined;
  /** Sessions whose calls come here. */
  readonly members: Set<Session>;
  /** These, and those that have a new token since: their queries may still run on what the client has answered. */
  readonly callers: Set<Session>;
  /** Closes the client, now or once its last call has ended. */
  end(): void;
}

/**
 * Keyed by catalog, user and fingerprint, and compared by the whole token, so that two tokens never share a client. Users
 * do not share one either, not even where their tokens are the same. Sessions of one user without tokens are one to a
 * catalog, since the name is all that it is told of them; a name that anybody may type always comes with a token.
 */
export class CatalogSessions {
  readonly #factories: CatalogSessionsOptions['factories'];
  readonly #entries: LRUCache<string, Entry>;
  /** By catalog, where each session's calls went last. */
  readonly #current = new WeakMap<Session, Map<string, Entry>>();
  #lastId = 0;

  constructor({ factories, maxOpen, onEnd }: CatalogSessionsOptions) {
    this.#factories = factories;
    this.#entries = new LRUCache({
      max: maxOpen,
      dispose: (entry) => {
        entry.end();
        onEnd(entry.id);
      },
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  /** For the token that the session has now. Throws SESSION_EXPIRED for one that is over or could not be renewed. */
  of(session: Session, catalog: string): CatalogSession {
    if (isOver(session)) {
      this.leave(session);
      throw sessionExpired();
    }
    const { username } = session.identity;
    const token = session.tokens?.accessToken;
    const tokenDigest = token === undefined ? undefined : bearerKey(token);
    const key = JSON.stringify([catalog, username, token?.slice(-fingerprintLength) ?? null]);
    const known = this.#entries.get(key);
    const entry =
      known !== undefined && known.tokenDigest === tokenDigest
        ? known
        : this.#open(catalog, { key, username, tokenDigest });
    this.#enter(session, catalog, entry);
    return entry;
  }

  /** The ids of those of a user. */
  ofUser(username: string): readonly number[] {
    return [...this.#entries.values()].flatMap((entry) => (entry.username === username ? [entry.id] : []));
  }

  /** The session is over: what only it has used ends. */
  leave(session: Session): void {
    const current = this.#current.get(session);
    if (current === undefined) return;
    this.#current.delete(session);
    for (const entry of current.values()) this.#remove(session, entry);
  }

  #enter(session: Session, catalog: string, entry: Entry): void {
    const current = this.#current.get(session) ?? new Map<string, Entry>();
    this.#current.set(session, current);
    const before = current.get(catalog);
    if (before === entry) return;
    current.set(catalog, entry);
    entry.members.add(session);
    for (const caller of entry.callers) if (isOver(caller)) entry.callers.delete(caller);
    entry.callers.add(session);
    if (before !== undefined) this.#remove(session, before);
  }

  #remove(session: Session, entry: Entry): void {
    entry.members.delete(session);
    if (entry.members.size === 0 && this.#entries.peek(entry.key) === entry) this.#entries.delete(entry.key);
  }

  #open(catalog: string, identity: Pick<Entry, 'key' | 'username' | 'tokenDigest'>): Entry {
    const factory = this.#factories.get(catalog);
    if (factory === undefined) throw new TypeError(`No factory of the catalog ${catalog}.`);
    const members = new Set<Session>();
    const callers = new Set<Session>();
    const client = factory.open({
      user: identity.username,
      accessToken: () => accessTokenOf([...callers], identity.tokenDigest),
    });
    this.#lastId += 1;
    const entry: Entry = { ...identity, id: this.#lastId, members, callers, ...usesOf(client) };
    this.#entries.set(entry.key, entry);
    return entry;
  }
}

/**
 * What those who share a client give the catalog: the token that it was opened with, or once that has been renewed for all
 * of them, a fresh one. `sessions` are of one user and began with the same token.
 */
function accessTokenOf(sessions: readonly Session[], tokenDigest: string | undefined): string | undefined {
  const live = sessions.filter((session) => !isOver(session));
  const [first] = live;
  if (first === undefined) throw sessionExpired();
  const tokens = live.map((session) => session.tokens?.accessToken);
  const same = tokens.find((token) => token !== undefined && bearerKey(token) === tokenDigest);
  return same ?? first.tokens?.accessToken;
}

/** Counts the calls of a client, which may be told to close while some are under way. */
function usesOf(client: CatalogClient): Pick<Entry, 'use' | 'end'> {
  let calls = 0;
  let isEnded = false;
  let isClosed = false;
  const closeIfUnused = () => {
    if (!isEnded || isClosed || calls > 0) return;
    isClosed = true;
    client.close?.();
  };
  return {
    async use(body) {
      calls += 1;
      try {
        return await body(client);
      } finally {
        calls -= 1;
        closeIfUnused();
      }
    },
    end() {
      isEnded = true;
      closeIfUnused();
    },
  };
}

function isOver(session: Session): boolean {
  return session.isExpired || session.closed.aborted;
}
