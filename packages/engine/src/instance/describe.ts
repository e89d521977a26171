/** Schemas of statements: of a prepared one without running it, and of a running one. */
import type { StatementDescription } from '../api.js';
import { withFlightMetadata } from '../arrow/flight-metadata.js';
import { encapsulate, encodeSchemaMessage } from '../arrow/ipc-encode.js';
import { type ArrowMode, transferType } from '../arrow/type-mapping.js';
import type { ArrowField, ArrowType } from '../arrow/types.js';
import { withType } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import { ArrowOptions } from './arrow-options.js';
import { type ColumnDeclaration, withStatementColumns } from './columns.js';
import type { EngineConnection } from './connection.js';
import type { PreparedStatement } from './statement.js';
import { hasUnknownColumns, prepareForTransfer, withProbedColumns } from './transfer.js';

/** See EngineInstance.describe. */
export function describeStatement(
  connection: EngineConnection,
  sql: string,
  mode: ArrowMode,
  parameters: Uint8Array | undefined,
): StatementDescription {
  using statement = prepareForTransfer(connection, sql, mode, parameters);
  using options = new ArrowOptions(connection);
  const schemaOf = (columns: readonly ColumnDeclaration[]) =>
    withFlightMetadata(connection.functions, mode, options.schemaOf(columns), columns);
  // Parameters may change what was inferred without them, so that only running it tells.
  const isProbed =
    statement.isSelect &&
    (hasUnknownColumns(connection, statement) || (parameters !== undefined && statement.parameterCount > 0));
  const schema = isProbed
    ? withProbedColumns(connection, statement.sql, parameters, (columns) =>
        schemaOf(withNamesOf(connection, statement, columns)),
      )
    : withStatementColumns(connection, statement, schemaOf);
  const parameterSchema = {
    fields: parameterFields(connection, options, statement),
    metadata: new Map<string, string>(),
  };
  return {
    schema: encapsulate(encodeSchemaMessage(schema)),
    parameterSchema: encapsulate(encodeSchemaMessage(parameterSchema)),
    parameterCount: statement.parameterCount,
  };
}

/**
 * Two columns may have one name, but not in the subquery that was probed. A statement whose parameters decide what its
 * columns are does not know their names either.
 */
function withNamesOf(
  connection: EngineConnection,
  statement: PreparedStatement,
  columns: readonly ColumnDeclaration[],
): readonly ColumnDeclaration[] {
  if (hasUnknownColumns(connection, statement)) return columns;
  const names = withStatementColumns(connection, statement, (own) => own.map(({ name }) => name));
  return columns.map((column, index) => ({ ...column, name: names[index] ?? column.name }));
}

function parameterFields(
  connection: EngineConnection,
  options: ArrowOptions,
  statement: PreparedStatement,
): ArrowField[] {
  return Array.from({ length: statement.parameterCount }, (_, position) => {
    const name = statement.parameterName(position + 1);
    return withType(connection.functions, statement.parameterType(position + 1), (type) =>
      parameterField(connection, options, name, type),
    );
  });
}

function parameterField(
  connection: EngineConnection,
  options: ArrowOptions,
  name: string,
  type: Address,
): ArrowField {
  const shared = {
    name,
    nullable: true,
    children: [],
    dictionary: undefined,
    metadata: new Map<string, string>(),
  };
  const unknown: ArrowField = { ...shared, type: { kind: 'null' } };
  if (type === 0) return unknown;
  // The engine casts text to these; no client could build their own encodings.
  if (transferType(connection.functions, type, 'client') !== undefined)
    return { ...shared, type: { kind: 'utf8', large: false } };
  const field = options.schemaOf([{ name, type }]).fields[0] ?? unknown;
  return { ...field, type: parameterType(field.type), dictionary: undefined };
}

/**
 * Times are declared in milliseconds: the JDBC driver writes milliseconds into whatever unit it is told. Clients that
 * know better bind their own unit, and the engine takes either.
 */
function parameterType(type: ArrowType): ArrowType {
  return type.kind === 'timestamp' || type.kind === 'time' ? { ...type, unit: 'millisecond' } : type;
}
