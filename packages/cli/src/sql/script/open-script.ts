import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { UsageError } from '../../usage-error.js';

/** A script file as it is read, until `signal` aborts. Throws UsageError when it cannot be opened. */
export async function openScript(path: string, signal: AbortSignal): Promise<AsyncIterable<string>> {
  try {
    await (await open(path)).close();
  } catch (error) {
    throw new UsageError(`The file ${path} cannot be read: ${error instanceof Error ? error.message : ''}`);
  }
  return createReadStream(path, { encoding: 'utf8', signal });
}
