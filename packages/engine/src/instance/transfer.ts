/**
 * Statements whose columns an Arrow mode can carry: the others are cast in a SELECT around the statement
 * (arrow/type-mapping.ts).
 */
import { QueryError } from '@svc/base';
import { type ArrowMode, containsVariant, transferType } from '../arrow/type-mapping.js';
import { duckDbType, quoteName } from '../capi/logical-type.js';
import { type ColumnDeclaration, withResultColumns, withStatementColumns } from './columns.js';
import type { EngineConnection } from './connection.js';
import { bindNulls, bindParameters } from './parameters.js';
import { startStatement } from './run.js';
import { PreparedStatement, prepareSubquery } from './statement.js';

/** Prepares a statement for transfer. The parameters only decide types here: bind them again. */
export function prepareForTransfer(
  connection: EngineConnection,
  sql: string,
  mode: ArrowMode,
  parameters: Uint8Array | undefined,
): PreparedStatement {
  const statement = PreparedStatement.prepare(connection, sql);
  try {
    const castsOf = (columns: readonly ColumnDeclaration[]) =>
      transferCasts(connection, columns, mode, statement.isSelect);
    const casts =
      statement.isSelect && hasUnknownColumns(connection, statement)
        ? withProbedColumns(connection, sql, parameters, castsOf)
        : withStatementColumns(connection, statement, castsOf);
    if (casts === undefined) return statement;
    const wrapped = prepareSubquery(connection, `SELECT ${casts.join(', ')}`, sql);
    statement[Symbol.dispose]();
    return wrapped;
  } catch (error) {
    statement[Symbol.dispose]();
    throw error;
  }
}

/** Whether a column's type hangs on a parameter whose type the engine has not inferred. */
export function hasUnknownColumns(connection: EngineConnection, statement: PreparedStatement): boolean {
  const { functions } = connection;
  return withStatementColumns(connection, statement, (columns) =>
    columns.some(({ type }) => type === 0 || functions.typeId(type) === duckDbType.invalid),
  );
}

/**
 * The columns of a SELECT with these parameters: it runs as a subquery that needs no row. Without parameters all are
 * NULL, so that a column hanging on one gets the engine's type for an unknown value.
 */
export function withProbedColumns<T>(
  connection: EngineConnection,
  sql: string,
  parameters: Uint8Array | undefined,
  use: (columns: readonly ColumnDeclaration[]) => T,
): T {
  using probe = prepareSubquery(connection, 'SELECT *', sql, 'LIMIT 0');
  if (parameters === undefined) bindNulls(connection, probe);
  else bindParameters(connection, probe, parameters);
  const result = startStatement(connection, probe);
  try {
    return withResultColumns(connection, result, use);
  } finally {
    result.close();
  }
}

/** Select list over the statement as a subquery, or undefined when every column is carried as it is. */
function transferCasts(
  connection: EngineConnection,
  columns: readonly ColumnDeclaration[],
  mode: ArrowMode,
  isSelect: boolean,
): readonly string[] | undefined {
  let changes = false;
  const casts = columns.map(({ name, type }, index) => {
    if (mode === 'lossless' && containsVariant(connection.functions, type))
      throw new QueryError(
        'NOT_SUPPORTED',
        `Column "${name}" is a VARIANT, which cannot be exchanged between engines: cast it to JSON.`,
      );
    const target = transferType(connection.functions, type, mode);
    if (target === undefined) return `#${index + 1} AS ${quoteName(name)}`;
    changes = true;
    return `CAST(#${index + 1} AS ${target}) AS ${quoteName(name)}`;
  });
  if (changes && !isSelect)
    throw new QueryError(
      'NOT_SUPPORTED',
      'The statement answers a column of a type that only a SELECT can answer: cast it to VARCHAR.',
    );
  return changes ? casts : undefined;
}
