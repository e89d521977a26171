/**
 * Files that a statement of the command line names, as tables: each reading becomes a view over the files, and the
 * statement is rewritten to name the view. So they are planned and pushed down to like tables.
 */
import { QueryError } from '@svc/base';
import type { EngineLease, EnginePool } from '@svc/engine';
import { type EngineColumn, type FileToRead, fileCallSql } from '@svc/fragment-fn';
import {
  deserializeQuery,
  type FileRead,
  filesPlaceholder,
  type ParsedQuery,
  queryOfCall,
  quoteString,
  readSerializedSql,
  rewriteFileReads,
  serializeQuery,
  writeSerializedSql,
} from '@svc/sql';
import type { ResolvedTable } from '../planner/resolve-tables.js';
import { withoutExcerpt } from '../planner/without-excerpt.js';
import { locatePath, type PathContext } from './locate-path.js';
import { readingFunctionOf } from './reading-function.js';

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
}

/** No catalog of a user's is called so: it begins with a blank. */
const filesCatalog = ' files';

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
  const files = read.paths.map((written): FileToRead => {
    const located = locatePath(written, context);
    if (located.kind === 'local') return { kind: 'in-place', path: located.path };
    throw new QueryError('NOT_SUPPORTED', `${located.location}: only files of this machine are read.`);
  });
  const call = await callSql(read, context);
  const columns = await describeCall(
    fileCallSql(
      call,
      files.map(({ path }) => path),
    ),
    context,
  );
  return {
    catalog: filesCatalog,
    schema: 'main',
    table: name,
    columns,
    rowCount: 1000n,
    source: { kind: 'files', call, files },
  };
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
