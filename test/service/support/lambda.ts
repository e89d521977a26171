/** A fragment function under the emulator, and the coordinator's executor for it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createLogger, createMetrics, parseLogFilter } from '@svc/base';
import { createLambdaExecutor, type LambdaExecutor, type LambdaExecutorOptions } from '@svc/coordinator';
import {
  type FragmentSplit,
  type FragmentTask,
  fragmentProtocolVersion,
  type SplitRequest,
  type SplitRun,
} from '@svc/fragment-fn';
import {
  createFileStore,
  createFileSystemCatalog,
  createFooterCache,
  createMetadataFiles,
  planScan,
  type TableScan,
} from '@svc/lake';
import { tableFromIPC } from 'apache-arrow';
import { exportJWK, generateKeyPair } from 'jose';
import {
  type EmulatorOptions,
  type LambdaEmulator,
  startLambdaEmulator,
} from '../../emulators/lambda/lambda-emulator.js';
import { framed, rowsOf } from './results.js';
import { type SpoolServer, startSpoolServer } from './spool-server.js';

export const bundleFolder = fileURLToPath(
  new URL('../../../../packages/fragment-fn/dist/lambda/', import.meta.url),
);
const functionName = 'svc-fragment';
const lambdaSecret = 'planted-lambda-secret';

export interface TestLambda extends AsyncDisposable {
  readonly emulator: LambdaEmulator;
  readonly executor: LambdaExecutor;
  readonly spool: SpoolServer;
  readonly folder: string;
  /** Every log line of the coordinator's side. */
  readonly logLines: readonly string[];
  /** What must be seen nowhere. */
  readonly secrets: readonly string[];
  metrics(): Promise<string>;
}

export interface TestLambdaOptions {
  readonly emulator?: Partial<EmulatorOptions>;
  readonly executor?: Partial<LambdaExecutorOptions>;
  /** Of the function: without one it has none. */
  readonly keys?: 'right' | 'both' | 'other' | 'none';
}

export async function startLambda(options: TestLambdaOptions = {}): Promise<TestLambda> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-lambda-'));
  const [mine, other] = await Promise.all([newKey(), newKey()]);
  const keySets = { right: [mine], both: [other, mine], other: [other], none: [] };
  const keys = keySets[options.keys ?? 'right'].map(({ privateKey }) => privateKey);
  const spool = await startSpoolServer();
  const emulator = await startLambdaEmulator({
    bundleFolder,
    functionName,
    folder: join(folder, 'sandboxes'),
    ...options.emulator,
    environment: {
      ...(keys.length === 0 ? {} : { SVC_FUNCTION_KEYS: JSON.stringify({ keys }) }),
      SVC_FUNCTION_LOCAL_FILES: '1',
      ...options.emulator?.environment,
    },
  });
  const logLines: string[] = [];
  const metrics = createMetrics();
  const executor = await createLambdaExecutor({
    functionName,
    endpoint: emulator.endpoint,
    region: 'us-east-1',
    credentials: { accessKeyId: 'lambda-key', secretAccessKey: lambdaSecret },
    publicKey: JSON.stringify(mine.publicKey),
    spool: spool.spool,
    maxConcurrency: 4,
    invocationTimeoutMs: 60_000,
    metrics,
    logger: createLogger('svc', { write: (line) => logLines.push(line), filter: parseLogFilter('trace') }),
    ...options.executor,
  });
  return {
    emulator,
    executor,
    spool,
    folder,
    logLines,
    secrets: [lambdaSecret, 'planted-spool-secret', String(mine.privateKey.d)],
    metrics: () => metrics.text(),
    async [Symbol.asyncDispose]() {
      executor.close();
      await emulator[Symbol.asyncDispose]();
      await spool[Symbol.asyncDispose]();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function newKey() {
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  return { publicKey: await exportJWK(pair.publicKey), privateKey: await exportJWK(pair.privateKey) };
}

const emptyScan: TableScan = {
  tableName: 'lake.sales.orders',
  tableUuid: 'none',
  snapshotId: undefined,
  columns: [],
  groups: [],
  counts: {
    manifestsTotal: 0,
    manifestsRead: 0,
    filesTotal: 0,
    filesPlanned: 0,
    filesPruned: 0,
    rowGroupsTotal: 0,
    rowGroupsPlanned: 0,
    rowGroupsPrunedByStatistics: 0,
    rowGroupsPrunedByBloom: 0,
    bytesTotal: 0,
    bytesPlanned: 0,
    rowsPlanned: 0,
  },
};

export function requestOf(sql: string, request: Partial<SplitRequest> = {}): SplitRequest {
  return {
    protocolVersion: fragmentProtocolVersion,
    queryId: 'query-1',
    fragmentId: 0,
    lane: 'query',
    owner: 'ada 1',
    sql,
    tables: [],
    views: [],
    defaultCatalog: 'svc_stages',
    defaultSchema: undefined,
    settings: { TimeZone: 'UTC' },
    setup: [],
    arrow: 'lossless',
    limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 31, timeoutMs: 60_000 },
    splits: [{ id: 0, scan: emptyScan }],
    ...request,
  };
}

export function taskOf(sql: string, request: Partial<SplitRequest> = {}): FragmentTask {
  return { request: requestOf(sql, request), stores: [] };
}

/** Over a table of one file: a split for each of its row groups. */
export async function tableTask(root: string, name: string, sql: string): Promise<FragmentTask> {
  const [schema = '', table = ''] = name.split('.');
  const manifests = createMetadataFiles(2 ** 20);
  const catalog = createFileSystemCatalog({ root, store: createFileStore(), files: manifests });
  const loaded = await catalog.loadTable({ namespace: [schema], name: table });
  const scan = await planScan(
    loaded,
    { kind: 'current' },
    { columns: undefined, filters: [] },
    { tableName: `lake.${name}`, footers: createFooterCache({ maxBytes: 2 ** 20 }), manifests },
  );
  const splits = splitsOf(scan);
  const divided = { kind: 'scan', catalog: 'lake', schema, table, scan: { ...scan, groups: [] } } as const;
  const request = requestOf(sql, {
    tables: [divided],
    splitTable: 0,
    splits,
    defaultCatalog: 'lake',
    defaultSchema: schema,
  });
  return { request, stores: [loaded.store] };
}

function splitsOf(scan: TableScan): readonly FragmentSplit[] {
  const groups = scan.groups.flatMap((group) =>
    group.files.flatMap((file) => {
      const rowGroups = file.rowGroups ?? Array.from({ length: scan.counts.rowGroupsPlanned }, (_, at) => at);
      return rowGroups.map((at) => ({
        ...group,
        files: [{ ...file, rowGroups: [at], ...(rowGroups.length > 1 && { isPart: true as const }) }],
      }));
    }),
  );
  return groups.map((group, id) => ({ id, scan: { ...scan, groups: [group] } }));
}

/** The rows of a run, all splits together; counted only when all of them have ended. */
export async function rowsOfRun(run: SplitRun): Promise<readonly (readonly unknown[])[]> {
  const pieces: Uint8Array[] = [run.schema];
  let isEnded = false;
  for await (const event of run.events) {
    isEnded = event.kind === 'end';
    if (event.kind === 'end') continue;
    pieces.push(framed(event.message.header), Buffer.from(event.message.body));
    event.message.release();
  }
  if (!isEnded) throw new Error('No split has ended last.');
  return rowsOf(tableFromIPC(Buffer.concat(pieces)));
}

export const never: AbortSignal = new AbortController().signal;
