import type {
  EngineLimits,
  EngineProfile,
  EngineProgress,
  EngineTableName,
  StatementDescription,
} from '../api.js';

/**
 * What the host loop needs of an engine: everything blocks the calling thread and throws QueryError. The real one
 * is in ../instance; a fake one drives the fault tests.
 */
export interface HostInstance {
  /** What `EngineControl` takes to reach the running statement from another thread; changes with each instance. */
  readonly connectionAddress: number;
  /** Nothing may build on this instance any more. */
  readonly isUnusable: boolean;
  execute(statements: readonly string[]): void;
  queryText(sql: string, parameters: readonly string[]): string;
  describe(sql: string, arrow: 'client', parameters?: Uint8Array): StatementDescription;
  query(request: HostQuery): HostCursor;
  ingest(table: EngineTableName): HostIngest;
  /** Drops what statements left behind, or becomes unusable where that is not possible. */
  reset(): void;
  close(): void;
}

export interface HostIngest {
  /** Bytes of one Arrow IPC stream in any division; they are the caller's again after the call. */
  write(piece: Uint8Array): void;
  /** Commits; answers the number of rows. */
  finish(): bigint;
  /** Ends the ingest without effect unless it has been finished. Idempotent. */
  close(): void;
}

export interface HostQuery {
  readonly sql: string;
  readonly parameters?: Uint8Array;
  readonly arrow: 'lossless' | 'client';
}

export interface HostCursor {
  /** Encapsulated schema message. */
  readonly schema: Uint8Array;
  /** The first rows are there already, so that the schema may wait for their message. */
  readonly hasFirstRows: boolean;
  /** Lays out the next message's body from the start of `region` (8-byte aligned); undefined at the end. */
  next(region: Uint8Array): HostMessage | undefined;
  /** Ends the statement early or after its end; idempotent. */
  close(): void;
  /** Complete once the cursor is closed. */
  profile(): EngineProfile;
}

export interface HostMessage {
  readonly kind: 'dictionary' | 'batch';
  /** Message flatbuffer without the 8-byte prefix. */
  readonly header: Uint8Array;
  /** The start of the region given, or memory of its own when it did not fit there. */
  readonly body: Uint8Array;
  readonly isInRegion: boolean;
  readonly rowCount: number;
  /** Nothing comes after it. A last message need not say so: then the next call answers nothing. */
  readonly isLast: boolean;
}

export interface HostInstanceOptions {
  readonly limits: EngineLimits;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly tempDirectory: string;
}

/** How a host makes instances. `controlModule` is imported by the watcher thread and exports `control`. */
export interface EngineRuntime {
  open(options: HostInstanceOptions): HostInstance;
  readonly controlModule: string;
  readonly controlData?: unknown;
}

/** The calls that another thread may make while a statement runs. */
export interface EngineControl {
  interrupt(connectionAddress: number): void;
  progress(connectionAddress: number): EngineProgress;
}

export interface ControlModule {
  createControl(data: unknown): EngineControl;
}
