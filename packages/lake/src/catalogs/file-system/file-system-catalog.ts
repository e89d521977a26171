/**
 * A catalog that is a folder: schemas are folders (nested schemas too), tables are folders with a `metadata` folder in
 * them. Nothing but the folders is stored, so tables that other writers make there appear by themselves.
 *
 * Names match exactly first, then the only one that differs in case. Two layouts of tables are read, told apart for each
 * table (see metadata-file.ts), and one of them is written: see commit-table.ts for how two writers meet.
 */
import { resolve } from 'node:path';
import { QueryError } from '@svc/base';
import type { MetadataFiles } from '../../iceberg/cache/metadata-files.js';
import type { ObjectStore } from '../../storage/object-store.js';
import type { CatalogOptions, LoadedTable, Namespace, TableIdentifier } from '../catalog.js';
import type { CatalogFactory } from '../catalog-factory.js';
import type { ListedRelation, WritableCatalog } from '../writable-catalog.js';
import {
  type CatalogFolder,
  childrenOf,
  classifiedChildren,
  distinctNames,
  findTable,
  resolveNamespace,
} from './catalog-folder.js';
import { commitTable } from './commit-table.js';
import { inTurn } from './commit-turn.js';
import { dropTable } from './drop-table.js';
import { createNamespace, dropNamespace } from './namespace-folder.js';
import { discardStagedTable, stageTable } from './stage-table.js';
import { createView, dropView, loadView, replaceView } from './view-folder.js';
import { pathOf } from './writable-folder.js';

export interface FileSystemCatalogOptions {
  /** The catalog's folder: a path, or a location of `store`. It need not exist yet. */
  readonly root: string;
  readonly store: ObjectStore;
  readonly files: MetadataFiles;
}

export function createFileSystemCatalog(catalog: FileSystemCatalogOptions): WritableCatalog {
  const root = absoluteRoot(catalog.root);
  const contextOf = (options: CatalogOptions = {}): CatalogFolder => ({ ...catalog, root, options });
  return {
    kind: 'file-system',
    async listNamespaces(parent, options) {
      const context = contextOf(options);
      const folder = await resolveNamespace(context, parent);
      const names = distinctNames(await childrenOf(context, folder.folders, 'schema'));
      return names.map((name) => [...folder.namespace, name]);
    },
    listRelations: (namespace, options) => listRelations(contextOf(options), namespace, options?.isWanted),
    async listTables(namespace, options) {
      const relations = await listRelations(contextOf(options), namespace);
      return relations.filter((each) => each.kind === 'table').map((each) => each.identifier);
    },
    loadTable: (identifier, options) => loadTable(contextOf(options), identifier),
    async namespaceExists(namespace, options) {
      try {
        await resolveNamespace(contextOf(options), namespace);
        return true;
      } catch (error) {
        if (error instanceof QueryError && error.code === 'SCHEMA_NOT_FOUND') return false;
        throw error;
      }
    },
    createNamespace: (namespace, options) => createNamespace(contextOf(options), namespace),
    dropNamespace: (namespace, options) => dropNamespace(contextOf(options), namespace),
    stageTable: (identifier, definition, options) => stageTable(contextOf(options), identifier, definition),
    discardTable: (staged) => discardStagedTable(contextOf(), staged),
    async createTable(identifier, definition, options) {
      const context = contextOf(options);
      const staged = await stageTable(context, identifier, definition);
      return commitTable(contextOf(), staged.identifier, staged.creation);
    },
    commitTable: (identifier, commit) => commitTable(contextOf(), identifier, commit),
    async inTurn(identifier, body, options) {
      const context = contextOf(options);
      const found = await findTable(context, identifier);
      return inTurn(pathOf(context, `${found.folder}/metadata`), options?.signal, body);
    },
    dropTable: (identifier, { purge, ...options }) => dropTable(contextOf(options), identifier, purge),
    async listViews(namespace, options) {
      const relations = await listRelations(contextOf(options), namespace);
      return relations.filter((each) => each.kind === 'view').map((each) => each.identifier);
    },
    loadView: (identifier, options) => loadView(contextOf(options), identifier),
    createView: (identifier, definition, options) => createView(contextOf(options), identifier, definition),
    replaceView: (identifier, definition, options) => replaceView(contextOf(options), identifier, definition),
    dropView: (identifier, options) => dropView(contextOf(options), identifier),
  };
}

/** The folder is the same to everybody: the operating system knows this process only. */
export function createFileSystemCatalogs(options: FileSystemCatalogOptions): CatalogFactory {
  const catalog = createFileSystemCatalog(options);
  return { kind: catalog.kind, open: () => catalog };
}

/** Tables name their files by absolute locations, whatever folder the process works in. */
function absoluteRoot(root: string): string {
  const isUri = /^[a-z][a-z0-9+.-]+:/i.test(root);
  return isUri ? root.replace(/(?<=.)\/+$/, '') : resolve(root);
}

async function listRelations(
  context: CatalogFolder,
  namespace: Namespace,
  isWanted?: (name: string) => boolean,
): Promise<readonly ListedRelation[]> {
  const resolved = await resolveNamespace(context, namespace);
  const relations = new Map<string, ListedRelation>();
  for (const { name, kind } of await classifiedChildren(context, resolved.folders, isWanted))
    if ((kind === 'table' || kind === 'view') && !relations.has(name))
      relations.set(name, { identifier: { namespace: resolved.namespace, name }, kind });
  const names = [...relations.keys()].sort();
  return names.flatMap((name) => relations.get(name) ?? []);
}

/** How often a table is looked for again whose metadata file was deleted just before it was read. */
const maxLooks = 3;

async function loadTable(context: CatalogFolder, identifier: TableIdentifier): Promise<LoadedTable> {
  const { store, files, options } = context;
  for (let look = 1; ; look++) {
    const found = await findTable(context, identifier);
    const { metadataLocation } = found;
    try {
      const metadata = await files.tableMetadata(store, metadataLocation, options);
      return { identifier: found.identifier, metadata, metadataLocation, store };
    } catch (error) {
      const isGone = error instanceof QueryError && error.code === 'DATA_FILE_MISSING';
      if (!isGone || look === maxLooks) throw error;
    }
  }
}
