/** Which versions a log has, and which of its files make one of them (protocol, "Checkpoints"). */
import { QueryError } from '@svc/base';
import { commitName, parseLogName } from './log-names.js';

export interface Checkpoint {
  readonly version: number;
  /** Names of its files in the log folder. */
  readonly names: readonly string[];
}

export interface LogFiles {
  readonly commits: ReadonlySet<number>;
  /** The complete ones, oldest first. */
  readonly checkpoints: readonly Checkpoint[];
  /** Said of checkpoints of which parts are missing; the protocol has them ignored. */
  readonly incomplete: readonly string[];
  readonly latestVersion: number;
  /** The oldest version from which on something can be read. */
  readonly earliestVersion: number;
}

/** The files that make a version: a checkpoint, and all commits after it in their order. */
export interface LogSegment {
  readonly version: number;
  readonly checkpoint: Checkpoint | undefined;
  readonly commits: readonly number[];
}

/** Throws TABLE_NOT_FOUND when there is no version at all. */
export function sortLogFiles(names: readonly string[], location: string): LogFiles {
  const commits = new Set<number>();
  const checkpoints = new Map<number, Checkpoint>();
  const parts = new Map<string, { version: number; partCount: number; byPart: Map<number, string> }>();
  for (const name of names) {
    const file = parseLogName(name);
    if (file === undefined) continue;
    if (file.kind === 'commit') commits.add(file.version);
    else if (file.kind === 'part') {
      const { version, partCount } = file;
      const key = `${version} ${partCount}`;
      const known = parts.get(key) ?? { version, partCount, byPart: new Map<number, string>() };
      parts.set(key, known);
      known.byPart.set(file.part, name);
    } else if (file.kind === 'classic' || !checkpoints.has(file.version))
      checkpoints.set(file.version, { version: file.version, names: [name] });
  }
  const incomplete: string[] = [];
  for (const { version, partCount, byPart } of parts.values()) {
    const partNames = [...byPart].sort(([a], [b]) => a - b).map(([, name]) => name);
    if (byPart.size !== partCount || !byPart.has(1) || !byPart.has(partCount))
      incomplete.push(`the checkpoint of version ${version} has ${byPart.size} of ${partCount} parts`);
    else if (!checkpoints.has(version)) checkpoints.set(version, { version, names: partNames });
  }
  const versions = [...commits, ...checkpoints.keys()];
  if (versions.length === 0)
    throw new QueryError(
      'TABLE_NOT_FOUND',
      `${location} is no Delta table: its folder _delta_log has no version${alsoSaid(incomplete)}.`,
    );
  const latestVersion = versions.reduce((a, b) => Math.max(a, b));
  const starts = [...checkpoints.keys(), ...(commits.has(0) ? [0] : [])];
  return {
    commits,
    checkpoints: [...checkpoints.values()].sort((a, b) => a.version - b.version),
    incomplete,
    latestVersion,
    earliestVersion: starts.length === 0 ? latestVersion : starts.reduce((a, b) => Math.min(a, b)),
  };
}

/** Throws SNAPSHOT_NOT_FOUND for a version out of the log's range, DATA_CORRUPT where the log has gaps. */
export function segmentOf(files: LogFiles, version: number, location: string): LogSegment {
  const { commits, checkpoints, latestVersion, earliestVersion, incomplete } = files;
  if (version < earliestVersion || version > latestVersion)
    throw new QueryError(
      'SNAPSHOT_NOT_FOUND',
      `The Delta table ${location} has no version ${version}; it has ${describeVersions(files)}.`,
    );
  const checkpoint = checkpoints.findLast((candidate) => candidate.version <= version);
  const needed: number[] = [];
  for (let next = (checkpoint?.version ?? -1) + 1; next <= version; next++) {
    if (!commits.has(next))
      throw new QueryError(
        'DATA_CORRUPT',
        `The log of the Delta table ${location} has a gap: version ${version} cannot be made without ${commitName(next)}, which is not there${alsoSaid(incomplete)}.`,
      );
    needed.push(next);
  }
  return { version, checkpoint, commits: needed };
}

export function describeVersions({ earliestVersion, latestVersion }: LogFiles): string {
  return earliestVersion === latestVersion
    ? `version ${latestVersion} only`
    : `versions ${earliestVersion} to ${latestVersion}`;
}

function alsoSaid(incomplete: readonly string[]): string {
  return incomplete.length === 0 ? '' : ` (${incomplete.join('; ')})`;
}
