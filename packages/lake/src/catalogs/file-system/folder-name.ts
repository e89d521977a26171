/**
 * Names of schemas and tables as names of folders. Any text but the empty one, NUL and broken Unicode can be a name;
 * what a path cannot hold, or what a reader of paths, URIs or file patterns would misread, is percent-encoded, so that a
 * name is always exactly one folder.
 */

/** The longest file name that Linux and macOS take. */
export const maxFolderBytes = 255;
/** The ending that some catalogs give to the folders of schemas. */
export const schemaFolderEnding = '.db';

/** The folder that this catalog makes for a name; `undefined` when there can be none. */
export function folderOfName(name: string): string | undefined {
  if (name === '' || name.includes('\0') || /\p{Surrogate}/u.test(name)) return undefined;
  const encoded = name
    .replace(/[%/\\?#*[\]:"<>|\p{Cc}]/gu, percentEncode)
    .replace(/^\./, percentEncode)
    .replace(/\.(?=db$)/i, percentEncode);
  return Buffer.byteLength(encoded) > maxFolderBytes ? undefined : encoded;
}

/** The name that a folder stands for. A folder of another writer that is no encoding of ours is taken as it is. */
export function nameOfFolder(folder: string): string {
  const plain = folder.endsWith(schemaFolderEnding) ? folder.slice(0, -schemaFolderEnding.length) : folder;
  if (!plain.includes('%')) return plain === '' ? folder : plain;
  try {
    const name = decodeURIComponent(plain);
    return folderOfName(name) === plain ? name : plain;
  } catch {
    return plain;
  }
}

/** The folders that may stand for a name, the likeliest first. None of them leads out of its parent folder. */
export function candidateFolders(name: string): readonly string[] {
  const encoded = folderOfName(name);
  if (encoded === undefined) return [];
  const candidates = [encoded, encoded + schemaFolderEnding, name, name + schemaFolderEnding];
  return [...new Set(candidates)].filter((folder) => isOneFolder(folder) && nameOfFolder(folder) === name);
}

/** Folders of tools and of half-made tables begin with a dot; they stand for nothing. */
export function isHidden(folder: string): boolean {
  return folder.startsWith('.');
}

function isOneFolder(folder: string): boolean {
  return !isHidden(folder) && !/[/\\\0]/.test(folder) && Buffer.byteLength(folder) <= maxFolderBytes;
}

function percentEncode(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
