import { QueryError } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { parseJson } from '../../iceberg/spec/lossless-json.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import { classicName, commitName, partName } from './log-names.js';

const lastCheckpointName = '_last_checkpoint';
/** Commits asked for at one time where there is no listing. */
const probedAtOnce = 8;
const maxParts = 100_000;

/**
 * Names of the files in a log folder. Where the storage cannot list (a plain web server), `_last_checkpoint` says where to
 * begin, and commits are asked for one after the other; `needsOlder` then begins at version 0.
 */
export async function listLog(
  store: ObjectStore,
  logFolder: string,
  needsOlder: boolean,
  options: ReadOptions,
): Promise<readonly string[]> {
  try {
    const entries = await store.list(logFolder, options);
    return entries.filter((entry) => !entry.isFolder).map((entry) => entry.name);
  } catch (error) {
    if (!(error instanceof QueryError) || error.code !== 'NOT_SUPPORTED') throw error;
  }
  const last = await readLastCheckpoint(store, logFolder, options);
  const hasFirst = needsOlder && (await isThere(store, `${logFolder}/${commitName(0)}`, options));
  const start = last === undefined || hasFirst ? 0 : last.version + 1;
  return [...(last?.names ?? []), ...(await probeCommits(store, logFolder, start, options))];
}

interface LastCheckpoint {
  readonly version: number;
  readonly names: readonly string[];
}

async function readLastCheckpoint(
  store: ObjectStore,
  logFolder: string,
  options: ReadOptions,
): Promise<LastCheckpoint | undefined> {
  const location = `${logFolder}/${lastCheckpointName}`;
  let bytes: Uint8Array;
  try {
    bytes = await store.read(location, options);
  } catch (error) {
    if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') return undefined;
    throw error;
  }
  const json = new JsonFields(parseJson(bytes, location), location);
  const version = json.integer('version');
  const parts = json.optionalInteger('parts');
  // Writers of version 2 checkpoints name the file here.
  const named = json.optionalObject('v2Checkpoint')?.optionalString('path');
  if (named !== undefined) return { version, names: [named.slice(named.lastIndexOf('/') + 1)] };
  if (parts === undefined) return { version, names: [classicName(version)] };
  if (parts < 1 || parts > maxParts) throw json.corrupt(`claims a checkpoint of ${parts} parts`);
  return {
    version,
    names: Array.from({ length: parts }, (_one, index) => partName(version, index + 1, parts)),
  };
}

async function probeCommits(
  store: ObjectStore,
  logFolder: string,
  start: number,
  options: ReadOptions,
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let first = start; ; first += probedAtOnce) {
    const names = Array.from({ length: probedAtOnce }, (_one, index) => commitName(first + index));
    const answers = await mapConcurrently(
      names,
      { maxConcurrent: probedAtOnce, signal: options.signal },
      (name) => isThere(store, `${logFolder}/${name}`, options),
    );
    const missing = answers.indexOf(false);
    found.push(...(missing < 0 ? names : names.slice(0, missing)));
    if (missing >= 0) return found;
  }
}

async function isThere(store: ObjectStore, location: string, options: ReadOptions): Promise<boolean> {
  try {
    await store.head(location, options);
    return true;
  } catch (error) {
    if (error instanceof QueryError && error.code === 'DATA_FILE_MISSING') return false;
    throw error;
  }
}
