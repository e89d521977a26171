import type { WritableCatalog } from './writable-catalog.js';

/** On whose behalf a catalog is asked. */
export interface CatalogCaller {
  readonly user: string;
  /**
   * As it is now: to be asked for at each call, and whenever credentials are fetched again for a query that runs on.
   * Undefined for users who have none. Throws SESSION_EXPIRED once nobody who opened the catalog is signed in any more.
   */
  accessToken(): string | undefined;
}

/** A catalog as one caller sees it. */
export interface CatalogClient extends WritableCatalog {
  /**
   * Lets go of what it holds open, such as idle connections; called once, when no call is under way. What it has answered,
   * the stores of tables above all, still works.
   */
  close?(): void;
}

/** One configured catalog, before it is known who asks. Costs nothing until a client of it is called. */
export interface CatalogFactory {
  readonly kind: string;
  open(caller: CatalogCaller): CatalogClient;
}
