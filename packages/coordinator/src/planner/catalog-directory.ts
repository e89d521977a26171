import { QueryError } from '@svc/base';
import type { WritableCatalog } from '@svc/lake';

/** The catalogs by the name under which SQL knows them. */
export interface CatalogDirectory {
  readonly names: readonly string[];
  /** Exact name first, then one that differs in case only. Throws CATALOG_NOT_FOUND naming what exists. */
  get(name: string): { readonly name: string; readonly catalog: WritableCatalog };
}

export function createCatalogDirectory(catalogs: ReadonlyMap<string, WritableCatalog>): CatalogDirectory {
  const names = [...catalogs.keys()];
  return {
    names,
    get(name) {
      const found = catalogs.has(name)
        ? name
        : names.find((other) => other.toLowerCase() === name.toLowerCase());
      const catalog = found === undefined ? undefined : catalogs.get(found);
      if (found === undefined || catalog === undefined) {
        throw new QueryError(
          'CATALOG_NOT_FOUND',
          `There is no catalog "${name}"; there is ${names.map((each) => `"${each}"`).join(', ')}.`,
        );
      }
      return { name: found, catalog };
    },
  };
}
