import type { TableCommit } from '../iceberg/changes/table-change.js';
import type { ViewDefinition, ViewMetadata } from '../iceberg/views/view-metadata.js';
import type { TableDefinition } from '../iceberg/write/create-table.js';
import type { TableToWrite } from '../iceberg/write/table-place.js';
import type { ObjectStore } from '../storage/object-store.js';
import type { Catalog, CatalogOptions, LoadedTable, Namespace, TableIdentifier } from './catalog.js';

/** A table that does not exist yet but has a place: its files may be written there before it is committed. */
export interface StagedTable extends TableToWrite {
  readonly identifier: TableIdentifier;
  readonly metadataLocation: undefined;
  readonly store: ObjectStore;
  /** Makes the table; the updates of an append may be added to it. */
  readonly creation: TableCommit;
}

/** What a schema lists: a table or a view. */
export interface ListedRelation {
  readonly identifier: TableIdentifier;
  readonly kind: 'table' | 'view';
}

export interface ListingOptions extends CatalogOptions {
  /** Which names to list; without, all. Telling what a name stands for costs more than reading the name. */
  readonly isWanted?: (name: string) => boolean;
}

export interface LoadedView {
  readonly identifier: TableIdentifier;
  readonly metadata: ViewMetadata;
  readonly metadataLocation: string;
}

/**
 * A catalog that can be changed. Tables and views share their names, which differ by more than case. Every change is
 * atomic. Errors beside those of Catalog: ALREADY_EXISTS, INVALID_ARGUMENT for a name that cannot be one, NOT_SUPPORTED
 * for tables that belong to another catalog, DISK_FULL, STORAGE_ERROR.
 */
export interface WritableCatalog extends Catalog {
  /** The parent namespace must exist. */
  createNamespace(namespace: Namespace, options?: CatalogOptions): Promise<void>;
  /** Throws SCHEMA_NOT_EMPTY when anything is in it. */
  dropNamespace(namespace: Namespace, options?: CatalogOptions): Promise<void>;
  stageTable(
    identifier: TableIdentifier,
    definition: TableDefinition,
    options?: CatalogOptions,
  ): Promise<StagedTable>;
  /** Gives up a staged table once its own files are deleted; does nothing when it exists, or others write to it. */
  discardTable(staged: StagedTable): Promise<void>;
  createTable(
    identifier: TableIdentifier,
    definition: TableDefinition,
    options?: CatalogOptions,
  ): Promise<LoadedTable>;
  /**
   * Applies the updates if the requirements hold for the table as it is now. Once begun it is not cancelled. Throws
   * COMMIT_CONFLICT (retryable: from fresh metadata it may succeed), COMMIT_OUTCOME_UNKNOWN, TABLE_NOT_FOUND; after
   * every other error the table is as it was.
   */
  commitTable(identifier: TableIdentifier, commit: TableCommit): Promise<LoadedTable>;
  /**
   * Runs `body` while other writers of the table that ask likewise wait, as far as the catalog can arrange that. It makes
   * conflicts rarer, and promises nothing.
   */
  inTurn<T>(identifier: TableIdentifier, body: () => Promise<T>, options?: CatalogOptions): Promise<T>;
  /** `purge` deletes the table's files, without it they are kept aside; it never deletes outside the catalog. */
  dropTable(
    identifier: TableIdentifier,
    options: CatalogOptions & { readonly purge: boolean },
  ): Promise<void>;
  /** Tables and views by name, looked at once. */
  listRelations(namespace: Namespace, options?: ListingOptions): Promise<readonly ListedRelation[]>;
  listViews(namespace: Namespace, options?: CatalogOptions): Promise<readonly TableIdentifier[]>;
  /** Throws TABLE_NOT_FOUND, also for a table. */
  loadView(identifier: TableIdentifier, options?: CatalogOptions): Promise<LoadedView>;
  createView(
    identifier: TableIdentifier,
    definition: ViewDefinition,
    options?: CatalogOptions,
  ): Promise<LoadedView>;
  /** A new version of an existing view. Throws TABLE_NOT_FOUND. */
  replaceView(
    identifier: TableIdentifier,
    definition: ViewDefinition,
    options?: CatalogOptions,
  ): Promise<LoadedView>;
  dropView(identifier: TableIdentifier, options?: CatalogOptions): Promise<void>;
}
