import { rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import type { ObjectInfo, ObjectStore } from '../../storage/object-store.js';
import { readVersionHint, versionHintFile } from './metadata-file.js';

export interface VersionToPublish {
  /** Of the table or view. */
  readonly folder: string;
  readonly version: number;
  readonly text: string;
  /** The version it follows upon, as it was read. */
  readonly base?: ObjectInfo;
}

/**
 * Makes `vN.metadata.json` visible if no other writer has. Throws COMMIT_CONFLICT if one has, COMMIT_OUTCOME_UNKNOWN when
 * storage failed so that it cannot be told whether the file is there to stay; after other errors it is not there.
 */
export async function publishVersion(
  store: ObjectStore,
  { folder, version, text, base }: VersionToPublish,
): Promise<string> {
  const location = `${folder}/metadata/v${version}.metadata.json`;
  const body = Buffer.from(text);
  try {
    await store.write(location, body, { ifAbsent: true });
  } catch (error) {
    if (error instanceof QueryError && error.code === 'COMMIT_CONFLICT')
      throw new QueryError('COMMIT_CONFLICT', `Another writer made version ${version} of ${folder} first.`, {
        cause: error,
      });
    const outcome = await settled(store, location, body, error);
    // There is no folder to write to: what is changed is gone.
    if (base !== undefined && isMissing(outcome)) throw gone(folder, outcome);
    throw outcome;
  }
  if (base !== undefined) await checkBase(store, folder, base, location);
  await writeHint(store, folder, version).catch(() => undefined);
  return location;
}

/** Only a hint: whoever reads it looks for later versions too. A writer that was held up does not put it back. */
async function writeHint(store: ObjectStore, folder: string, version: number): Promise<void> {
  const metadata = `${folder}/metadata`;
  const hinted = await readVersionHint(store, metadata, {});
  if (hinted !== undefined && hinted >= version) return;
  await store.write(`${metadata}/${versionHintFile}`, Buffer.from(String(version)));
  // What Hadoop's local file system checks its own hint by, and would now refuse ours for.
  await store.delete(`${metadata}/.${versionHintFile}.crc`);
}

/**
 * Between reading a table and linking its new version another process may have dropped it, or made another one of its
 * name: then the version that was just linked follows upon nothing, and is taken back.
 */
async function checkBase(
  store: ObjectStore,
  folder: string,
  base: ObjectInfo,
  linked: string,
): Promise<void> {
  const now = await store.head(base.location).catch(() => undefined);
  if (now?.version === base.version) return;
  await store.delete(linked);
  const path = store.localPath(folder);
  if (now === undefined && path !== undefined) await rmdir(join(path, 'metadata')).catch(() => undefined);
  throw gone(folder);
}

function gone(folder: string, cause?: unknown): QueryError {
  return new QueryError(
    'COMMIT_CONFLICT',
    `What is at ${folder} was dropped or replaced by another writer while it was changed.`,
    { cause },
  );
}

function isMissing(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'DATA_FILE_MISSING';
}

/** What a failed write came to: nothing, another writer's version, or our own that a power failure may still undo. */
async function settled(
  store: ObjectStore,
  location: string,
  body: Uint8Array,
  failure: unknown,
): Promise<unknown> {
  try {
    const found = Buffer.from(await store.read(location));
    if (!found.equals(body))
      return new QueryError('COMMIT_CONFLICT', `Another writer made ${location} first.`, { cause: failure });
  } catch (error) {
    if (isMissing(error)) return failure;
  }
  return new QueryError(
    'COMMIT_OUTCOME_UNKNOWN',
    `Storage failed while ${location} was written: look at the table before the statement is sent again.`,
    { cause: failure },
  );
}
