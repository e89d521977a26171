/** The only way to a catalog: as a session. */
import type { CatalogFactory, WritableCatalog } from '@svc/lake';
import type { Session } from '../identity/session.js';
import { type CatalogDirectory, createCatalogDirectory } from './catalog-directory.js';
import { CatalogSessions } from './catalog-sessions.js';
import { ContextCache } from './context-cache.js';
import { catalogToChange, catalogToRead } from './session-catalog.js';

export interface CatalogContexts {
  /** The catalogs as the session's user sees them; what they told the user lately may be answered again. */
  catalogsOf(session: Session): CatalogDirectory;
  /** The same for statements that change something: catalogs are asked each time. */
  catalogsToChange(session: Session): CatalogDirectory<WritableCatalog>;
  /**
   * Forgets what catalogs told all users, or the one of this name, so that changes from outside are seen by the next
   * statement (spec section 4.4). What users share of the lake is kept: immutable files, known by location and version.
   */
  refresh(username?: string): void;
  /** Forgets what only this session was told, and closes what only it has used. */
  endSession(session: Session): void;
}

export interface CatalogContextsOptions {
  /** By the name under which SQL knows them. */
  readonly factories: ReadonlyMap<string, CatalogFactory>;
  /** With 0 catalogs are asked each time; so they are without any bytes. */
  readonly ttlMs: number;
  readonly maxBytes: number;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly maxCatalogSessions?: number;
}

/** Each is a client; more sessions than these that call in turn open theirs anew. */
const defaultMaxCatalogSessions = 10_000;

export function createCatalogContexts(options: CatalogContextsOptions): CatalogContexts {
  const { factories, ttlMs, maxBytes, now } = options;
  const contexts = ttlMs > 0 && maxBytes > 0 ? new ContextCache({ ttlMs, maxBytes, now }) : undefined;
  const sessions = new CatalogSessions({
    factories,
    maxOpen: options.maxCatalogSessions ?? defaultMaxCatalogSessions,
    onEnd: (id) => contexts?.dropCatalogSession(id),
  });

  /** Made once for each session. */
  function directories<C extends WritableCatalog | ReturnType<typeof catalogToRead>>(
    catalogFor: (options: Parameters<typeof catalogToRead>[0]) => C,
  ): (session: Session) => CatalogDirectory<C> {
    const made = new WeakMap<Session, CatalogDirectory<C>>();
    return (session) => {
      const known = made.get(session);
      if (known !== undefined) return known;
      const catalogs = [...factories].map(([name, { kind }]): readonly [string, C] => {
        const current = () => sessions.of(session, name);
        return [name, catalogFor({ name, kind, current, contexts })];
      });
      const directory = createCatalogDirectory(new Map(catalogs));
      made.set(session, directory);
      return directory;
    };
  }

  return {
    catalogsOf: directories(catalogToRead),
    catalogsToChange: directories(catalogToChange),
    refresh(username) {
      if (username === undefined) contexts?.clear();
      else for (const id of sessions.ofUser(username)) contexts?.dropCatalogSession(id);
    },
    endSession: (session) => sessions.leave(session),
  };
}
