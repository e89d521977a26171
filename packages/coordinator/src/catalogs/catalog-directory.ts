import { QueryError } from '@svc/base';
import type { WritableCatalog } from '@svc/lake';

/** What a statement that changes nothing needs of a catalog. */
export type ReadableCatalog = Pick<
  WritableCatalog,
  'listNamespaces' | 'namespaceExists' | 'listRelations' | 'loadTable' | 'loadView'
>;

/** The catalogs of one session, by the name under which SQL knows them. */
export interface CatalogDirectory<C extends ReadableCatalog = ReadableCatalog> {
  readonly names: readonly string[];
  /** Exact name first, then one that differs in case only. Throws CATALOG_NOT_FOUND naming what exists. */
  get(name: string): { readonly name: string; readonly catalog: C };
}

export function createCatalogDirectory<C extends ReadableCatalog>(
  catalogs: ReadonlyMap<string, C>,
): CatalogDirectory<C> {
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
