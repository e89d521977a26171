import { QueryError } from '@svc/base';
import { RecordBatchReader, tableFromIPC } from 'apache-arrow';

/** A prepared statement of a session: its text, what it was said to answer and take, and what is bound now. */
export interface Prepared {
  readonly sql: string;
  /** As the client sent it, where `sql` is not that any more. */
  readonly sentSql?: string | undefined;
  readonly schema: Uint8Array;
  readonly parameterSchema: Uint8Array;
  /** It changes something: of INSERT many rows of parameters may be bound. */
  readonly isUpdate: boolean;
  /** Arrow IPC stream: of a query one row. */
  readonly parameters: Uint8Array | undefined;
}

/** About how much memory a prepared statement takes. */
export function preparedBytes({ sql, sentSql, schema, parameterSchema, parameters }: Prepared): number {
  return (
    2 * (sql.length + (sentSql?.length ?? 0)) +
    schema.length +
    parameterSchema.length +
    (parameters?.length ?? 0)
  );
}

/**
 * Checks what a client bound: one row, of an update one or more, with as many values as the statement has parameters.
 * JDBC binds an empty batch when there are none: that is no parameters. Throws INVALID_PARAMETER.
 */
export function parametersOf(
  stream: Uint8Array,
  { parameterSchema, isUpdate }: Pick<Prepared, 'parameterSchema' | 'isUpdate'>,
): Uint8Array | undefined {
  const expected = RecordBatchReader.from(parameterSchema).open().schema.fields.length;
  const { rowCount, columnCount } = shapeOf(stream);
  if (expected === 0 && (rowCount === 0 || columnCount === 0)) return undefined;
  if (columnCount !== expected) {
    throw new QueryError(
      'INVALID_PARAMETER',
      `The statement has ${expected} parameters; ${columnCount} were bound.`,
    );
  }
  if (isUpdate ? rowCount === 0 : rowCount !== 1) {
    const wanted = isUpdate
      ? 'An update takes one row of parameters or more'
      : 'A query takes one row of parameters';
    throw new QueryError('INVALID_PARAMETER', `${wanted}; ${rowCount} rows were bound.`);
  }
  return stream;
}

function shapeOf(stream: Uint8Array): { readonly rowCount: number; readonly columnCount: number } {
  try {
    const table = tableFromIPC(stream);
    return { rowCount: table.numRows, columnCount: table.numCols };
  } catch (cause) {
    throw new QueryError('INVALID_PARAMETER', 'The bound parameters are not a readable Arrow stream.', {
      cause,
    });
  }
}
