/** Binding parameters: texts of ours, and the one-row batch of a client. */
import { QueryError } from '@svc/base';
import { type Address, addressOf } from '../capi/memory.js';
import { bytesOf } from './arrow-options.js';
import type { EngineConnection } from './connection.js';
import type { PreparedStatement } from './statement.js';

/** Binds every parameter, in order, as text. */
export function bindTexts(
  connection: EngineConnection,
  statement: PreparedStatement,
  texts: readonly string[],
): void {
  expectCount(statement, texts.length);
  texts.forEach((text, position) => {
    const bytes = bytesOf(text);
    bindValue(
      connection,
      statement,
      position + 1,
      connection.functions.createText(addressOf(bytes), bytes.byteLength),
    );
  });
}

export function bindNulls(connection: EngineConnection, statement: PreparedStatement): void {
  for (let index = 1; index <= statement.parameterCount; index++)
    bindValue(connection, statement, index, connection.functions.createNull());
}

export function bindParameters(
  _connection: EngineConnection,
  statement: PreparedStatement,
  parameters: Uint8Array | undefined,
): void {
  if (parameters === undefined) {
    expectCount(statement, 0);
    return;
  }
  throw new QueryError('NOT_SUPPORTED', 'Parameters are not bound yet.');
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
