import { QueryError } from '@svc/base';
import type { Catalog, Namespace, WritableCatalog } from '@svc/lake';
import { type CatalogDirectory, createCatalogDirectory } from '../planner/catalog-directory.js';

/** A catalog of names only: schemas (dots separate levels) and their tables. Loading a table is an error. */
export function fakeCatalog(
  tables: Readonly<Record<string, readonly string[]>>,
): Catalog & Pick<WritableCatalog, 'listRelations'> {
  const inSchema = (namespace: Namespace) => tables[namespace.join('.')];
  return {
    kind: 'fake',
    listNamespaces: async () => Object.keys(tables).map((schema) => schema.split('.')),
    namespaceExists: async (namespace) => inSchema(namespace) !== undefined,
    async listTables(namespace) {
      const names = inSchema(namespace);
      if (names === undefined)
        throw new QueryError('SCHEMA_NOT_FOUND', `There is no schema "${namespace.join('.')}".`);
      return names.map((name) => ({ namespace, name }));
    },
    async listRelations(namespace, { isWanted = () => true } = {}) {
      const names = inSchema(namespace);
      if (names === undefined)
        throw new QueryError('SCHEMA_NOT_FOUND', `There is no schema "${namespace.join('.')}".`);
      return names.filter(isWanted).map((name) => ({ identifier: { namespace, name }, kind: 'table' }));
    },
    async loadTable({ name }) {
      throw new QueryError('TABLE_NOT_FOUND', `There is no table "${name}".`);
    },
  };
}

export function directoryOf(catalogs: Readonly<Record<string, Catalog>>): CatalogDirectory {
  // Nothing in these tests writes.
  return createCatalogDirectory(
    new Map(Object.entries(catalogs as Readonly<Record<string, WritableCatalog>>)),
  );
}
