/**
 * Finding schemas, tables and views in the catalog's folder. Names match exactly first, then the only one that differs
 * in case.
 */
import { QueryError } from '@svc/base';
import type { MetadataFiles } from '../../iceberg/cache/metadata-files.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import type { Namespace, TableIdentifier } from '../catalog.js';
import { quotedPath, relationMissing, schemaMissing, severalFit } from '../name-errors.js';
import { type FolderKind, isViewFolder, kindOfFolder } from './folder-kind.js';
import { candidateFolders, isHidden, nameOfFolder } from './folder-name.js';
import { findMetadataFile } from './metadata-file.js';

/** The catalog, and what one call brings along. */
export interface CatalogFolder {
  /** Without a slash at its end. */
  readonly root: string;
  readonly store: ObjectStore;
  readonly files: MetadataFiles;
  readonly options: ReadOptions;
}

/** Folders looked into at one time when listing. */
const maxConcurrentLooks = 8;

/** With more levels the combinations of their possible folders are more than listing them. */
const maxDirectLevels = 2;

interface Folder {
  readonly location: string;
  readonly name: string;
}

export interface FoundTable {
  readonly identifier: TableIdentifier;
  readonly folder: string;
  readonly metadataLocation: string;
}

/** Throws SCHEMA_NOT_FOUND, TABLE_NOT_FOUND; does not read the metadata. */
export async function findTable(
  context: CatalogFolder,
  identifier: TableIdentifier,
  what: 'table' | 'view' = 'table',
): Promise<FoundTable> {
  return (await findDirectly(context, identifier, what)) ?? (await findByListing(context, identifier, what));
}

/** The usual case, without listing a folder of perhaps thousands of tables: the names are spelled as the folders are. */
async function findDirectly(
  context: CatalogFolder,
  identifier: TableIdentifier,
  what: 'table' | 'view',
): Promise<FoundTable | undefined> {
  if (identifier.namespace.length > maxDirectLevels) return undefined;
  let parents = [context.root];
  for (const level of [...identifier.namespace, identifier.name])
    parents = parents.flatMap((parent) => candidateFolders(level).map((folder) => `${parent}/${folder}`));
  for (const folder of parents) {
    const metadataLocation = await findMetadataFile(context.store, folder, context.options);
    if (metadataLocation === undefined) continue;
    const isView = await isViewFolder(context.store, folder, context.options);
    if (isView === (what === 'view')) return { identifier, folder, metadataLocation };
  }
  return undefined;
}

async function findByListing(
  context: CatalogFolder,
  { namespace, name }: TableIdentifier,
  what: 'table' | 'view',
): Promise<FoundTable> {
  const resolved = await resolveNamespace(context, namespace);
  const children = await classifiedChildren(context, resolved.folders);
  const tables = children.filter((child) => child.kind === what);
  for (const match of matchingFolders(tables, name, what)) {
    const metadataLocation = await findMetadataFile(context.store, match.location, context.options);
    if (metadataLocation !== undefined)
      return {
        identifier: { namespace: resolved.namespace, name: match.name },
        folder: match.location,
        metadataLocation,
      };
    throw new QueryError(
      'DATA_CORRUPT',
      `The folder ${match.location} has a version hint but no metadata file.`,
    );
  }
  const other = what === 'table' ? 'view' : 'table';
  const lowerCase = name.toLowerCase();
  if (children.some((each) => each.kind === other && each.name.toLowerCase() === lowerCase))
    throw new QueryError('TABLE_NOT_FOUND', `${quotedPath(namespace, name)} is a ${other}, not a ${what}.`);
  throw relationMissing(what, { namespace, name }, distinctNames(tables));
}

export interface ResolvedNamespace {
  /** As the folders spell it. */
  readonly namespace: Namespace;
  /** Several when one schema has both a plain folder and one ending in `.db`. */
  readonly folders: readonly string[];
}

export async function resolveNamespace(
  context: CatalogFolder,
  namespace: Namespace,
): Promise<ResolvedNamespace> {
  let resolved: ResolvedNamespace = { namespace: [], folders: [context.root] };
  for (const level of namespace) {
    const schemas = await childrenOf(context, resolved.folders, 'schema');
    const matches = matchingFolders(schemas, level, 'schema');
    const [first] = matches;
    if (first === undefined) throw schemaMissing(namespace, level, distinctNames(schemas));
    resolved = {
      namespace: [...resolved.namespace, first.name],
      folders: matches.map((match) => match.location),
    };
  }
  return resolved;
}

/** The visible folders of one kind in `parents`. No table is loaded for it. */
export async function childrenOf(
  context: CatalogFolder,
  parents: readonly string[],
  kind: FolderKind,
): Promise<readonly Folder[]> {
  const children = await classifiedChildren(context, parents);
  return children.filter((child) => child.kind === kind);
}

/** All visible folders in `parents` whose names are wanted, each with its kind. */
export async function classifiedChildren(
  context: CatalogFolder,
  parents: readonly string[],
  isWanted: (name: string) => boolean = () => true,
): Promise<readonly (Folder & { readonly kind: FolderKind })[]> {
  const children: Folder[] = [];
  for (const parent of parents) {
    const entries = await context.store.list(parent, context.options);
    for (const { name, isFolder } of entries)
      if (isFolder && !isHidden(name) && isWanted(nameOfFolder(name)))
        children.push({ location: `${parent}/${name}`, name: nameOfFolder(name) });
  }
  const { signal } = context.options;
  return mapConcurrently(children, { maxConcurrent: maxConcurrentLooks, signal }, async (child) => ({
    ...child,
    kind: await kindOfFolder(context.store, child.location, context.options),
  }));
}

/** Throws when the name fits several only by ignoring case. */
function matchingFolders(
  folders: readonly Folder[],
  name: string,
  what: 'schema' | 'table' | 'view',
): readonly Folder[] {
  const exact = folders.filter((folder) => folder.name === name);
  if (exact.length > 0) return exact;
  const lowerCase = name.toLowerCase();
  const similar = folders.filter((folder) => folder.name.toLowerCase() === lowerCase);
  const names = distinctNames(similar);
  if (names.length <= 1) return similar;
  throw severalFit(what, name, names);
}

export function distinctNames(folders: readonly Folder[]): readonly string[] {
  return [...new Set(folders.map((folder) => folder.name))].sort();
}
