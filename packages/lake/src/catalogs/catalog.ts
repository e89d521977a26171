import type { TableMetadata } from '../iceberg/spec/table-metadata.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { ReadRestrictions } from './read-restrictions.js';

/** A namespace's levels, outermost first. */
export type Namespace = readonly string[];

export interface TableIdentifier {
  readonly namespace: Namespace;
  readonly name: string;
}

/** A table as this user may read it. */
export interface LoadedTable {
  readonly identifier: TableIdentifier;
  readonly metadata: TableMetadata;
  readonly metadataLocation: string;
  /** Opens the table's files with whatever credentials were vended for it. */
  readonly store: ObjectStore;
  /** What the catalog demands of readers for this user; undefined: nothing. It must be obeyed, or the table not be read. */
  readonly readRestrictions?: ReadRestrictions | undefined;
}

export interface CatalogOptions {
  readonly signal?: AbortSignal;
}

/** A catalog as one user sees it. Implementations: the file system (two layouts); further ones are folders beside it. */
export interface Catalog {
  readonly kind: string;
  /** Throws SCHEMA_NOT_FOUND for an unknown parent. */
  listNamespaces(parent: Namespace, options?: CatalogOptions): Promise<readonly Namespace[]>;
  listTables(namespace: Namespace, options?: CatalogOptions): Promise<readonly TableIdentifier[]>;
  /** Throws SCHEMA_NOT_FOUND, TABLE_NOT_FOUND (naming near names), DATA_CORRUPT. */
  loadTable(identifier: TableIdentifier, options?: CatalogOptions): Promise<LoadedTable>;
  namespaceExists(namespace: Namespace, options?: CatalogOptions): Promise<boolean>;
}
