/**
 * What a folder of the catalog is. Tables and views have a `metadata` folder with `vN.metadata.json` in it; a view's has
 * a marker beside them. A table that is being created has a marker until its first metadata file is there: until then
 * the folder is nothing to anybody else.
 */
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import { isPresent, isTableFolder } from './metadata-file.js';

export type FolderKind = 'table' | 'view' | 'staged' | 'schema';

/** In the folder of a table that is being created. */
export const stagedMarker = '.staged';
const viewMarker = 'view-marker';

export function viewMarkerOf(folder: string): string {
  return `${folder}/metadata/${viewMarker}`;
}

export async function kindOfFolder(
  store: ObjectStore,
  folder: string,
  options: ReadOptions,
): Promise<FolderKind> {
  if (await isTableFolder(store, folder, options))
    return (await isViewFolder(store, folder, options)) ? 'view' : 'table';
  return (await isPresent(store, `${folder}/${stagedMarker}`, options)) ? 'staged' : 'schema';
}

export async function isViewFolder(
  store: ObjectStore,
  folder: string,
  options: ReadOptions,
): Promise<boolean> {
  return isPresent(store, viewMarkerOf(folder), options);
}
