/**
 * Rendezvous hashing: a file goes to the same executor as long as that one is there, so that it finds what it has cached of
 * it; when one comes or goes, only its own share moves.
 */
import type { FragmentExecutor, FragmentSplit } from '@svc/fragment-fn';

/** What a split is placed by: its first file. */
export function placeKey({ scan }: FragmentSplit): number {
  return textHash(scan.groups[0]?.files[0]?.location ?? scan.tableName);
}

export function preferredExecutor<T extends Pick<FragmentExecutor, 'name'>>(
  key: number,
  executors: readonly T[],
): T | undefined {
  let best: T | undefined;
  let bestWeight = -1;
  for (const executor of executors) {
    const weight = mixed(key ^ textHash(executor.name));
    if (weight > bestWeight) [best, bestWeight] = [executor, weight];
  }
  return best;
}

/** FNV-1a. */
function textHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++)
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** The finalizer of MurmurHash3: neighbouring keys must not have neighbouring weights. */
function mixed(key: number): number {
  let hash = Math.imul(key ^ (key >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
