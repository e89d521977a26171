import { randomUUID } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  statSync,
  unlinkSync,
} from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import { tryLockFile } from '../shm/libc.js';

/** A folder that belongs to one pool and cannot outlive it. */
export interface PoolFolder {
  readonly path: string;
  /** Removes the folder. Idempotent. */
  remove(): Promise<void>;
}

const PREFIX = 'engine-';
const LOCK_SUFFIX = '.lock';
const LOCK_ATTEMPTS = 5;

/**
 * Makes a folder of our own below `root`, named without links: the engine compares paths as texts. Beside it lies a locked file: the system drops the lock when this process
 * ends in whatever way, so another pool can tell a leftover from a folder in use without trusting process numbers
 * (which containers reuse).
 */
export function createPoolFolder(root: string): PoolFolder {
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const { path, lockPath, lock } = lockName(realpathSync(root));
  mkdirSync(path, { mode: 0o700 });
  let removal: Promise<void> | undefined;
  return {
    path,
    remove() {
      removal ??= removeLocked(path, lockPath, lock);
      return removal;
    },
  };
}

/** A new name and its locked file. Another pool that looks for leftovers may take the lock first: then another name. */
function lockName(root: string): { readonly path: string; readonly lockPath: string; readonly lock: number } {
  for (let attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
    const path = join(root, `${PREFIX}${randomUUID()}`);
    const lockPath = path + LOCK_SUFFIX;
    const lock = openSync(lockPath, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    if (tryLockFile(lock)) return { path, lockPath, lock };
    closeSync(lock);
  }
  throw new QueryError('INTERNAL_ERROR', `Files below ${root} cannot be locked; engine hosts need that.`);
}

/** Removes the folders of pools that are gone; anything else below `root` is left alone. */
export async function removeLeftovers(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(PREFIX) || !name.endsWith(LOCK_SUFFIX)) continue;
    const lockPath = join(root, name);
    const lock = openIfPresent(lockPath);
    if (lock === undefined) continue;
    if (tryLockFile(lock) && isSameFile(lock, lockPath))
      await removeLocked(lockPath.slice(0, -LOCK_SUFFIX.length), lockPath, lock);
    else closeSync(lock);
  }
}

/** The lock file goes last: a folder without one would never be found again. */
async function removeLocked(path: string, lockPath: string, lock: number): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true, maxRetries: 3 });
    unlinkSync(lockPath);
  } finally {
    closeSync(lock);
  }
}

function openIfPresent(path: string): number | undefined {
  try {
    return openSync(path, constants.O_RDWR);
  } catch {
    return undefined;
  }
}

/** False when another pool removed the file between our opening and locking it. */
function isSameFile(fd: number, path: string): boolean {
  const present = statSync(path, { throwIfNoEntry: false });
  return present !== undefined && present.ino === fstatSync(fd).ino;
}
