/** Names and types of result columns, of a prepared statement or of a running one. */
import { takeText } from '../capi/logical-type.js';
import { type Address, readText } from '../capi/memory.js';
import type { EngineConnection, ResultMemory } from './connection.js';
import type { PreparedStatement } from './statement.js';

export interface ColumnDeclaration {
  readonly name: string;
  /** A logical type that lives as long as the callback it is given to. */
  readonly type: Address;
}

export function withStatementColumns<T>(
  connection: EngineConnection,
  statement: PreparedStatement,
  use: (columns: readonly ColumnDeclaration[]) => T,
): T {
  const { functions } = connection;
  const { handle } = statement;
  return withColumns(connection, statement.columnCount, use, (index) => ({
    name: takeText(functions, functions.columnName(handle, index)),
    type: functions.columnLogicalType(handle, index),
  }));
}

export function withResultColumns<T>(
  connection: EngineConnection,
  result: ResultMemory,
  use: (columns: readonly ColumnDeclaration[]) => T,
): T {
  const { functions } = connection;
  const { address } = result;
  return withColumns(connection, functions.resultColumnCount(address), use, (index) => ({
    // A result keeps its names; only those of prepared statements are ours to free.
    name: readText(functions.resultColumnName(address, index)),
    type: functions.resultColumnLogicalType(address, index),
  }));
}

function withColumns<T>(
  connection: EngineConnection,
  count: number,
  use: (columns: readonly ColumnDeclaration[]) => T,
  read: (index: number) => ColumnDeclaration,
): T {
  const columns: ColumnDeclaration[] = [];
  try {
    for (let index = 0; index < count; index++) columns.push(read(index));
    return use(columns);
  } finally {
    for (const { type } of columns) connection.functions.destroyLogicalType([type]);
  }
}
