/** Running statements whose results are not streamed to anyone. */
import { QueryError } from '@svc/base';
import type { OutAddress } from '../capi/functions.js';
import { duckDbType, withType } from '../capi/logical-type.js';
import { type Address, readBytes, readInt32, window } from '../capi/memory.js';
import { type EngineConnection, ResultMemory } from './connection.js';
import { PreparedStatement } from './statement.js';

const inlinedTextBytes = 12;

/** Starts a bound statement; blocks until its first rows (or all it does) are there. The caller closes the result. */
export function startStatement(connection: EngineConnection, statement: PreparedStatement): ResultMemory {
  const { functions } = connection;
  const pending: OutAddress = [0];
  const result = new ResultMemory(functions);
  try {
    if (functions.pendingStreaming(statement.handle, pending) !== 0)
      throw connection.error(pending[0] === 0 ? null : functions.pendingError(pending[0]));
    if (functions.executePending(pending[0], result.address) !== 0) throw connection.error(result.error());
    return result;
  } catch (error) {
    result.close();
    throw error;
  } finally {
    functions.destroyPending(pending);
  }
}

/** Runs one statement without parameters to its end. */
export function runStatement(connection: EngineConnection, sql: string): void {
  using statement = PreparedStatement.prepare(connection, sql);
  const result = startStatement(connection, statement);
  try {
    const words = result.words();
    for (;;) {
      const chunk = connection.functions.fetchChunk(words);
      if (chunk === 0) break;
      connection.functions.destroyDataChunk([chunk]);
    }
    throwResultError(connection, result);
  } finally {
    result.close();
  }
}

/** The text in the first row and column of a result; INTERNAL_ERROR when there is none. */
export function readSingleText(connection: EngineConnection, result: ResultMemory): string {
  const { functions } = connection;
  const isText = withType(
    functions,
    functions.resultColumnLogicalType(result.address, 0),
    (type) => type !== 0 && functions.typeId(type) === duckDbType.varchar,
  );
  if (!isText) throw new QueryError('INTERNAL_ERROR', 'A query of ours answers no text.');
  const chunk = functions.fetchChunk(result.words());
  if (chunk === 0) {
    throwResultError(connection, result);
    throw new QueryError('INTERNAL_ERROR', 'A query of ours answers no row.');
  }
  try {
    if (functions.chunkSize(chunk) === 0)
      throw new QueryError('INTERNAL_ERROR', 'A query of ours answers no row.');
    const vector = functions.chunkVector(chunk, 0);
    const validity = functions.vectorValidity(vector);
    if (validity !== 0) {
      window.load(validity, 1);
      if (((window.bytes[0] ?? 0) & 1) === 0)
        throw new QueryError('INTERNAL_ERROR', 'A query of ours answers NULL.');
    }
    return readString(functions.vectorData(vector));
  } finally {
    functions.destroyDataChunk([chunk]);
  }
}

function throwResultError(connection: EngineConnection, result: ResultMemory): void {
  const error = result.error();
  if (error !== null && error !== '') throw connection.error(error);
}

/** `duckdb_string_t`: a 32-bit length, then up to 12 bytes in place, or 4 bytes of prefix and a pointer. */
function readString(address: Address): string {
  const length = readInt32(address);
  window.load(address + 8, 8);
  const data = length <= inlinedTextBytes ? address + 4 : window.word(0);
  return Buffer.from(readBytes(data, length)).toString('utf8');
}
