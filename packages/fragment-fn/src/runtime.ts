/**
 * The fragment runtime: stage the scans, bind the SQL's tables to them, run, stream. The coordinator executes only
 * through it; workers and Lambda functions will run the same code behind their own doors.
 */
import { type LinkedAbort, linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type { EngineLease, EngineMessage, EnginePool, EngineProgress, EngineResult } from '@svc/engine';
import type { DirectRead } from '@svc/lake';
import { namingOriginalFiles } from './original-files.js';
import {
  type FragmentRequest,
  type FragmentStatistics,
  type FragmentTable,
  fragmentProtocolVersion,
} from './request.js';
import { sessionStatements } from './views/session-sql.js';
import { type StagedGroup, scanViewSql } from './views/view-sql.js';

/** A table whose chunks now lie in the engine's input folder. */
export interface StagedTable {
  readonly groups: readonly StagedGroup[];
  readonly filesRead: number;
  /** Bytes that the engine is given, wherever they came from. */
  readonly bytesStaged: number;
  /** Bytes that had to be fetched for it. */
  readonly bytesFetched: number;
  /** Where the pages of whole columns lie, or undefined when only the engine can read the files. */
  describeColumns(columns: readonly number[]): Promise<DirectRead | undefined>;
}

/** What a fragment needs around it; each door brings its own. */
export interface FragmentEnvironment {
  readonly pool: EnginePool;
  /** Brings the chunks of one table's scan into `directory`. Throws DATA_CORRUPT, DATA_FILE_MISSING, DISK_FULL, … */
  stage(table: FragmentTable, directory: string, signal: AbortSignal): Promise<StagedTable>;
}

export interface FragmentOptions {
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: EngineProgress) => void;
  /** The engine has begun: staging is over. */
  readonly onExecuting?: () => void;
}

export interface FragmentResult {
  /** Encapsulated Arrow IPC schema message. */
  readonly schema: Uint8Array;
  /** Must be read to its end or returned early; both free the engine. */
  readonly messages: AsyncIterable<EngineMessage>;
  /** Aborts when the fragment ends by its limits or its caller while nobody may be reading; the reason is the error. */
  readonly failed: AbortSignal;
  /** Resolves when no engine host is held any more, however the fragment ended; never rejects. */
  readonly engineFree: Promise<void>;
  statistics(): FragmentStatistics;
}

/** Starts a fragment. Resolves when its schema is known. Throws QueryError; then nothing is left behind. */
export async function runFragment(
  request: FragmentRequest,
  environment: FragmentEnvironment,
  options: FragmentOptions,
): Promise<FragmentResult> {
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
    return await startOnLease({ request, environment, options, link, lease });
  } catch (error) {
    link[Symbol.dispose]();
    await lease?.release();
    throw error;
  }
}

interface Start {
  readonly request: FragmentRequest;
  readonly environment: FragmentEnvironment;
  readonly options: FragmentOptions;
  readonly link: LinkedAbort;
  readonly lease: EngineLease;
}

async function startOnLease(start: Start): Promise<FragmentResult> {
  const { request, link, lease } = start;
  const stagingStart = performance.now();
  const staged = await stageTables(start);
  const engineStart = performance.now();
  const groups = staged.flatMap((table) => table.groups);
  const result = await startEngine(start, staged).catch((error: unknown) => {
    throw namingOriginalFiles(error, groups);
  });
  let engineMs = 0;
  const engineFree = result.engineDone.then(async () => {
    engineMs = performance.now() - engineStart;
    await lease.release();
  });
  const sum = (pick: (table: StagedTable) => number) =>
    staged.reduce((total, table) => total + pick(table), 0);
  return {
    schema: result.schema,
    messages: limitedMessages(result, { request, link, groups }),
    failed: link.signal,
    engineFree,
    statistics: () => {
      const profile = result.profile();
      return {
        filesRead: sum((table) => table.filesRead),
        bytesStaged: sum((table) => table.bytesStaged),
        bytesFetched: sum((table) => table.bytesFetched),
        rowsScanned: profile.rowsScanned,
        rowsReturned: profile.rowsReturned,
        spilledBytes: profile.spilledBytes,
        peakMemoryBytes: profile.peakMemoryBytes,
        stagingMs: engineStart - stagingStart,
        engineMs,
      };
    },
  };
}

async function startEngine(
  { request, options, link, lease }: Start,
  staged: readonly StagedTable[],
): Promise<EngineResult> {
  const { wholeColumns } = request;
  const direct = wholeColumns && (await staged[0]?.describeColumns(wholeColumns.columns));
  if (wholeColumns !== undefined && direct !== undefined) {
    options.onExecuting?.();
    return await lease.readParquet({ ...direct, schema: wholeColumns.schema, signal: link.signal });
  }
  const setup = setupStatements(request, staged);
  if (setup.length > 0) await lease.execute(setup, link.signal);
  options.onExecuting?.();
  return await lease.query({
    sql: request.sql,
    ...(request.parameters === undefined ? {} : { parameters: request.parameters }),
    arrow: request.arrow,
    signal: link.signal,
    ...(options.onProgress === undefined ? {} : { onProgress: options.onProgress }),
  });
}

/** Tables one after the other: each one's fetches are parallel already, and the byte budget is one. */
async function stageTables({ request, environment, link, lease }: Start): Promise<readonly StagedTable[]> {
  const staged: StagedTable[] = [];
  for (const table of request.tables) {
    staged.push(await environment.stage(table, lease.inputDirectory, link.signal));
  }
  return staged;
}

function setupStatements(request: FragmentRequest, staged: readonly StagedTable[]): readonly string[] {
  const views = request.tables.map((table, index) =>
    scanViewSql(table, table.scan.columns, staged[index]?.groups ?? []),
  );
  return [...sessionStatements(request), ...views, ...request.setup];
}

/**
 * The result's messages under the fragment's limits. Written out as an iterator and not as a generator: `return()`
 * must free the engine even when nothing has been read yet.
 */
function limitedMessages(
  result: EngineResult,
  { request, link, groups }: Pick<Start, 'request' | 'link'> & { readonly groups: readonly StagedGroup[] },
): AsyncIterable<EngineMessage> {
  return {
    [Symbol.asyncIterator]() {
      const source = result.messages[Symbol.asyncIterator]();
      let bytes = 0;
      return {
        async next() {
          const next = await source.next().catch((error: unknown) => {
            link[Symbol.dispose]();
            throwIfAborted(link.signal);
            throw namingOriginalFiles(error, groups);
          });
          if (next.done) {
            link[Symbol.dispose]();
            return next;
          }
          bytes += next.value.body.byteLength;
          if (bytes > request.limits.resultBytes) {
            next.value.release();
            await source.return?.();
            link[Symbol.dispose]();
            throw resultTooLarge(request);
          }
          return next;
        },
        async return() {
          try {
            await source.return?.();
          } finally {
            link[Symbol.dispose]();
          }
          return { done: true, value: undefined };
        },
      };
    },
  };
}

/** QUERY_TIMEOUT of a query that was given this long. */
export function queryTimedOut(timeoutMs: number): QueryError {
  return new QueryError(
    'QUERY_TIMEOUT',
    `The query ran longer than its limit of ${timeoutMs / 1000} s (query.timeout_secs, or SET svc.query_timeout_secs).`,
  );
}

function resultTooLarge(request: FragmentRequest): QueryError {
  return new QueryError(
    'RESULT_TOO_LARGE',
    `The result is larger than its limit of ${request.limits.resultBytes} bytes (query.max_result_bytes, or SET svc.max_result_bytes): add a LIMIT or aggregate.`,
  );
}
