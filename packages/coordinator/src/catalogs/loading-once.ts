import type { LoadedTable } from '@svc/lake';
import type { CatalogDirectory } from './catalog-directory.js';

/**
 * For one statement: a table that it names several times is loaded once, so that all of it is as it was at one moment
 * (two versions of a table, a table and what its metadata tables say of it), whoever commits meanwhile.
 */
export function loadingOnce(catalogs: CatalogDirectory): CatalogDirectory {
  const loading = new Map<string, Promise<LoadedTable>>();
  return {
    names: catalogs.names,
    get(wanted) {
      const { name, catalog } = catalogs.get(wanted);
      return {
        name,
        catalog: {
          ...catalog,
          loadTable(identifier, options) {
            const key = JSON.stringify([name, identifier.namespace, identifier.name]);
            const known = loading.get(key) ?? catalog.loadTable(identifier, options);
            loading.set(key, known);
            return known;
          },
        },
      };
    },
  };
}
