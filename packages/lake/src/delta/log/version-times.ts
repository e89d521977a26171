/** Which version a table had at a time (protocol, "In-Commit Timestamps"). */
import { QueryError } from '@svc/base';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import { describeVersions, type LogFiles } from './log-files.js';
import { commitName } from './log-names.js';
import { readJsonLines } from './read-lines.js';
import { type Log, logFolderOf } from './replay.js';

const maxConcurrentCommits = 16;

interface CommitTime {
  readonly version: number;
  readonly timeMs: number;
}

/** The last version that was committed at `timestampMs` or before. Throws SNAPSHOT_NOT_FOUND when there was none yet. */
export async function versionAsOf(log: Log, files: LogFiles, timestampMs: number): Promise<number> {
  const versions = [...files.commits]
    .filter((version) => version >= files.earliestVersion)
    .sort((a, b) => a - b);
  const times = await mapConcurrently(
    versions,
    { maxConcurrent: maxConcurrentCommits, signal: log.options.signal },
    (version) => commitTime(log, version),
  );
  let previous = Number.NEGATIVE_INFINITY;
  let found: CommitTime | undefined;
  for (const { version, timeMs } of times) {
    // Clocks and copies may turn times around; a later version counts as later nevertheless.
    previous = Math.max(timeMs, previous + 1);
    if (previous <= timestampMs) found = { version, timeMs: previous };
  }
  if (found !== undefined) return found.version;
  const first = times[0];
  throw new QueryError(
    'SNAPSHOT_NOT_FOUND',
    `The Delta table ${log.location} had no version at ${printTime(timestampMs)}; it has ${describeVersions(files)}${first === undefined ? '' : `, the first of ${printTime(first.timeMs)}`}.`,
  );
}

/** The time in the commit, where it is kept there; else that of its file, else what the writer noted. */
async function commitTime({ store, location, options }: Log, version: number): Promise<CommitTime> {
  const file = `${logFolderOf(location)}/${commitName(version)}`;
  let noted: bigint | undefined;
  for await (const { json } of readJsonLines(store, file, options)) {
    const info = json.optionalObject('commitInfo');
    const inCommit = info?.optionalLong('inCommitTimestamp');
    if (inCommit !== undefined) return { version, timeMs: Number(inCommit) };
    noted = info?.optionalLong('timestamp');
    break; // With times in commits, this action comes first.
  }
  const { modifiedMs } = await store.head(file, options);
  const timeMs = modifiedMs ?? (noted === undefined ? undefined : Number(noted));
  if (timeMs !== undefined) return { version, timeMs };
  throw new QueryError(
    'SNAPSHOT_NOT_FOUND',
    `The Delta table ${location} has no times of its versions: ${file} does not say when it was written. Name a version instead.`,
  );
}

function printTime(timeMs: number): string {
  const date = new Date(timeMs);
  return Number.isNaN(date.getTime()) ? `${timeMs} ms` : date.toISOString();
}
