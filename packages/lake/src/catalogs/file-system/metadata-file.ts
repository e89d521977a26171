/**
 * The current metadata file of a table folder, in two layouts: `vN.metadata.json` with `version-hint.text` (Hadoop's,
 * and the one written here), and `NNNNN-<uuid>.metadata.json` (pyiceberg's SqlCatalog), where the highest number counts.
 */
import { QueryError } from '@svc/base';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';

export const versionHintFile = 'version-hint.text';

/** The spellings of one version, with and without compression. */
function spellings(version: number): readonly string[] {
  return [`v${version}.metadata.json`, `v${version}.metadata.json.gz`, `v${version}.gz.metadata.json`];
}

/**
 * The location of the metadata to read, or `undefined` when the folder is no table. Looks at the disk on every call: a
 * commit is seen by the next one. The hint may lag behind the commit that wrote it, so later versions are looked for.
 */
export async function findMetadataFile(
  store: ObjectStore,
  tableFolder: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const folder = `${tableFolder}/metadata`;
  const hinted = await readVersionHint(store, folder, options);
  if (hinted !== undefined) {
    let current: string | undefined;
    for (let version = hinted; ; version++) {
      const next = await firstExisting(store, folder, spellings(version), options);
      if (next === undefined) break;
      current = next;
    }
    if (current !== undefined) return current;
  }
  return newestMetadataLocation(store, tableFolder, options);
}

/** The same without the hint. */
export async function newestMetadataLocation(
  store: ObjectStore,
  tableFolder: string,
  options: ReadOptions,
): Promise<string | undefined> {
  const folder = `${tableFolder}/metadata`;
  const entries = await store.list(folder, options);
  const newest = newestMetadataFile(entries.filter((entry) => !entry.isFolder).map((entry) => entry.name));
  return newest === undefined ? undefined : `${folder}/${newest}`;
}

/** True when the folder is a table's. Cheaper than finding its current metadata. */
export async function isTableFolder(
  store: ObjectStore,
  folder: string,
  options: ReadOptions,
): Promise<boolean> {
  const metadata = `${folder}/metadata`;
  if (await isPresent(store, `${metadata}/${versionHintFile}`, options)) return true;
  const entries = await store.list(metadata, options);
  return entries.some((entry) => !entry.isFolder && versionOf(entry.name) !== undefined);
}

export async function readVersionHint(
  store: ObjectStore,
  folder: string,
  options: ReadOptions,
): Promise<number | undefined> {
  const location = `${folder}/${versionHintFile}`;
  try {
    const text = Buffer.from(await store.read(location, options))
      .toString('utf8')
      .trim();
    return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
  } catch (error) {
    if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') return undefined;
    throw error;
  }
}

/** The version that a commit of this catalog follows upon; `undefined` when another catalog named the file. */
export function committedVersion(metadataLocation: string): number | undefined {
  const match = /\/v(\d{1,9})(?:\.gz)?\.metadata\.json(?:\.gz)?$/.exec(metadataLocation);
  return match === null ? undefined : Number(match[1]);
}

export function isMetadataFile(name: string): boolean {
  return versionOf(name) !== undefined;
}

/** Of two files with the same number (a lost race between writers) the later name is taken, so that the answer is stable. */
function newestMetadataFile(names: readonly string[]): string | undefined {
  let newest: { readonly name: string; readonly version: number } | undefined;
  for (const name of names) {
    const version = versionOf(name);
    if (version === undefined) continue;
    if (
      newest === undefined ||
      version > newest.version ||
      (version === newest.version && name > newest.name)
    )
      newest = { name, version };
  }
  return newest?.name;
}

function versionOf(name: string): number | undefined {
  const match = /^(?:v(\d{1,9})|(\d{1,9})-.+?)(?:\.gz)?\.metadata\.json(?:\.gz)?$/.exec(name);
  return match === null ? undefined : Number(match[1] ?? match[2]);
}

async function firstExisting(
  store: ObjectStore,
  folder: string,
  names: readonly string[],
  options: ReadOptions,
): Promise<string | undefined> {
  for (const name of names)
    if (await isPresent(store, `${folder}/${name}`, options)) return `${folder}/${name}`;
  return undefined;
}

export async function isPresent(
  store: ObjectStore,
  location: string,
  options: ReadOptions,
): Promise<boolean> {
  try {
    await store.head(location, options);
    return true;
  } catch (error) {
    if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') return false;
    throw error;
  }
}
