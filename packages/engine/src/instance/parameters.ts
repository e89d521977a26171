/** Binding parameters: texts of ours, and the one-row batch of a client. */
import { QueryError } from '@svc/base';
import type { DecodedBatch } from '../arrow/decoded-array.js';
import { IpcStreamReader } from '../arrow/ipc-stream.js';
import type { Address } from '../capi/memory.js';
import { bytesOf } from './arrow-options.js';
import type { EngineConnection } from './connection.js';
import { createValue } from './parameter-values.js';
import type { PreparedStatement } from './statement.js';

/** What one batch of parameters may take. */
const maxParameterBytes = 64 * 1024 * 1024;

/** Binds every parameter, in order, as text. */
export function bindTexts(
  connection: EngineConnection,
  statement: PreparedStatement,
  texts: readonly string[],
): void {
  expectCount(statement, texts.length);
  texts.forEach((text, position) => {
    const bytes = bytesOf(`${text}\0`);
    bindValue(
      connection,
      statement,
      position + 1,
      connection.functions.createText(bytes, bytes.byteLength - 1),
    );
  });
}

export function bindNulls(connection: EngineConnection, statement: PreparedStatement): void {
  for (let index = 1; index <= statement.parameterCount; index++)
    bindValue(connection, statement, index, connection.functions.createNull());
}

/**
 * Binds the fields of an Arrow IPC stream with one row, in order. Throws INVALID_PARAMETER when their number, the number
 * of rows or a type is wrong, INVALID_ARGUMENT when the bytes are damaged.
 */
export function bindParameters(
  connection: EngineConnection,
  statement: PreparedStatement,
  parameters: Uint8Array | undefined,
): void {
  if (parameters === undefined) {
    expectCount(statement, 0);
    return;
  }
  const batch = readParameterBatch(parameters);
  if (batch === undefined) {
    expectCount(statement, 0);
    return;
  }
  expectCount(statement, batch.columns.length);
  batch.columns.forEach((column, position) => {
    bindValue(connection, statement, position + 1, createValue(connection.functions, column, 0));
  });
}

/** Undefined for a stream without columns: clients send one for a statement without parameters. */
function readParameterBatch(parameters: Uint8Array): DecodedBatch | undefined {
  const stream = new IpcStreamReader(maxParameterBytes);
  let only: DecodedBatch | undefined;
  let rowCount = 0;
  for (const batch of stream.read(parameters)) {
    if (batch.rowCount === 0) continue;
    rowCount += batch.rowCount;
    only = batch;
  }
  if (stream.finish().fields.length === 0) return undefined;
  if (only === undefined || rowCount !== 1)
    throw new QueryError('INVALID_PARAMETER', `Parameters must come as one row; ${rowCount} rows were sent.`);
  return only;
}

function expectCount(statement: PreparedStatement, given: number): void {
  const expected = statement.parameterCount;
  if (expected !== given)
    throw new QueryError(
      'INVALID_PARAMETER',
      `The statement has ${expected} parameters; ${given} were given.`,
    );
}

/** Takes over the value. */
function bindValue(
  connection: EngineConnection,
  statement: PreparedStatement,
  index: number,
  value: Address,
): void {
  const { functions } = connection;
  try {
    if (functions.bindValue(statement.handle, index, value) !== 0)
      throw connection.error(functions.prepareError(statement.handle));
  } finally {
    functions.destroyValue([value]);
  }
}
