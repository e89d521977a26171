/** The rules of one coordinator, in its data folder. */
import { randomUUID } from 'node:crypto';
import { mkdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { QueryError } from '@svc/base';
import { syncFolder, writeSynced } from '@svc/lake';
import { maxDocumentBytes } from './rule-document.js';
import type { PlacedDocument, RulePlace } from './rule-place.js';

/** Only the owner of the process reads and writes the file: expressions are not for everybody. */
export function createFilePlace(path: string): RulePlace {
  return { name: path, isShared: false, version: () => versionOf(path), read, write };

  async function read(): Promise<PlacedDocument | undefined> {
    const version = await versionOf(path);
    return version === undefined ? undefined : { bytes: await readRules(path), version };
  }

  async function write(text: string, replaced: string | undefined): Promise<string> {
    const folder = dirname(path);
    await mkdir(folder, { recursive: true });
    if ((await versionOf(path)) !== replaced)
      throw new QueryError('COMMIT_CONFLICT', `${path} was changed by another process.`);
    const aside = `${path}.${randomUUID()}.tmp`;
    try {
      await writeSynced(aside, text);
      await rename(aside, path);
      await syncFolder(folder);
    } finally {
      await rm(aside, { force: true });
    }
    return (await versionOf(path)) ?? '';
  }
}

/** Throws CONFIGURATION_ERROR. */
export async function readRules(path: string): Promise<Uint8Array> {
  return await readFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
}

/** Size, time and inode: each write makes another file. Undefined: there is none. Throws CONFIGURATION_ERROR. */
export async function versionOf(path: string): Promise<string | undefined> {
  const stats = await stat(path, { bigint: true }).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unreadable(path, error);
  });
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > maxDocumentBytes)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `${path} is not a file of at most ${maxDocumentBytes} bytes, as one with policies is.`,
    );
  return `${stats.size}-${stats.mtimeNs}-${stats.ino}`;
}

function unreadable(path: string, cause: unknown): QueryError {
  const message = `The policies in ${path} cannot be read (${codeOf(cause) ?? 'unknown'}).`;
  return new QueryError('CONFIGURATION_ERROR', message, { cause });
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}
