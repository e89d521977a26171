/**
 * A catalog that is a folder: schemas are folders (nested schemas too), tables are folders with a `metadata` folder in
 * them. Nothing but the folders is stored, so tables that other writers make there appear by themselves.
 *
 * Names match exactly first, then the only one that differs in case. Two layouts of tables are read, told apart for each
 * table: see metadata-file.ts.
 */
import { QueryError } from '@svc/base';
import type { MetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { clip } from '../../iceberg/spec/lossless-json.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import type { Catalog, CatalogOptions, LoadedTable, Namespace, TableIdentifier } from '../catalog.js';
import { suggestNames } from '../near-names.js';
import { candidateFolders, isHidden, nameOfFolder } from './folder-name.js';
import { findMetadataFile, isTableFolder } from './metadata-file.js';

export interface FileSystemCatalogOptions {
  /** The catalog's folder: a path, or a location of `store`. It need not exist yet. */
  readonly root: string;
  readonly store: ObjectStore;
  readonly files: MetadataFiles;
}

/** Folders looked into at one time when listing. */
const maxConcurrentLooks = 8;

/** With more levels the combinations of their possible folders are more than listing them. */
const maxDirectLevels = 2;

interface Folder {
  readonly location: string;
  readonly name: string;
}

interface Context extends FileSystemCatalogOptions {
  readonly options: ReadOptions;
}

export function createFileSystemCatalog(catalog: FileSystemCatalogOptions): Catalog {
  const root = catalog.root.replace(/(?<=.)\/+$/, '');
  const contextOf = (options: CatalogOptions = {}): Context => ({ ...catalog, root, options });
  return {
    kind: 'file-system',
    async listNamespaces(parent, options) {
      const context = contextOf(options);
      const folder = await resolveNamespace(context, parent);
      const names = distinctNames(await childrenOf(context, folder.folders, 'schemas'));
      return names.map((name) => [...folder.namespace, name]);
    },
    async listTables(namespace, options) {
      const context = contextOf(options);
      const folder = await resolveNamespace(context, namespace);
      const names = distinctNames(await childrenOf(context, folder.folders, 'tables'));
      return names.map((name) => ({ namespace: folder.namespace, name }));
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
  };
}

async function loadTable(context: Context, identifier: TableIdentifier): Promise<LoadedTable> {
  const direct = await findDirectly(context, identifier);
  const found = direct ?? (await findByListing(context, identifier));
  const metadata = await context.files.tableMetadata(context.store, found.metadataLocation, context.options);
  return { ...found, metadata, store: context.store };
}

interface FoundTable {
  readonly identifier: TableIdentifier;
  readonly metadataLocation: string;
}

/** The usual case, without listing a folder of perhaps thousands of tables: the names are spelled as the folders are. */
async function findDirectly(context: Context, identifier: TableIdentifier): Promise<FoundTable | undefined> {
  if (identifier.namespace.length > maxDirectLevels) return undefined;
  let parents = [context.root];
  for (const level of [...identifier.namespace, identifier.name])
    parents = parents.flatMap((parent) => candidateFolders(level).map((folder) => `${parent}/${folder}`));
  for (const folder of parents) {
    const metadataLocation = await findMetadataFile(context.store, folder, context.options);
    if (metadataLocation !== undefined) return { identifier, metadataLocation };
  }
  return undefined;
}

async function findByListing(context: Context, { namespace, name }: TableIdentifier): Promise<FoundTable> {
  const resolved = await resolveNamespace(context, namespace);
  const tables = await childrenOf(context, resolved.folders, 'tables');
  for (const match of matchingFolders(tables, name, 'table')) {
    const metadataLocation = await findMetadataFile(context.store, match.location, context.options);
    if (metadataLocation !== undefined)
      return { identifier: { namespace: resolved.namespace, name: match.name }, metadataLocation };
    throw new QueryError(
      'DATA_CORRUPT',
      `The table folder ${match.location} has a version hint but no metadata file.`,
    );
  }
  const wanted = quoted([...namespace, name].join('.'));
  throw new QueryError(
    'TABLE_NOT_FOUND',
    `Table ${wanted} does not exist${suggestNames(name, distinctNames(tables))}`,
  );
}

interface ResolvedNamespace {
  /** As the folders spell it. */
  readonly namespace: Namespace;
  /** Several when one schema has both a plain folder and one ending in `.db`. */
  readonly folders: readonly string[];
}

async function resolveNamespace(context: Context, namespace: Namespace): Promise<ResolvedNamespace> {
  let resolved: ResolvedNamespace = { namespace: [], folders: [context.root] };
  for (const level of namespace) {
    const schemas = await childrenOf(context, resolved.folders, 'schemas');
    const matches = matchingFolders(schemas, level, 'schema');
    const [first] = matches;
    if (first === undefined) {
      const wanted = quoted(namespace.join('.'));
      throw new QueryError(
        'SCHEMA_NOT_FOUND',
        `Schema ${wanted} does not exist${suggestNames(level, distinctNames(schemas))}`,
      );
    }
    resolved = {
      namespace: [...resolved.namespace, first.name],
      folders: matches.map((match) => match.location),
    };
  }
  return resolved;
}

/** The visible folders in `parents` that are tables, or those that are not. No table is loaded for it. */
async function childrenOf(
  context: Context,
  parents: readonly string[],
  kind: 'schemas' | 'tables',
): Promise<readonly Folder[]> {
  const children: Folder[] = [];
  for (const parent of parents) {
    const entries = await context.store.list(parent, context.options);
    for (const { name, isFolder } of entries)
      if (isFolder && !isHidden(name))
        children.push({ location: `${parent}/${name}`, name: nameOfFolder(name) });
  }
  const { signal } = context.options;
  const areTables = await mapConcurrently(children, { maxConcurrent: maxConcurrentLooks, signal }, (child) =>
    isTableFolder(context.store, child.location, context.options),
  );
  return children.filter((_child, index) => areTables[index] === (kind === 'tables'));
}

/** Throws when the name fits several only by ignoring case. */
function matchingFolders(
  folders: readonly Folder[],
  name: string,
  what: 'schema' | 'table',
): readonly Folder[] {
  const exact = folders.filter((folder) => folder.name === name);
  if (exact.length > 0) return exact;
  const lowerCase = name.toLowerCase();
  const similar = folders.filter((folder) => folder.name.toLowerCase() === lowerCase);
  const names = distinctNames(similar);
  if (names.length <= 1) return similar;
  throw new QueryError(
    what === 'schema' ? 'SCHEMA_NOT_FOUND' : 'TABLE_NOT_FOUND',
    `The ${what} name ${quoted(name)} fits ${names.map(quoted).join(' and ')}: spell it exactly.`,
  );
}

/** A name for a message, which a client may have made as long as it liked. */
function quoted(name: string): string {
  return JSON.stringify(clip(name, 200));
}

function distinctNames(folders: readonly Folder[]): readonly string[] {
  return [...new Set(folders.map((folder) => folder.name))].sort();
}
