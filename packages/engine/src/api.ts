/**
 * The engine as the rest of the service sees it. Two transports implement it: child processes (the service) and
 * in process (the command line, a Lambda function). Nothing here is specific to either.
 */

/** What one engine instance may use. Sizes in bytes. */
export interface EngineLimits {
  readonly memoryBytes: number;
  readonly threads: number;
  /** Spill budget below the lease's temp folder. */
  readonly tempDirectoryBytes: number;
  /**
   * Folders that statements may reach beside the lease's own. None in the service; the command line, which is its user's
   * own process, gives the root.
   */
  readonly reachableDirectories?: readonly string[];
}

/** An instance serves one owner at a time; another owner gets a recycled one. */
export interface LeaseRequest {
  /** User and policy version; equal keys may reuse an instance, different keys never do. */
  readonly owner: string;
  /** `small` may use the reserved lane: planning, and statements without tables. */
  readonly lane: 'small' | 'query';
  readonly signal?: AbortSignal;
}

export interface EnginePool extends AsyncDisposable {
  /** Waits for a free instance; the pool's bound is hosts, never sessions. */
  lease(request: LeaseRequest): Promise<EngineLease>;
  stats(): EnginePoolStats;
  /** Stops handing out leases, waits for running ones up to the deadline, then kills. Idempotent. */
  close(deadlineMs: number): Promise<void>;
  /** Kills every host at once. */
  destroy(): Promise<void>;
}

export interface EnginePoolStats {
  readonly hosts: number;
  readonly idle: number;
  readonly leased: number;
  readonly waiting: number;
  /** Hosts that crashed, were killed or recycled since the start. */
  readonly replaced: number;
  /** Memory that leased instances hold now, and may hold together. */
  readonly memoryUsedBytes: number;
  readonly memoryLimitBytes: number;
}

/** What a statement will answer and what it must be given, known without running it. */
export interface StatementDescription {
  /** Encapsulated Arrow IPC schema message (with the FFFFFFFF prefix), exactly what `query` will answer. */
  readonly schema: Uint8Array;
  /** Encapsulated schema with one field per parameter in order ("1", "2", … or its name), inferred types; null type where unknown. */
  readonly parameterSchema: Uint8Array;
  readonly parameterCount: number;
}

export interface EngineLease extends AsyncDisposable {
  /** The folder the instance may read: staged files are linked into it. Emptied when the lease ends. */
  readonly inputDirectory: string;
  /** The folder that trusted statements may write to (COPY … TO). Emptied when the lease ends: move away what is kept. */
  readonly outputDirectory: string;
  /** Runs trusted statements of ours (ATTACH, CREATE VIEW, SET of allowed settings), in order, discarding results. */
  execute(statements: readonly string[], signal?: AbortSignal): Promise<void>;
  /** Runs one trusted query of ours that answers a single text value: parser, planner. */
  queryText(sql: string, parameters: readonly string[], signal?: AbortSignal): Promise<string>;
  /** Prepares without running. Throws BINDING_ERROR, SYNTAX_ERROR, … */
  describe(request: DescribeRequest, signal?: AbortSignal): Promise<StatementDescription>;
  /** Starts a statement. The result must be read to its end or returned early; either frees the engine. */
  query(request: EngineQuery): Promise<EngineResult>;
  /** Reads whole columns of Parquet files without running a statement. To be read or returned like `query`'s result. */
  readParquet(request: ParquetRead): Promise<EngineResult>;
  /** Appends Arrow IPC (one stream: schema, dictionaries, batches) into a table of the instance; answers the row count. */
  ingest(table: EngineTableName, stream: AsyncIterable<Uint8Array>, signal?: AbortSignal): Promise<bigint>;
  /** Marks the instance as not reusable (after an error, a policy change); it is recycled when the lease ends. */
  taint(): void;
  /** Gives the instance back: views and attached names of the query are dropped, inputs removed. Idempotent. */
  release(): Promise<void>;
}

export interface DescribeRequest {
  readonly sql: string;
  /**
   * As for `query`: the columns are then those that these parameters lead to. Without, a column whose type hangs on an
   * unknown parameter is as for a NULL.
   */
  readonly parameters?: Uint8Array;
}

export interface EngineTableName {
  readonly catalog?: string;
  readonly schema?: string;
  readonly table: string;
}

export interface EngineQuery {
  /** Trusted statements of ours to run first, as by `execute`, without another way to the engine and back. */
  readonly before?: readonly string[];
  readonly sql: string;
  /** One Arrow IPC stream of one batch with one row; the fields bind in order. Absent without parameters. */
  readonly parameters?: Uint8Array;
  /** `lossless` keeps types that only our own parts understand; `client` is what a Flight client sees. */
  readonly arrow: 'lossless' | 'client';
  /** Nothing follows on this lease but its release, which is cheaper then. */
  readonly isLast?: boolean;
  readonly signal?: AbortSignal;
  /** Called as the engine reports progress: a fraction 0–1, or undefined while unknown. */
  readonly onProgress?: (progress: EngineProgress) => void;
}

/** Whole columns of whole Parquet files, one below the other, as Arrow. All files have been looked at by the caller. */
export interface ParquetRead {
  /** Encapsulated Arrow IPC schema message of the answer. */
  readonly schema: Uint8Array;
  /** One per field of the schema. */
  readonly columns: readonly ParquetReadColumn[];
  /** In the order of the answer's rows. */
  readonly files: readonly ParquetReadFile[];
  /** As of a query. */
  readonly isLast?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * What a column's values are in Arrow: booleans; 4 or 8 bytes as they stand in the file; decimals of 128 bits; text
 * or bytes with 32-bit offsets.
 */
export interface ParquetReadColumn {
  readonly name: string;
  readonly values: 'flags' | 'fixed4' | 'fixed8' | 'decimal' | 'text' | 'bytes';
}

export interface ParquetReadFile {
  /** In the lease's input directory. */
  readonly path: string;
  readonly rowGroups: readonly { readonly rowCount: number; readonly chunks: readonly ParquetReadChunk[] }[];
}

/** The chunk of one column: bytes `[start, end)` of the file, pages and all. */
export interface ParquetReadChunk {
  readonly start: number;
  readonly end: number;
  /** What all its pages take together when they are decompressed. */
  readonly uncompressedBytes: number;
  readonly codec: 'uncompressed' | 'snappy' | 'gzip' | 'zstd';
  /** Bytes of one PLAIN value; 0 for booleans and for BYTE_ARRAY. */
  readonly valueBytes: number;
  /** FIXED_LEN_BYTE_ARRAY: numbers stand with their highest byte first. */
  readonly isBigEndian: boolean;
  readonly isNullable: boolean;
}

export interface EngineProgress {
  readonly fraction: number | undefined;
  readonly rowsProcessed: bigint;
  readonly rowsTotal: bigint;
}

/**
 * One Arrow IPC message of a result, ready for the wire. `header` is the Message flatbuffer without its 8-byte
 * prefix; `body` may lie in shared memory, so `release` must be called once it has been written (or dropped).
 */
export interface EngineMessage {
  readonly kind: 'dictionary' | 'batch';
  readonly header: Uint8Array;
  readonly body: Uint8Array;
  readonly rowCount: number;
  release(): void;
}

export interface EngineProfile {
  readonly rowsReturned: bigint;
  readonly rowsScanned: bigint;
  readonly spilledBytes: bigint;
  readonly peakMemoryBytes: bigint;
  readonly cpuSeconds: number;
}

export interface EngineResult {
  /** Encapsulated Arrow IPC schema message. */
  readonly schema: Uint8Array;
  /** Pull: at most the ring's slots are ahead of the reader. Ending early cancels the statement. */
  readonly messages: AsyncIterable<EngineMessage>;
  /**
   * Resolves once the engine itself is done with the statement, whether its messages have been read or wait in the
   * ring or the spool; never rejects. From then on the lease may be released: the messages stay readable.
   */
  readonly engineDone: Promise<void>;
  /** Complete once `engineDone` has resolved. */
  profile(): EngineProfile;
}
