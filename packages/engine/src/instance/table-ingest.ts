/** Appends an Arrow IPC stream to a table, all of it or nothing. */
import { QueryError } from '@svc/base';
import type { EngineTableName } from '../api.js';
import { type BufferAddresses, type CData, writeCBatch, writeCSchema } from '../arrow/c-data-write.js';
import type { DecodedBatch } from '../arrow/decoded-array.js';
import { expandBatch, expandFields } from '../arrow/expand-dictionary.js';
import { IpcStreamReader } from '../arrow/ipc-stream.js';
import type { OutAddress } from '../capi/functions.js';
import type { Address } from '../capi/memory.js';
import { throwErrorData } from './arrow-options.js';
import type { EngineConnection } from './connection.js';
import { runStatement } from './run.js';
import { assertSqlText } from './statement.js';

/** What one message of a stream may ask us to hold. */
const maxBodyBytes = 256 * 1024 * 1024;
/**
 * Rows converted at a time: the engine's vector size. Larger chunks would be a fifth faster, but with extension types
 * (bool8, uuid, hugeint …) the engine converts through a vector of this size and writes past its end (1.5.5).
 */
const rowsPerChunk = 2_048;

export class TableIngest {
  private readonly connection: EngineConnection;
  private readonly onEnd: (error: unknown) => void;
  private readonly stream = new IpcStreamReader(maxBodyBytes);
  private readonly appender: Address;
  private converted: Address = 0;
  private rowCount = 0n;
  private isOpen = true;
  /** Memory that the engine works on: named by a field, so that it is not collected during a call. */
  protected held: { readonly data: CData; readonly batch: DecodedBatch } | undefined;
  protected heldSchema: CData | undefined;

  /** Starts a transaction. Throws TABLE_NOT_FOUND. `onEnd` is called once. */
  constructor(connection: EngineConnection, table: EngineTableName, onEnd: (error: unknown) => void) {
    this.connection = connection;
    this.onEnd = onEnd;
    for (const name of [table.catalog, table.schema, table.table]) assertSqlText(name ?? '');
    runStatement(connection, 'BEGIN TRANSACTION');
    try {
      this.appender = createAppender(connection, table);
    } catch (error) {
      runStatement(connection, 'ROLLBACK');
      throw error;
    }
  }

  /** Appends the batches that the piece completes; the piece is the caller's again after the call. After an error the ingest is closed and nothing has been appended. */
  write(piece: Uint8Array): void {
    this.attempt(() => {
      for (const batch of this.stream.read(piece)) this.appendBatch(batch);
    });
  }

  /** Commits; answers the number of rows. Throws INVALID_ARGUMENT when the stream is not complete. */
  finish(): bigint {
    return this.attempt(() => {
      this.stream.finish();
      const { functions } = this.connection;
      if (functions.appenderClose(this.appender) !== 0) this.throwAppenderError();
      this.free();
      runStatement(this.connection, 'COMMIT');
      this.isOpen = false;
      this.onEnd(undefined);
      return this.rowCount;
    });
  }

  /** Gives up what has been appended so far. Idempotent, and nothing after `finish`. */
  close(): void {
    this.end(undefined);
  }

  private attempt<T>(step: () => T): T {
    if (!this.isOpen) throw new QueryError('INTERNAL_ERROR', 'The ingest has ended.');
    try {
      return step();
    } catch (error) {
      this.end(error);
      throw error;
    }
  }

  private end(error: unknown): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    try {
      // Destroying an appender flushes it: what it holds is dropped first.
      this.connection.functions.appenderClear(this.appender);
      this.free();
      runStatement(this.connection, 'ROLLBACK');
    } finally {
      this.onEnd(error);
    }
  }

  private free(): void {
    const { functions } = this.connection;
    if (this.converted !== 0) functions.destroyConvertedSchema([this.converted]);
    this.converted = 0;
    functions.appenderDestroy([this.appender]);
  }

  private appendBatch(batch: DecodedBatch): void {
    const plain = expandBatch(batch);
    const addresses: BufferAddresses = new Map();
    for (let start = 0; start < plain.rowCount; start += rowsPerChunk) {
      const count = Math.min(rowsPerChunk, plain.rowCount - start);
      this.appendChunk(writeCBatch(plain, start, count, addresses), plain);
    }
    this.rowCount += BigInt(batch.rowCount);
  }

  private appendChunk(data: CData, batch: DecodedBatch): void {
    const { functions, handle } = this.connection;
    const converted = this.convertedSchema();
    this.held = { data, batch };
    const chunk: OutAddress = [0];
    try {
      throwErrorData(this.connection, functions.chunkFromArrow(handle, data.address, converted, chunk));
      if (functions.appendDataChunk(this.appender, chunk[0]) !== 0) this.throwAppenderError();
    } finally {
      if (chunk[0] !== 0) functions.destroyDataChunk(chunk);
      this.held = undefined;
    }
  }

  private convertedSchema(): Address {
    if (this.converted !== 0) return this.converted;
    const { schema } = this.stream;
    if (schema === undefined) throw new QueryError('INTERNAL_ERROR', 'A batch came before its schema.');
    const data = writeCSchema({ ...schema, fields: expandFields(schema.fields) });
    this.heldSchema = data;
    const converted: OutAddress = [0];
    const { functions, handle } = this.connection;
    throwErrorData(this.connection, functions.schemaFromArrow(handle, data.address, converted));
    this.converted = converted[0];
    return this.converted;
  }

  private throwAppenderError(): never {
    // A value that the column cannot take is reported without its type in front.
    const error = this.connection.functions.appenderErrorData(this.appender);
    throwErrorData(this.connection, error, 'Conversion');
    throw this.connection.error(null);
  }
}

function createAppender(connection: EngineConnection, table: EngineTableName): Address {
  const appender: OutAddress = [0];
  const { functions, handle } = connection;
  const { catalog = null, schema = null } = table;
  if (functions.appenderCreate(handle, catalog, schema, table.table, appender) === 0) return appender[0];
  try {
    if (appender[0] !== 0) throwErrorData(connection, functions.appenderErrorData(appender[0]));
    throw connection.error(null);
  } catch (error) {
    // The appender's own message has no exception type in front.
    if (!(error instanceof QueryError) || !error.message.includes('could not be found')) throw error;
    const name = [catalog, schema, table.table].filter((part) => part !== null).join('.');
    throw new QueryError('TABLE_NOT_FOUND', `Table "${name}" does not exist.`, { cause: error });
  } finally {
    functions.appenderDestroy(appender);
  }
}
