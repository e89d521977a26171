/**
 * A fragment on its engine host, up to the moment its SQL runs: what a fragment that answers rows and one that writes
 * files have in common.
 */
import { type LinkedAbort, linkAbort, QueryError } from '@svc/base';
import type { EngineLease, EnginePool, EngineProfile, EngineProgress, EngineResult } from '@svc/engine';
import { type DirectRead, mapConcurrently } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import { gatherTables } from './gather-tables.js';
import { ingestInput, inputBytes, onePiece } from './input-rows.js';
import { narrowTables } from './keys/narrow-tables.js';
import { namingOriginalFiles } from './original-files.js';
import {
  type FragmentFiles,
  type FragmentLimits,
  type FragmentRequest,
  type FragmentScan,
  type FragmentStatistics,
  type FragmentTable,
  fragmentProtocolVersion,
  type InputPart,
} from './request.js';
import { sessionStatements } from './views/session-sql.js';
import type { StagedDeletes, StagedGroup } from './views/staged-group.js';
import {
  engineColumns,
  filesViewSql,
  type PlacedFile,
  rowsTableSql,
  scanViewSql,
  viewSql,
} from './views/view-sql.js';

/** A table whose chunks now lie in the engine's input folder; nothing of it where the request brought its rows. */
export interface StagedTable {
  readonly groups: readonly StagedGroup[];
  readonly deletes?: readonly StagedDeletes[];
  readonly filesRead: number;
  /** Bytes that the engine is given, wherever they came from. */
  readonly bytesStaged: number;
  /** Bytes that had to be fetched for it. */
  readonly bytesFetched: number;
  /** Of files that the statement names: where they lie now, in their order. */
  readonly files?: readonly PlacedFile[];
  /** The engine has it under its name already. */
  readonly isBound?: true;
  /** Where the pages of whole columns lie, or undefined when only the engine can read the files. */
  describeColumns(columns: readonly number[]): Promise<DirectRead | undefined>;
}

/** What a fragment needs around it; each door brings its own. */
export interface FragmentEnvironment {
  readonly pool: EnginePool;
  /** Brings the chunks of one table's scan into `directory`. Throws DATA_CORRUPT, DATA_FILE_MISSING, DISK_FULL, … */
  stage(table: FragmentScan, directory: string, signal: AbortSignal): Promise<StagedTable>;
  /**
   * For each table its parts, where it does not fit into the staging space beside the others: each is staged like a table
   * of its own, and given up before the next but one. Absent where there is space for all.
   */
  split?(
    tables: readonly FragmentScan[],
    signal: AbortSignal,
  ): Promise<readonly (readonly FragmentScan[] | undefined)[]>;
  /** The scan without what holds no row that passes the filters; absent where all that was planned is read. */
  narrow?(table: FragmentScan, filters: readonly ScanFilter[], signal: AbortSignal): Promise<FragmentScan>;
  /** What staging the table would have to fetch now; absent where that is all that was planned. */
  bytesToFetch?(table: FragmentScan, signal: AbortSignal): Promise<number>;
  /** From how many of them on a table is read by the keys of another. */
  readonly joinKeysBytes?: number | undefined;
  /** Told of each table of which less is read than was planned. */
  onNarrowed?(planned: FragmentScan, narrowed: FragmentScan): void;
  /** The bytes of a part of an earlier stage's rows, as they come; absent where rows of others come along or not at all. */
  readPart?(part: InputPart, signal: AbortSignal): AsyncIterable<Uint8Array>;
  /** Brings files that the statement names; absent where statements read none. */
  stageFiles?(table: FragmentFiles, directory: string, signal: AbortSignal): Promise<StagedTable>;
}

export interface FragmentOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: EngineProgress) => void;
  /** The engine has begun: staging is over. */
  readonly onExecuting?: () => void;
}

/** A fragment with an engine of its own. Whoever has it ends both, the link and the lease. */
export interface LeasedFragment {
  readonly request: FragmentRequest;
  readonly environment: FragmentEnvironment;
  readonly options: FragmentOptions;
  /** Aborts by the caller's signal or at the time limit. */
  readonly link: LinkedAbort;
  readonly lease: EngineLease;
}

/** Takes an engine for a fragment, and hands it to `run`. When that throws, nothing is left behind. */
export async function onLease<T>(
  request: FragmentRequest,
  environment: FragmentEnvironment,
  options: FragmentOptions,
  run: (fragment: LeasedFragment) => Promise<T>,
): Promise<T> {
  if (request.protocolVersion !== fragmentProtocolVersion) {
    throw new QueryError(
      'INTERNAL_ERROR',
      `Fragment protocol ${request.protocolVersion} is not ${fragmentProtocolVersion}.`,
    );
  }
  const link = linkAbort(options.signal, request.limits.timeoutMs, () =>
    queryTimedOut(request.limits.timeoutMs),
  );
  let lease: EngineLease | undefined;
  try {
    lease = await environment.pool.lease({
      owner: request.owner,
      lane: request.lane,
      signal: link.signal,
    });
    return await run({ request, environment, options, link, lease });
  } catch (error) {
    link[Symbol.dispose]();
    await lease?.release();
    throw error;
  }
}

/** Each fetches several files at once, all of them within the one byte budget. */
const maxConcurrentTables = 4;

/**
 * First the tables whose keys say what is needed of others, one after the other. Of the rest, those that are read in parts
 * come before the others, while nothing else takes space; tables that fit are staged beside each other. For all but the
 * last the session is made already.
 */
export async function stageTables(fragment: LeasedFragment): Promise<readonly StagedTable[]> {
  const { request, environment, link, lease } = fragment;
  const staged = new Map<number, StagedTable>();
  let hasSession = false;
  const makeSession = async () => {
    if (!hasSession) await lease.execute(sessionOf(request), link.signal);
    hasSession = true;
  };
  const split = async (tables: readonly FragmentScan[]) =>
    (await environment.split?.(tables, link.signal)) ?? [];
  const tables = await narrowTables(fragment, async (table, index) => {
    await makeSession();
    const [parts] = await split([table]);
    staged.set(index, await bindTable(fragment, table, parts));
  });
  const left = tables.flatMap((table, index) => (staged.has(index) ? [] : [{ table, index }]));
  const scans = left.flatMap(({ table, index }) => (table.kind === 'scan' ? [{ table, index }] : []));
  const partsOfScans = await split(scans.map(({ table }) => table));
  const inParts = scans.flatMap(({ table, index }, place) => {
    const parts = partsOfScans[place];
    return parts === undefined ? [] : [{ table, parts, index }];
  });
  const whole = left.filter(({ index }) => !inParts.some((large) => large.index === index));
  const stageWhole = (signal: AbortSignal) => stageBeside(whole, fragment, signal, staged);
  if (inParts.length === 0) await stageWhole(link.signal);
  else {
    await makeSession();
    const gathered = await gatherTables(fragment, inParts, stageWhole);
    for (const [place, { index }] of inParts.entries()) {
      const table = gathered[place];
      if (table !== undefined) staged.set(index, table);
    }
  }
  return tables.flatMap((_table, index) => staged.get(index) ?? []);
}

/** Makes the name under which keys are asked for before the other tables are there. */
async function bindTable(
  fragment: LeasedFragment,
  table: FragmentScan,
  parts: readonly FragmentScan[] | undefined,
): Promise<StagedTable> {
  const { environment, link, lease } = fragment;
  if (parts !== undefined) {
    const [gathered] = await gatherTables(fragment, [{ table, parts }]);
    if (gathered !== undefined) return gathered;
  }
  const staged = await environment.stage(table, lease.inputDirectory, link.signal);
  try {
    await lease.execute([scanSql(table, staged)], link.signal);
  } catch (error) {
    throw namingOriginalFiles(error, stagedGroups([staged]));
  }
  return { ...staged, isBound: true };
}

/** Answers once nothing is staged any more; the first failure ends what the others do. */
async function stageBeside(
  tables: readonly { readonly table: FragmentTable; readonly index: number }[],
  { environment, lease }: LeasedFragment,
  signal: AbortSignal,
  staged: Map<number, StagedTable>,
): Promise<void> {
  using stop = linkAbort(signal);
  const stage = async ({ table, index }: (typeof tables)[number]): Promise<void> => {
    try {
      staged.set(index, await stageTable(table, environment, lease.inputDirectory, stop.signal));
    } catch (error) {
      stop.abort(QueryError.from(error));
      throw error;
    }
  };
  await mapConcurrently(tables, { maxConcurrent: maxConcurrentTables, signal }, stage);
}

function sessionOf(request: FragmentRequest): readonly string[] {
  return sessionStatements({ ...request, tables: [...request.tables, ...request.views] });
}

async function stageTable(
  table: FragmentTable,
  environment: FragmentEnvironment,
  directory: string,
  signal: AbortSignal,
): Promise<StagedTable> {
  switch (table.kind) {
    case 'scan':
      return await environment.stage(table, directory, signal);
    case 'rows':
      return broughtAlong(table.rows.byteLength);
    case 'input':
      return broughtAlong(inputBytes(table.rows));
    case 'files': {
      const staged = await environment.stageFiles?.(table, directory, signal);
      if (staged === undefined) throw new QueryError('INTERNAL_ERROR', 'Nobody here reads files by name.');
      return staged;
    }
  }
}

/** Rows that the engine is given when its tables are made. */
export function broughtAlong(bytesStaged: number): StagedTable {
  return { groups: [], filesRead: 0, bytesStaged, bytesFetched: 0, describeColumns: async () => undefined };
}

/** All that the engine may say something of: tables' files, and those that list deleted rows. */
export function stagedGroups(staged: readonly StagedTable[]): readonly StagedGroup[] {
  return staged.flatMap(({ groups, deletes = [] }) => [...groups, ...deletes.flatMap((set) => set.groups)]);
}

/**
 * Makes the names that the fragment's SQL uses. Answers trusted statements that are still to be run before it: all of them,
 * where no rows are to be brought in between.
 */
export async function bindTables(
  { request, environment, link, lease }: LeasedFragment,
  staged: readonly StagedTable[],
): Promise<readonly string[]> {
  const tables = request.tables.flatMap((table, index) => tableSql(table, staged[index]) ?? []);
  const session = staged.some((table) => table.isBound) ? [] : sessionOf(request);
  // Views are bound when they are made: what stands for now() in them must be there.
  const setup = [...session, ...tables, ...request.setup, ...request.views.map(viewSql)];
  const hasRows = request.tables.some(({ kind }) => kind === 'rows' || kind === 'input');
  if (!hasRows) return setup;
  if (setup.length > 0) await lease.execute(setup, link.signal);
  for (const table of request.tables)
    if (table.kind === 'rows') {
      const name = { catalog: table.catalog, schema: table.schema, table: table.table };
      await lease.ingest(name, onePiece(table.rows), link.signal);
    } else if (table.kind === 'input') await ingestInput(table, { environment, lease, signal: link.signal });
  return [];
}

function tableSql(table: FragmentTable, staged: StagedTable | undefined): string | undefined {
  if (staged?.isBound) return undefined;
  switch (table.kind) {
    case 'scan':
      return scanSql(table, staged);
    case 'rows':
      return rowsTableSql(table, engineColumns(table.columns));
    case 'input':
      return rowsTableSql(table, table.columns);
    case 'files':
      return filesViewSql(table, staged?.files ?? []);
  }
}

export function scanSql(table: FragmentScan, staged: StagedTable | undefined): string {
  const { columns, counted } = table.scan;
  const parts = [...(staged?.groups ?? []), ...(counted ? [counted] : [])];
  return scanViewSql(table, columns, parts, staged?.deletes);
}

interface StatementToStart {
  /** Makes the names of its tables, or answers the statements that do. */
  bind(): Promise<readonly string[]>;
  /** The engine is given back after it. */
  readonly isLast: boolean;
}

/**
 * Starts the SQL over the tables that `bind` makes, or says how to make first: as a statement, or where it answers whole columns of `onlyTable` and
 * their pages can be read so, without one.
 */
export async function startStatement(
  { request, options, link, lease }: LeasedFragment,
  onlyTable: StagedTable | undefined,
  { bind, isLast }: StatementToStart,
): Promise<EngineResult> {
  const { wholeColumns } = request;
  const direct = wholeColumns && (await onlyTable?.describeColumns(wholeColumns.columns));
  if (wholeColumns !== undefined && direct !== undefined) {
    options.onExecuting?.();
    return await lease.readParquet({ ...direct, schema: wholeColumns.schema, isLast, signal: link.signal });
  }
  const before = await bind();
  options.onExecuting?.();
  return await lease.query({
    ...{ before, sql: request.sql },
    ...(request.parameters === undefined ? {} : { parameters: request.parameters }),
    arrow: request.arrow,
    isLast,
    signal: link.signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
}

export function fragmentStatistics(
  staged: readonly StagedTable[],
  profile: EngineProfile,
  times: Pick<FragmentStatistics, 'stagingMs' | 'engineMs'>,
): FragmentStatistics {
  const sum = (pick: (table: StagedTable) => number) =>
    staged.reduce((total, table) => total + pick(table), 0);
  return {
    filesRead: sum((table) => table.filesRead),
    bytesStaged: sum((table) => table.bytesStaged),
    bytesFetched: sum((table) => table.bytesFetched),
    rowsScanned: profile.rowsScanned,
    rowsReturned: profile.rowsReturned,
    spilledBytes: profile.spilledBytes,
    peakMemoryBytes: profile.peakMemoryBytes,
    ...times,
  };
}

export function resultTooLarge({ resultBytes }: FragmentLimits): QueryError {
  return new QueryError(
    'RESULT_TOO_LARGE',
    `The result is larger than its limit of ${resultBytes} bytes (query.max_result_bytes, or SET svc.max_result_bytes): add a LIMIT or aggregate.`,
  );
}

/** QUERY_TIMEOUT of a query that was given this long. */
export function queryTimedOut(timeoutMs: number): QueryError {
  return new QueryError(
    'QUERY_TIMEOUT',
    `The query ran longer than its limit of ${timeoutMs / 1000} s (query.timeout_secs, or SET svc.query_timeout_secs).`,
  );
}
