import { open } from 'node:fs/promises';

/** Makes a file that only the owner of the process reads, and that survives a power failure; its folder is to be synced too. */
export async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
