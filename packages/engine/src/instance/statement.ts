/** A prepared statement of the engine, and what is known of it before it runs. */
import { QueryError } from '@svc/base';
import { type ArrowMode, containsVariant, transferType } from '../arrow/type-mapping.js';
import type { DuckDbFunctions, OutAddress } from '../capi/functions.js';
import { duckDbType, quoteName, takeText, withType } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import type { EngineConnection } from './connection.js';

/** `duckdb_statement_type` of everything that can stand in a FROM clause. */
const selectStatement = 1;

export class PreparedStatement implements Disposable {
  readonly handle: Address;
  private readonly functions: DuckDbFunctions;

  private constructor(functions: DuckDbFunctions, handle: Address) {
    this.functions = functions;
    this.handle = handle;
  }

  /** Parses and binds one statement. Throws what the engine says: SYNTAX_ERROR, BINDING_ERROR, … */
  static prepare(connection: EngineConnection, sql: string): PreparedStatement {
    assertSqlText(sql);
    const statement: OutAddress = [0];
    const { functions } = connection;
    if (functions.prepare(connection.handle, sql, statement) !== 0) {
      const error = connection.error(statement[0] === 0 ? null : functions.prepareError(statement[0]));
      functions.destroyPrepare(statement);
      throw error;
    }
    if (functions.statementType(statement[0]) === 0) {
      functions.destroyPrepare(statement);
      throw new QueryError('SYNTAX_ERROR', 'The text holds no statement.');
    }
    return new PreparedStatement(functions, statement[0]);
  }

  /** Prepares a statement whose columns the mode can carry: with casts around it where it must (type-mapping.ts). */
  static prepareFor(connection: EngineConnection, sql: string, mode: ArrowMode): PreparedStatement {
    const statement = PreparedStatement.prepare(connection, sql);
    try {
      const casts = statement.transferCasts(mode);
      if (casts === undefined) return statement;
      const wrapped = prepareSubquery(connection, `SELECT ${casts.join(', ')}`, sql);
      statement[Symbol.dispose]();
      return wrapped;
    } catch (error) {
      statement[Symbol.dispose]();
      throw error;
    }
  }

  get columnCount(): number {
    return this.functions.columnCount(this.handle);
  }

  get parameterCount(): number {
    return this.functions.parameterCount(this.handle);
  }

  get isSelect(): boolean {
    return this.functions.statementType(this.handle) === selectStatement;
  }

  columnName(index: number): string {
    return takeText(this.functions, this.functions.columnName(this.handle, index));
  }

  /** The caller destroys the type. */
  columnType(index: number): Address {
    return this.functions.columnLogicalType(this.handle, index);
  }

  /** Parameters count from 1; a positional one is named by its number. */
  parameterName(index: number): string {
    return takeText(this.functions, this.functions.parameterName(this.handle, index));
  }

  /** The caller destroys the type; 0 where the engine did not infer one. */
  parameterType(index: number): Address {
    if (this.functions.parameterType(this.handle, index) === duckDbType.invalid) return 0;
    return this.functions.parameterLogicalType(this.handle, index);
  }

  /** Whether a column's type depends on a parameter whose type is not known yet. */
  get hasUnknownColumns(): boolean {
    for (let index = 0; index < this.columnCount; index++) {
      const known = withType(this.functions, this.columnType(index), (type) => {
        return type !== 0 && this.functions.typeId(type) !== duckDbType.invalid;
      });
      if (!known) return true;
    }
    return false;
  }

  [Symbol.dispose](): void {
    this.functions.destroyPrepare([this.handle]);
  }

  /** Select list over the statement as a subquery, or undefined when every column is carried as it is. */
  private transferCasts(mode: ArrowMode): string[] | undefined {
    if (this.hasUnknownColumns) return undefined;
    let changes = false;
    const casts = Array.from({ length: this.columnCount }, (_, index) => {
      const name = this.columnName(index);
      const target = withType(this.functions, this.columnType(index), (type) => {
        if (mode === 'lossless' && containsVariant(this.functions, type))
          throw new QueryError(
            'NOT_SUPPORTED',
            `Column "${name}" is a VARIANT, which cannot be exchanged between engines: cast it to JSON.`,
          );
        return transferType(this.functions, type, mode);
      });
      if (target === undefined) return `#${index + 1} AS ${quoteName(name)}`;
      changes = true;
      if (!this.isSelect)
        throw new QueryError(
          'NOT_SUPPORTED',
          `Column "${name}" has a type that only a SELECT can answer: cast it to VARCHAR.`,
        );
      return `CAST(#${index + 1} AS ${target}) AS ${quoteName(name)}`;
    });
    return changes ? casts : undefined;
  }
}

/** The engine takes NUL-terminated UTF-8: text that would be cut or altered is refused. */
export function assertSqlText(sql: string): void {
  if (sql.includes('\0')) throw new QueryError('SYNTAX_ERROR', 'The SQL text contains a NUL character.');
  if (/\p{Surrogate}/u.test(sql))
    throw new QueryError('SYNTAX_ERROR', 'The SQL text is not well-formed Unicode: it has a lone surrogate.');
}

/**
 * Prepares `<head> FROM (<sql>) <tail>`. A statement that parses on its own may end in a semicolon, with comments behind it:
 * cutting that off is tried second, because the same characters may end a text literal.
 */
export function prepareSubquery(
  connection: EngineConnection,
  head: string,
  sql: string,
  tail = '',
): PreparedStatement {
  const wrap = (inner: string) =>
    PreparedStatement.prepare(connection, `${head} FROM (\n${inner}\n) ${tail}`);
  try {
    return wrap(sql);
  } catch (error) {
    const terminator = /;(?:\s|;|--[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*$/;
    if (!(error instanceof QueryError) || error.code !== 'SYNTAX_ERROR' || !terminator.test(sql)) throw error;
    return wrap(sql.replace(terminator, ''));
  }
}
