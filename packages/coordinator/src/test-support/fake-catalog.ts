import { QueryError } from '@svc/base';
import type { Namespace } from '@svc/lake';
import {
  type CatalogDirectory,
  createCatalogDirectory,
  type ReadableCatalog,
} from '../catalogs/catalog-directory.js';

/** A catalog of names only: schemas (dots separate levels) and their tables. Loading a table is an error. */
export function fakeCatalog(tables: Readonly<Record<string, readonly string[]>>): ReadableCatalog {
  const inSchema = (namespace: Namespace) => tables[namespace.join('.')];
  return {
    listNamespaces: async () => Object.keys(tables).map((schema) => schema.split('.')),
    namespaceExists: async (namespace) => inSchema(namespace) !== undefined,
    async listRelations(namespace, { isWanted = () => true } = {}) {
      const names = inSchema(namespace);
      if (names === undefined)
        throw new QueryError('SCHEMA_NOT_FOUND', `There is no schema "${namespace.join('.')}".`);
      return names.filter(isWanted).map((name) => ({ identifier: { namespace, name }, kind: 'table' }));
    },
    async loadTable({ name }) {
      throw new QueryError('TABLE_NOT_FOUND', `There is no table "${name}".`);
    },
    async loadView({ name }) {
      throw new QueryError('TABLE_NOT_FOUND', `There is no view "${name}".`);
    },
  };
}

export function directoryOf(catalogs: Readonly<Record<string, ReadableCatalog>>): CatalogDirectory {
  return createCatalogDirectory(new Map(Object.entries(catalogs)));
}
