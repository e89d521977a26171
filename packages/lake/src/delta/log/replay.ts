/**
 * Makes a version of a table from its log: the checkpoint, then every commit after it (protocol, "Action
 * Reconciliation").
 */
import { QueryError } from '@svc/base';
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import type { ObjectStore, ReadOptions } from '../../storage/object-store.js';
import {
  type Action,
  type AddedFile,
  deletionVectorId,
  type Metadata,
  type Protocol,
  parseAction,
} from './actions.js';
import { readCheckpointRows } from './checkpoint-rows.js';
import type { Checkpoint, LogSegment } from './log-files.js';
import { commitName } from './log-names.js';
import { readJsonLines } from './read-lines.js';

/** Commits being read at one time. */
const maxConcurrentCommits = 8;
const maxFiles = 4_000_000;
/** Statistics of further files are forgotten: they only spare reading. */
const maxStatisticsLength = 256 * 1024 * 1024;

export interface ReplayedLog {
  readonly protocol: Protocol;
  readonly metadata: Metadata;
  readonly files: readonly AddedFile[];
  /** How many files of the log were read. */
  readonly logFileCount: number;
}

export interface Log {
  readonly store: ObjectStore;
  /** The table's folder, without a slash at its end. */
  readonly location: string;
  readonly options: ReadOptions;
}

export function logFolderOf(location: string): string {
  return `${location}/_delta_log`;
}

/** Throws DATA_CORRUPT naming the file of the log, and what the store throws. */
export async function replayLog(log: Log, segment: LogSegment): Promise<ReplayedLog> {
  const state = new ReplayState(log.location);
  if (segment.checkpoint !== undefined) await replayCheckpoint(log, segment.checkpoint, state);
  const { commits } = segment;
  for (let first = 0; first < commits.length; first += maxConcurrentCommits) {
    const batch = await mapConcurrently(
      commits.slice(first, first + maxConcurrentCommits),
      { maxConcurrent: maxConcurrentCommits, signal: log.options.signal },
      (version) => readCommit(log, version),
    );
    for (const actions of batch) for (const action of actions) state.apply(action);
    state.logFileCount += batch.length;
  }
  return state.result(segment.version);
}

async function readCommit(log: Log, version: number): Promise<readonly Action[]> {
  const actions: Action[] = [];
  const location = `${logFolderOf(log.location)}/${commitName(version)}`;
  for await (const { json, source } of readJsonLines(log.store, location, log.options)) {
    const action = parseAction(json, source);
    // Sidecars belong to checkpoints only.
    if (action !== undefined && action.kind !== 'sidecar') actions.push(action);
  }
  return actions;
}

async function replayCheckpoint(log: Log, checkpoint: Checkpoint, state: ReplayState): Promise<void> {
  const folder = logFolderOf(log.location);
  const sidecars: string[] = [];
  for (const name of checkpoint.names) {
    state.logFileCount += 1;
    for await (const action of readActions(log, `${folder}/${name}`))
      if (action.kind === 'sidecar') sidecars.push(action.name);
      else if (action.kind !== 'remove') state.apply(action);
  }
  for (const name of sidecars) {
    state.logFileCount += 1;
    for await (const action of readActions(log, `${folder}/_sidecars/${name}`))
      if (action.kind === 'add') state.apply(action);
  }
}

async function* readActions({ store, options }: Log, location: string): AsyncGenerator<Action> {
  if (location.endsWith('.json')) {
    for await (const { json, source } of readJsonLines(store, location, options)) {
      const action = parseAction(json, source);
      if (action !== undefined) yield action;
    }
    return;
  }
  for await (const row of readCheckpointRows(store, location, options)) {
    const action = parseAction(new JsonFields(row, location), location);
    if (action !== undefined) yield action;
  }
}

class ReplayState {
  logFileCount = 0;
  readonly #location: string;
  /** By path: a file is in a version once, whichever of its rows are deleted. */
  readonly #files = new Map<string, AddedFile>();
  #protocol: Protocol | undefined;
  #metadata: Metadata | undefined;
  #statisticsLength = 0;

  constructor(location: string) {
    this.#location = location;
  }

  apply(action: Action): void {
    switch (action.kind) {
      case 'protocol':
        this.#protocol = action.protocol;
        break;
      case 'metadata':
        this.#metadata = action.metadata;
        break;
      case 'add':
        this.#add(action.file);
        break;
      case 'remove': {
        const known = this.#files.get(action.file.path);
        if (known === undefined) break;
        if (deletionVectorId(known.deletionVector) === deletionVectorId(action.file.deletionVector))
          this.#remove(known);
        break;
      }
      case 'sidecar':
        break;
    }
  }

  result(version: number): ReplayedLog {
    const protocol = this.#protocol;
    const metadata = this.#metadata;
    if (protocol === undefined || metadata === undefined)
      throw new QueryError(
        'DATA_CORRUPT',
        `The log of the Delta table ${this.#location} has no ${protocol === undefined ? 'protocol' : 'metaData'} action up to version ${version}.`,
      );
    return { protocol, metadata, files: [...this.#files.values()], logFileCount: this.logFileCount };
  }

  #add(file: AddedFile): void {
    const known = this.#files.get(file.path);
    if (known !== undefined) this.#remove(known);
    if (this.#files.size >= maxFiles)
      throw new QueryError(
        'UNSUPPORTED_TABLE_FEATURE',
        `The Delta table ${this.#location} has more than ${maxFiles} data files.`,
      );
    const length = file.statistics?.length ?? 0;
    const hasRoom = this.#statisticsLength + length <= maxStatisticsLength;
    if (hasRoom) this.#statisticsLength += length;
    this.#files.set(file.path, hasRoom ? file : { ...file, statistics: undefined });
  }

  #remove(file: AddedFile): void {
    this.#files.delete(file.path);
    this.#statisticsLength -= file.statistics?.length ?? 0;
  }
}
