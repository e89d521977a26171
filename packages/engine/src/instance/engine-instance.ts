/**
 * One DuckDB instance with one connection, driven synchronously: every call blocks its thread until the engine has
 * answered. It runs in an engine host's main thread, or in process in the command line.
 */
import { QueryError } from '@svc/base';
import type { EngineTableName, StatementDescription } from '../api.js';
import { withFlightMetadata } from '../arrow/flight-metadata.js';
import type { ArrowMode } from '../arrow/type-mapping.js';
import type { DuckDbFunctions, OutAddress } from '../capi/functions.js';
import { duckDb } from '../capi/library.js';
import { takeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import { ArrowOptions } from './arrow-options.js';
import { withResultColumns } from './columns.js';
import { connectionOf, type EngineConnection } from './connection.js';
import { describeStatement } from './describe.js';
import { engineError, leavesInstanceUnusable } from './engine-error.js';
import { type InstanceOptions, initialSettings, lockStatements, openSettings } from './lock-down.js';
import { bindParameters, bindTexts } from './parameters.js';
import { readProfile } from './profile.js';
import { leavesUntraceableState, resetQuery } from './reset.js';
import { ResultCursor } from './result-cursor.js';
import { readSingleText, runStatement, startStatement } from './run.js';
import { PreparedStatement } from './statement.js';
import { TableIngest } from './table-ingest.js';
import { prepareForTransfer } from './transfer.js';
import { goHome, settingOf, UndoList } from './undo.js';

/** Largest Arrow message, header included, where nobody says otherwise: what ADBC clients take. */
export const defaultMaxMessageBytes = 16 * 1024 * 1024;

export interface InstanceQuery {
  readonly sql: string;
  /** One Arrow IPC stream of one batch with one row; the fields bind in order. */
  readonly parameters?: Uint8Array;
  readonly arrow: ArrowMode;
}

export class EngineInstance implements Disposable {
  private readonly functions: DuckDbFunctions;
  private readonly connection: EngineConnection;
  private readonly database: Address;
  private readonly options: InstanceOptions;
  private arrowMode: ArrowMode = 'client';
  private running: ResultCursor | TableIngest | undefined;
  private isOpen = true;
  private unusable = false;
  /** Whether anything ran that could have left a name or a setting behind. */
  private isDirty = false;
  private hasUntraceableState = false;
  private undo = new UndoList();
  /** By name, the statement that gave a setting its present value, where that is known: it need not run again. */
  private readonly settings = new Map<string, string>();

  private constructor(
    functions: DuckDbFunctions,
    database: Address,
    connection: EngineConnection,
    options: InstanceOptions,
  ) {
    this.functions = functions;
    this.database = database;
    this.connection = connection;
    this.options = options;
  }

  /** Opens and locks an in-memory database. Throws CONFIGURATION_ERROR when the engine's library is missing. */
  static open(options: InstanceOptions): EngineInstance {
    const functions = duckDb();
    const database = openDatabase(functions, options);
    const connection: OutAddress = [0];
    if (functions.connect(database, connection) !== 0) {
      functions.close([database]);
      throw new QueryError('INTERNAL_ERROR', 'The engine refuses a connection.');
    }
    const folders = [options.inputDirectory, options.outputDirectory ?? '', options.tempDirectory];
    const instance = new EngineInstance(
      functions,
      database,
      connectionOf(functions, connection[0], folders),
      options,
    );
    try {
      instance.guard(() => {
        for (const sql of lockStatements(options)) instance.run(sql);
      });
      return instance;
    } catch (error) {
      instance.close();
      throw error;
    }
  }

  /**
   * The connection's address, for `interruptConnection` and `connectionProgress` on another thread of this process.
   * Valid until `close`.
   */
  get connectionAddress(): Address {
    return this.connection.handle;
  }

  /** Whether an internal error has been seen: the instance must not be used again. */
  get isUnusable(): boolean {
    return this.unusable;
  }

  /** Runs trusted statements of ours in order, discarding results. */
  execute(statements: readonly string[]): void {
    this.guard(() => {
      for (const sql of statements) {
        this.isDirty = true;
        this.undo.note(sql);
        this.hasUntraceableState ||= !this.undo.isComplete && leavesUntraceableState(sql);
        if (!this.undo.isComplete) this.settings.clear();
        this.run(sql);
      }
    });
  }

  private run(sql: string): void {
    const name = settingOf(sql);
    if (name !== undefined && this.settings.get(name) === sql) return;
    if (name !== undefined) this.settings.delete(name);
    runStatement(this.connection, sql);
    if (name !== undefined) this.settings.set(name, sql);
  }

  /** Runs one trusted query that answers a single text value. */
  queryText(sql: string, parameters: readonly string[]): string {
    return this.guard(() => {
      using statement = PreparedStatement.prepare(this.connection, sql);
      bindTexts(this.connection, statement, parameters);
      const result = startStatement(this.connection, statement);
      try {
        return readSingleText(this.connection, result);
      } finally {
        result.close();
      }
    });
  }

  /**
   * Columns and parameters of a statement, without running it. With `parameters` (as for `query`) the columns are those
   * that these parameters lead to; without, a column whose type hangs on an unknown parameter is as for a NULL.
   */
  describe(sql: string, arrow: ArrowMode = 'client', parameters?: Uint8Array): StatementDescription {
    return this.guard(() => {
      this.setArrowMode(arrow);
      return describeStatement(this.connection, sql, arrow, parameters);
    });
  }

  /** Starts a statement; its cursor must be read to the end or closed before the next call. */
  query(request: InstanceQuery): ResultCursor {
    return this.guard(() => {
      const cpuAtStart = process.cpuUsage();
      this.setArrowMode(request.arrow);
      using statement = prepareForTransfer(this.connection, request.sql, request.arrow, request.parameters);
      bindParameters(this.connection, statement, request.parameters);
      if (!statement.isSelect) {
        this.isDirty = true;
        this.undo.note(request.sql);
        this.settings.clear();
      }
      const result = startStatement(this.connection, statement);
      let options: ArrowOptions | undefined;
      try {
        const arrowOptions = new ArrowOptions(this.connection);
        options = arrowOptions;
        const cursor = new ResultCursor({
          connection: this.connection,
          options,
          result,
          schema: withResultColumns(this.connection, result, (columns) =>
            withFlightMetadata(this.functions, request.arrow, arrowOptions.schemaOf(columns), columns),
          ),
          maxMessageBytes: this.options.maxMessageBytes ?? defaultMaxMessageBytes,
          onEnd: (error) => this.ended(error),
          readProfile: (rows) => readProfile(this.functions, this.connection.handle, rows, cpuAtStart),
        });
        this.running = cursor;
        return cursor;
      } catch (error) {
        options?.[Symbol.dispose]();
        result.close();
        throw error;
      }
    });
  }

  /** Starts appending Arrow IPC bytes to a table; finish or close it before the next call. */
  ingest(table: EngineTableName): TableIngest {
    return this.guard(() => {
      this.isDirty = true;
      this.undo.noteRows(table.catalog);
      const ingest = new TableIngest(this.connection, table, (error) => this.ended(error));
      this.running = ingest;
      return ingest;
    });
  }

  /**
   * Drops what statements left behind (attached databases, schemas, tables, views, types, sequences) and sets the
   * changeable settings back: cheaper than opening another instance. After a statement whose traces cannot be found
   * the instance becomes unusable instead.
   */
  reset(): void {
    if (!this.isDirty) return;
    if (this.hasUntraceableState) {
      this.unusable = true;
      return;
    }
    const initial = initialSettings(this.options);
    this.guard(() => {
      for (const sql of this.undo.statements(initial)) this.run(sql);
      // What sets all settings back takes the engine ten milliseconds, and its memory from it: the next statement would
      // have every page of it made anew.
      if (this.undo.isComplete) return;
      this.run(goHome);
      for (const sql of [...this.remainders(), ...initial.values()]) this.run(sql);
    });
    this.undo = new UndoList();
    this.isDirty = false;
    this.hasUntraceableState = false;
  }

  /** What removes everything that statements left behind whose traces are not known. */
  private remainders(): readonly string[] {
    const statements: unknown = JSON.parse(this.queryText(resetQuery, []));
    if (!Array.isArray(statements)) throw new QueryError('INTERNAL_ERROR', 'The engine listed no names.');
    return statements.map(String);
  }

  /** Ends a running statement and frees the instance. Idempotent. */
  close(): void {
    if (!this.isOpen) return;
    this.running?.close();
    this.isOpen = false;
    this.functions.disconnect([this.connection.handle]);
    this.functions.close([this.database]);
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** One statement at a time, and none after the end; notes errors that nothing may build on. */
  private guard<T>(call: () => T): T {
    if (!this.isOpen) throw new QueryError('INTERNAL_ERROR', 'The engine instance is closed.');
    if (this.running !== undefined)
      throw new QueryError('INTERNAL_ERROR', 'The engine instance is busy with another statement.');
    try {
      return call();
    } catch (error) {
      this.note(error);
      throw error;
    }
  }

  private ended(error: unknown): void {
    this.running = undefined;
    if (error !== undefined) this.note(error);
  }

  private note(error: unknown): void {
    if (!(error instanceof QueryError) || leavesInstanceUnusable(error)) this.unusable = true;
  }

  private setArrowMode(mode: ArrowMode): void {
    if (mode === this.arrowMode) return;
    runStatement(this.connection, `SET arrow_lossless_conversion = ${mode === 'lossless'}`);
    this.arrowMode = mode;
  }
}

function openDatabase(functions: DuckDbFunctions, options: InstanceOptions): Address {
  const config: OutAddress = [0];
  const database: OutAddress = [0];
  const error: OutAddress = [0];
  if (functions.createConfig(config) !== 0)
    throw new QueryError('INTERNAL_ERROR', 'The engine refuses a configuration.');
  try {
    for (const [name, value] of openSettings(options))
      if (functions.setConfig(config[0], name, value) !== 0)
        throw new QueryError('INTERNAL_ERROR', `The engine refuses ${name} = ${value}.`);
    if (functions.openExtended(':memory:', database, config[0], error) !== 0)
      throw engineError(takeText(functions, error[0]), []);
    return database[0];
  } finally {
    functions.destroyConfig(config);
  }
}
