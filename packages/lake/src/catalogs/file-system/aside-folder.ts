/**
 * Folders that are made aside and renamed into place, or renamed away and then deleted. Their names begin with a dot, so
 * they are nothing to readers; what an ended process left of them is removed later.
 */
import { randomUUID } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../storage/sync-folder.js';

const registering = '.registering';
const staging = '.staging';
const purging = '.purging';
/** Kept until somebody removes it or renames it back: its metadata names the folder that it was. */
const dropped = '.dropped';

/** Not changed for so long, a folder was left behind by a process that ended. */
export const staleAfterMs = 24 * 60 * 60 * 1000;

export function asideFolder(parent: string, ending: 'registering' | 'staging'): string {
  return join(parent, `.${randomUUID()}${ending === 'registering' ? registering : staging}`);
}

/** Atomically takes a folder out of the catalog. Answers where it is now. */
export async function renameAway(folder: string, keep: boolean): Promise<string> {
  const parent = dirname(folder);
  const aside = join(parent, `.${randomUUID()}${keep ? dropped : purging}`);
  await rename(folder, aside);
  await syncFolder(parent);
  return aside;
}

/** Removes what was being deleted, and what has not been changed for a day while it was made. */
export async function removeStale(parent: string, now: number): Promise<void> {
  for (const name of await readdir(parent)) {
    if (!name.startsWith('.')) continue;
    const path = join(parent, name);
    const isMade = name.endsWith(registering) || name.endsWith(staging);
    if (name.endsWith(purging) || (isMade && (await isStale(path, now))))
      await rm(path, { recursive: true, force: true });
  }
}

async function isStale(path: string, now: number): Promise<boolean> {
  const changedMs = await lastChange(path);
  return changedMs !== undefined && now - changedMs > staleAfterMs;
}

/** `undefined` when it is gone: another process has just put it into place. */
export async function lastChange(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs;
  } catch {
    return undefined;
  }
}
