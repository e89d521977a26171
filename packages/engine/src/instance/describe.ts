/** Schemas of statements: of a prepared one without running it, and of a running one. */
import type { StatementDescription } from '../api.js';
import { encapsulate, encodeSchemaMessage } from '../arrow/ipc-encode.js';
import { type ArrowMode, transferType } from '../arrow/type-mapping.js';
import type { ArrowField, ArrowSchema } from '../arrow/types.js';
import { withType } from '../capi/logical-type.js';
import { readText } from '../capi/memory.js';
import { ArrowOptions, type ColumnDeclaration } from './arrow-options.js';
import type { EngineConnection, ResultMemory } from './connection.js';
import { bindNulls, bindParameters } from './parameters.js';
import { startStatement } from './run.js';
import { PreparedStatement, prepareSubquery } from './statement.js';

/** See EngineInstance.describe. */
export function describeStatement(
  connection: EngineConnection,
  sql: string,
  mode: ArrowMode,
  parameters: Uint8Array | undefined,
): StatementDescription {
  using statement = PreparedStatement.prepareFor(connection, sql, mode);
  using options = new ArrowOptions(connection);
  const schema = statement.hasUnknownColumns
    ? schemaOfRun(connection, options, sql, parameters)
    : preparedSchema(connection, options, statement);
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

/** The schema of a running statement's result. */
export function resultSchema(
  connection: EngineConnection,
  options: ArrowOptions,
  result: ResultMemory,
): ArrowSchema {
  const { functions } = connection;
  const { address } = result;
  return schemaOfColumns(connection, options, functions.resultColumnCount(address), (index) => ({
    // The result keeps its column names; only those of prepared statements are ours to free.
    name: readText(functions.resultColumnName(address, index)),
    type: functions.resultColumnLogicalType(address, index),
  }));
}

function preparedSchema(
  connection: EngineConnection,
  options: ArrowOptions,
  statement: PreparedStatement,
): ArrowSchema {
  return schemaOfColumns(connection, options, statement.columnCount, (index) => ({
    name: statement.columnName(index),
    type: statement.columnType(index),
  }));
}

function schemaOfColumns(
  connection: EngineConnection,
  options: ArrowOptions,
  count: number,
  column: (index: number) => ColumnDeclaration,
): ArrowSchema {
  const columns: ColumnDeclaration[] = [];
  try {
    for (let index = 0; index < count; index++) columns.push(column(index));
    return options.schemaOf(columns);
  } finally {
    for (const { type } of columns) connection.functions.destroyLogicalType([type]);
  }
}

/**
 * The schema that these parameters lead to: the statement runs as a subquery that needs no row. Without parameters all
 * are NULL, so that a column hanging on one gets the engine's type for an unknown value.
 */
function schemaOfRun(
  connection: EngineConnection,
  options: ArrowOptions,
  sql: string,
  parameters: Uint8Array | undefined,
): ArrowSchema {
  using probe = prepareSubquery(connection, 'SELECT *', sql, 'LIMIT 0');
  if (parameters === undefined) bindNulls(connection, probe);
  else bindParameters(connection, probe, parameters);
  const result = startStatement(connection, probe);
  try {
    return resultSchema(connection, options, result);
  } finally {
    result.close();
  }
}

function parameterFields(
  connection: EngineConnection,
  options: ArrowOptions,
  statement: PreparedStatement,
): ArrowField[] {
  return Array.from({ length: statement.parameterCount }, (_, position) => {
    const name = statement.parameterName(position + 1);
    return withType(connection.functions, statement.parameterType(position + 1), (type): ArrowField => {
      const simple = (kind: 'null' | 'utf8'): ArrowField => ({
        name,
        nullable: true,
        type: kind === 'null' ? { kind } : { kind, large: false },
        children: [],
        dictionary: undefined,
        metadata: new Map(),
      });
      if (type === 0) return simple('null');
      // The engine casts text to these; no client could build their own encodings.
      if (transferType(connection.functions, type, 'client') !== undefined) return simple('utf8');
      const field = options.schemaOf([{ name, type }]).fields[0] ?? simple('null');
      return { ...field, dictionary: undefined };
    });
  });
}
