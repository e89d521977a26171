/**
 * The folder of a table that is being created. The marker in it has a line for each statement that is at it, so that what
 * killed processes left of a table is told from what is still being written.
 */
import { constants } from 'node:fs';
import { open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder } from '../../storage/sync-folder.js';
import { lastChange, renameAway, staleAfterMs } from './aside-folder.js';
import { stagedMarker } from './folder-kind.js';
import { hasEnded, processOwner } from './process-owner.js';

/** Marks a new folder as that of the table with this UUID. */
export async function markStaged(folder: string, tableUuid: string): Promise<void> {
  await writeFile(join(folder, stagedMarker), lineOf(tableUuid));
}

/** Has another statement's folder for this table too. Throws ENOENT when it is not staged any more. */
export async function joinStaged(folder: string, tableUuid: string): Promise<void> {
  const file = await open(join(folder, stagedMarker), constants.O_APPEND | constants.O_WRONLY);
  try {
    await file.appendFile(lineOf(tableUuid));
  } finally {
    await file.close();
  }
}

/** Whether the folder is still the one that was staged for this table. */
export async function isStagedFor(folder: string, tableUuid: string): Promise<boolean> {
  return (await ownersOf(folder)).some((owner) => owner.endsWith(` ${tableUuid}`));
}

/** Nobody is at it any more: the processes have ended, or it is a day since anything was written. */
export async function isAbandoned(folder: string): Promise<boolean> {
  const owners = await ownersOf(folder);
  if (owners.length > 0 && owners.every(hasEnded)) return true;
  const changes = await Promise.all([folder, join(folder, 'data'), join(folder, 'metadata')].map(lastChange));
  const now = Date.now();
  return changes.every((changedMs) => changedMs === undefined || now - changedMs > staleAfterMs);
}

/** Removes what killed processes left of a table, whose name another statement wants. */
export async function removeAbandoned(folder: string): Promise<void> {
  try {
    if (!(await isAbandoned(folder))) return;
    const aside = await renameAway(folder, false);
    // Somebody may have joined just before it was renamed.
    if (await isAbandoned(aside)) await rm(aside, { recursive: true, force: true });
    else await rename(aside, folder);
    await syncFolder(dirname(folder));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Another statement has removed it, or has begun anew.
    if (code !== 'ENOENT' && code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error;
  }
}

function lineOf(tableUuid: string): string {
  return `${processOwner(tableUuid)}\n`;
}

async function ownersOf(folder: string): Promise<readonly string[]> {
  try {
    return (await readFile(join(folder, stagedMarker), 'utf8')).split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
