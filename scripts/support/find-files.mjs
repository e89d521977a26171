import { readdirSync } from 'node:fs';
import path from 'node:path';

/** Files below `folder` (relative to `root`, sorted) that `accepts` takes. A missing folder is empty. */
export function findFiles(root, folder, accepts) {
  let entries;
  try {
    entries = readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true });
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  }
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name)))
    .filter(accepts)
    .sort();
}
