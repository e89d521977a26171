/**
 * Turns among the writers of one table, in whatever process: a file that is there while one of them prepares and commits.
 * Nothing depends on it but how often writers meet: which of two commits wins is decided by the link of its metadata
 * file, and whoever has waited long enough goes without a turn.
 */
import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { delay } from '@svc/base';
import { hasEnded, processOwner } from './process-owner.js';

const turnFile = '.turn';
/** About ten commits of others. */
const longestWaitMs = 2000;
/** A turn that is older was left behind, or is one of a writer with far more to do than usual. */
const longestTurnMs = 5000;
const lookEveryMs = 4;

/** `folder` is the path of the table's metadata. Throws the signal's reason, and what `body` throws. */
export async function inTurn<T>(
  folder: string,
  signal: AbortSignal | undefined,
  body: () => Promise<T>,
): Promise<T> {
  const path = `${folder}/${turnFile}`;
  const owner = processOwner(randomUUID());
  const hasTurn = await takeTurn(path, owner, signal);
  try {
    return await body();
  } finally {
    if (hasTurn) await removeIf(path, (found) => found === owner);
  }
}

async function takeTurn(path: string, owner: string, signal: AbortSignal | undefined): Promise<boolean> {
  const began = performance.now();
  while (performance.now() - began < longestWaitMs) {
    try {
      await writeFile(path, owner, { flag: 'wx' });
      return true;
    } catch (error) {
      // A folder that cannot be written to will be complained about by the commit.
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return false;
    }
    const isOld = await isOlderThan(path, longestTurnMs);
    await removeIf(path, (found) => isOld || hasEnded(found));
    await delay(lookEveryMs * (0.5 + Math.random()), signal);
  }
  return false;
}

async function isOlderThan(path: string, ageMs: number): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs > ageMs;
  } catch {
    return false;
  }
}

async function removeIf(path: string, isWanted: (owner: string) => boolean): Promise<void> {
  try {
    if (isWanted(await readFile(path, 'utf8'))) await rm(path, { force: true });
  } catch {
    // Gone already, or it stays until it is old.
  }
}
