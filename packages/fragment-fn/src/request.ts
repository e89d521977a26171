/**
 * The fragment request: a SQL text over the tables it names, self-contained and serialisable, so that a local host,
 * a worker and a Lambda function run the same thing (design: "a fragment is a SQL text").
 */
import type { FileScan, NestedField, ObjectInfo, TableScan } from '@svc/lake';
import type { ScanFilter } from '@svc/sql';
import type { EngineColumn } from './views/view-sql.js';

/** One older and one newer are understood where they can be: see wire/task-codec.ts. */
export const fragmentProtocolVersion = 2;

/** A table of the fragment under the name the SQL text uses, and where its rows come from. */
export type FragmentTable = FragmentScan | FragmentRows | FragmentInput | FragmentFiles;

/**
 * Rows of the target are of no use unless the value of its column is one that the source has in a row that passes the
 * filters of its scan. NULL is no such value.
 */
export interface FragmentJoinKeys {
  readonly target: FragmentKey;
  readonly source: FragmentKey;
  /**
   * What may leave out files and row groups of the target: the ranges of their keys, or bloom filters alone, which say
   * something of few keys only. Nothing: it is said for the target's own keys.
   */
  readonly by: 'ranges' | 'bloom' | undefined;
}

export interface FragmentKey {
  /** Position in the request's tables, of a scan. */
  readonly table: number;
  readonly name: string;
  /** The engine's type; two columns that are compared have types of the same values. */
  readonly type: string;
}

interface FragmentName {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
}

/** Rows in data files, which are staged for the fragment. */
export interface FragmentScan extends FragmentName {
  readonly kind: 'scan';
  readonly scan: TableScan;
  /** What is true of every row that the SQL needs of the table; the SQL says so itself too. */
  readonly filters?: readonly ScanFilter[];
}

/** Rows that the request brings along. */
export interface FragmentRows extends FragmentName {
  readonly kind: 'rows';
  readonly columns: readonly NestedField[];
  /** An Arrow IPC stream; its fields are the columns by position. */
  readonly rows: Uint8Array;
}

/** Rows of an earlier stage, by the engine's own types. */
export interface FragmentInput extends FragmentName {
  readonly kind: 'input';
  readonly columns: readonly EngineColumn[];
  readonly rows: InputRows;
}

export type InputRows =
  /** One Arrow IPC stream, lossless. */
  | { readonly kind: 'bytes'; readonly stream: Uint8Array }
  /** Each an Arrow IPC stream of its own, one behind the other. */
  | { readonly kind: 'parts'; readonly parts: readonly InputPart[] }
  /**
   * In this process only: one Arrow IPC stream as it comes. It is opened at most once, and read to its end or returned
   * early. Of several such tables one is read after the other, in their order.
   */
  | { readonly kind: 'stream'; open(signal: AbortSignal): AsyncIterable<Uint8Array> };

export interface InputPart {
  /** Signed: who has it may read it, so it is a secret. */
  readonly url: string;
  readonly bytes: number;
  /** Of these bytes, 64 hexadecimal digits. */
  readonly sha256: string;
}

/** Files that the statement itself names: only in the command line, whose engines may reach them. */
export interface FragmentFiles extends FragmentName {
  readonly kind: 'files';
  readonly columns: readonly EngineColumn[];
  /** A query over the files, with `filesPlaceholder` for their paths (@svc/sql). */
  readonly call: string;
  readonly files: readonly FileToRead[];
  /** Columns that the statement does not read and files of `chunks` do not have: they are NULL. */
  readonly unread: readonly string[];
}

export type FileToRead =
  /** On this machine; the path may be a pattern, which the engine expands. */
  | { readonly kind: 'in-place'; readonly path: string }
  /** To be brought here as it is. */
  | { readonly kind: 'whole'; readonly object: ObjectInfo }
  /** Of a Parquet file, the chunks that the statement needs. */
  | { readonly kind: 'chunks'; readonly scan: FileScan };

/** A view of the fragment: gated SQL of somebody else, every table in it by its full name. */
export interface FragmentView {
  readonly catalog: string;
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly sql: string;
}

export interface FragmentLimits {
  readonly memoryBytes: number;
  readonly resultBytes: number;
  readonly timeoutMs: number;
}

export interface FragmentRequest {
  readonly protocolVersion: number;
  readonly queryId: string;
  readonly fragmentId: number;
  readonly lane: FragmentLane;
  /** User and policy version: the key of the engine lease. */
  readonly owner: string;
  readonly sql: string;
  readonly tables: readonly FragmentTable[];
  /**
   * Where the source is read first, so that less is read of the target. What a table is a target of comes before what it is
   * the source of.
   */
  readonly joinKeys?: readonly FragmentJoinKeys[];
  /** Each behind those that it reads; all over tables of the fragment. */
  readonly views: readonly FragmentView[];
  /** Default catalog and schema of unqualified names. */
  readonly defaultCatalog: string;
  readonly defaultSchema: string | undefined;
  /** Engine settings of the statement: TimeZone and the like. */
  readonly settings: Readonly<Record<string, string>>;
  /** Trusted statements of the coordinator to run before the SQL: the statement's clock and the like. */
  readonly setup: readonly string[];
  /** Arrow IPC stream with one row, or absent. */
  readonly parameters?: Uint8Array;
  readonly arrow: 'lossless' | 'client';
  /** The SQL answers whole columns of its one table: their pages may be read without an engine. */
  readonly wholeColumns?: WholeColumns;
  readonly limits: FragmentLimits;
  /** W3C trace context of the query. */
  readonly traceparent?: string;
}

export interface WholeColumns {
  /** Positions in the scan's columns, in the order of the answer. */
  readonly columns: readonly number[];
  /** What the SQL answers: an encapsulated Arrow IPC schema. */
  readonly schema: Uint8Array;
}

/** Which share of the engine hosts a fragment takes its own from; `small` is kept for work that is small by its text. */
export type FragmentLane = 'small' | 'query';

/** Counted while a fragment runs; complete when its stream has ended. */
export interface FragmentStatistics {
  readonly filesRead: number;
  readonly bytesStaged: number;
  readonly bytesFetched: number;
  readonly rowsScanned: bigint;
  readonly rowsReturned: bigint;
  readonly spilledBytes: bigint;
  readonly peakMemoryBytes: bigint;
  readonly stagingMs: number;
  readonly engineMs: number;
}
