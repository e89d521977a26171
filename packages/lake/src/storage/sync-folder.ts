import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** Makes the names in a folder, new or renamed, survive a power failure. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, constants.O_RDONLY);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
