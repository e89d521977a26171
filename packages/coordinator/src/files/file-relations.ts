/**
 * Files that a statement of the command line names, as tables: each reading becomes a view over the files, and the
 * statement is rewritten to name the view. So they are planned and pushed down to like tables.
 */
import { QueryError } from '@svc/base';
import type { EngineLease, EnginePool } from '@svc/engine';
import { type EngineColumn, type FileToRead, fileCallSql } from '@svc/fragment-fn';
import {
  displayLocation,
  type FooterCache,
  type ObjectInfo,
  type ObjectStore,
  rowDeltaName,
} from '@svc/lake';
import {
  deserializeQuery,
  type FileRead,
  filesPlaceholder,
  type ParsedQuery,
  queryOfCall,
  quoteString,
  readSerializedSql,
  rewriteFileReads,
  type ScanRequest,
  serializeQuery,
  writeSerializedSql,
} from '@svc/sql';
import type { FilesSource, ResolvedTable } from '../planner/resolve-tables.js';
import { withoutExcerpt } from '../planner/without-excerpt.js';
import { resolveDelta } from './delta-relation.js';
import { locatePath, type PathContext } from './locate-path.js';
import { readingFunctionOf } from './reading-function.js';
import type { RemoteFiles } from './remote-files.js';

export interface FileRelations {
  /** Throws INVALID_ARGUMENT, NOT_SUPPORTED, DATA_FILE_MISSING and what the engine says of the files. */
  resolve(reads: readonly FileRead[], options: ResolveFilesOptions): Promise<readonly ResolvedFiles[]>;
}

export interface ResolveFilesOptions {
  readonly owner: string;
  readonly signal: AbortSignal;
}

export interface ResolvedFiles {
  readonly read: FileRead;
  readonly table: ResolvedTable;
}

export interface FileRelationsOptions extends PathContext {
  readonly pool: EnginePool;
  readonly remote: RemoteFiles;
  readonly store: ObjectStore;
  readonly footers: FooterCache;
}

/** No catalog of a user's is called so: it begins with a blank. */
const filesCatalog = ' files';

/** Whether a table stands for files that a statement names: its text was changed then. */
export function isOfFiles({ catalog }: { readonly catalog: string }): boolean {
  return catalog === filesCatalog;
}

export function createFileRelations(options: FileRelationsOptions): FileRelations {
  return {
    async resolve(reads, { owner, signal }) {
      const lease = await options.pool.lease({ owner, lane: 'small', signal });
      try {
        const resolved: ResolvedFiles[] = [];
        for (const [index, read] of reads.entries())
          resolved.push({ read, table: await resolveRead(read, `f${index}`, { ...options, lease, signal }) });
        return resolved;
      } catch (error) {
        throw withoutExcerpt(error);
      } finally {
        await lease.release();
      }
    },
  };
}

/** The statement with its readings replaced by their tables. */
export function withFileTables(parsed: ParsedQuery, files: readonly ResolvedFiles[]): ParsedQuery {
  if (files.length === 0) return parsed;
  const tables = new Map(files.map(({ read, table }) => [read.key, table]));
  const query = rewriteFileReads(parsed, (read) => {
    const table = tables.get(read.key);
    if (table === undefined) throw new QueryError('INTERNAL_ERROR', `${read.paths[0]} was not resolved.`);
    return { catalog: table.catalog, schema: table.schema, table: table.table };
  });
  return { ...parsed, query };
}

interface Resolving extends FileRelationsOptions {
  readonly lease: EngineLease;
  readonly signal: AbortSignal;
}

async function resolveRead(read: FileRead, name: string, context: Resolving): Promise<ResolvedTable> {
  const located = read.paths.map((written) => locatePath(written, context));
  const place = { catalog: filesCatalog, schema: 'main', table: name };
  const [first, second] = located;
  if ((read.function ?? readingFunctionOf(read.paths[0] ?? '')) === 'delta_scan') {
    if (first === undefined || second !== undefined)
      throw new QueryError('INVALID_ARGUMENT', "delta_scan reads one table: delta_scan('folder').");
    const location = first.kind === 'local' ? first.path : first.location;
    return { ...place, ...(await resolveDelta(read, location, context)) };
  }
  const call = await callSql(read, context);
  const local = located.flatMap((each) => (each.kind === 'local' ? [each.pattern] : []));
  const remote = located.flatMap((each) => (each.kind === 'remote' ? [each.location] : []));
  if (local.length > 0 && remote.length > 0)
    throw new QueryError(
      'NOT_SUPPORTED',
      `${local[0]} is on this machine and ${displayLocation(remote[0] ?? '')} is not: read them apart, with UNION ALL BY NAME.`,
    );
  const files = remote.length === 0 ? localFiles(local) : await remoteFiles(remote, read, call, context);
  const columns = await describeCall(fileCallSql(call, files.describedPaths), context);
  return {
    ...place,
    columns: columns.filter((column) => !files.hasRowDelta || column.name !== rowDeltaName),
    rowCount: 1000n,
    source: { kind: 'files', call, plan: files.plan },
  };
}

interface FilesToDescribe extends Pick<FilesSource, 'plan'> {
  /** What the engine looks at to know the columns. */
  readonly describedPaths: readonly string[];
  /** Whether there is a column of ours among theirs. */
  readonly hasRowDelta: boolean;
}

function localFiles(paths: readonly string[]): FilesToDescribe {
  const files = paths.map((path): FileToRead => ({ kind: 'in-place', path }));
  return { describedPaths: paths, hasRowDelta: false, plan: async () => ({ files, unread: [] }) };
}

const parquetReaders: ReadonlySet<string> = new Set(['read_parquet', 'parquet_scan']);

async function remoteFiles(
  locations: readonly string[],
  read: FileRead,
  call: string,
  { lease, remote, signal }: Resolving,
): Promise<FilesToDescribe> {
  const name = read.function ?? readingFunctionOf(locations[0] ?? '');
  if (name === 'glob')
    throw new QueryError(
      'NOT_SUPPORTED',
      `${displayLocation(locations[0] ?? '')}: glob lists files of this machine only.`,
    );
  const objects: ObjectInfo[] = [];
  for (const location of locations) objects.push(...(await remote.locate(location, signal)));
  if (!parquetReaders.has(name)) {
    const files = objects.map((object): FileToRead => ({ kind: 'whole', object }));
    const placed = await remote.place(files, lease.inputDirectory, signal);
    const describedPaths = placed.files.map(({ path }) => path);
    return { describedPaths, hasRowDelta: false, plan: async () => ({ files, unread: [] }) };
  }
  return {
    describedPaths: await remote.placeShapes(objects, lease.inputDirectory, signal),
    hasRowDelta: true,
    plan: (request, planSignal) => remote.planChunks(objects, requestOf(call, request), planSignal),
  };
}

/** Positions are those of whole files; a schema of the statement's own gives columns other names. */
function requestOf(call: string, request: ScanRequest): ScanRequest {
  if (/\bschema\b/i.test(call)) return { columns: undefined, filters: [] };
  return /\bfile_row_number\b/i.test(call) ? { ...request, filters: [] } : request;
}

/** `SELECT * FROM read_…('@svc-files@', …)`. */
async function callSql({ paths, call }: FileRead, { lease, signal }: Resolving): Promise<string> {
  if (call === undefined) {
    const [path = ''] = paths;
    return `SELECT * FROM ${readingFunctionOf(path)}(${quoteString(filesPlaceholder)})`;
  }
  const sample = 'SELECT * FROM range(1)';
  const template = readSerializedSql(sample, await lease.queryText(serializeQuery, [sample], signal));
  const query = writeSerializedSql(template, queryOfCall(template, call));
  return await lease.queryText(deserializeQuery, [query], signal);
}

/** Looks into the files: a header, a footer, a sample of their text. */
async function describeCall(sql: string, { lease, signal }: Resolving): Promise<readonly EngineColumn[]> {
  const answer = await lease.queryText(
    `SELECT to_json(list({name: column_name, type: column_type}))::VARCHAR FROM (DESCRIBE ${sql})`,
    [],
    signal,
  );
  const columns: unknown = JSON.parse(answer);
  if (!Array.isArray(columns)) throw new QueryError('INTERNAL_ERROR', 'The engine listed no columns.');
  return columns.map((column: { readonly name: string; readonly type: string }) => ({
    name: column.name,
    type: column.type,
  }));
}
