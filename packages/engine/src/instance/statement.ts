/** A prepared statement of the engine. */
import { QueryError } from '@svc/base';
import type { DuckDbFunctions, OutAddress } from '../capi/functions.js';
import { duckDbType, takeText } from '../capi/logical-type.js';
import type { Address } from '../capi/memory.js';
import type { EngineConnection } from './connection.js';

/** `duckdb_statement_type` of everything that can stand in a FROM clause. */
const selectStatement = 1;

export class PreparedStatement implements Disposable {
  readonly handle: Address;
  /** The text that was prepared. */
  readonly sql: string;
  private readonly functions: DuckDbFunctions;

  private constructor(functions: DuckDbFunctions, handle: Address, sql: string) {
    this.functions = functions;
    this.handle = handle;
    this.sql = sql;
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
    return new PreparedStatement(functions, statement[0], sql);
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

  /** Parameters count from 1; a positional one is named by its number. */
  parameterName(index: number): string {
    return takeText(this.functions, this.functions.parameterName(this.handle, index));
  }

  /** The caller destroys the type; 0 where the engine did not infer one. */
  parameterType(index: number): Address {
    if (this.functions.parameterType(this.handle, index) === duckDbType.invalid) return 0;
    return this.functions.parameterLogicalType(this.handle, index);
  }

  [Symbol.dispose](): void {
    this.functions.destroyPrepare([this.handle]);
  }
}

/** The engine takes NUL-terminated UTF-8: text that would be cut or altered is refused. */
export function assertSqlText(sql: string): void {
  if (sql.includes('\0')) throw new QueryError('SYNTAX_ERROR', 'The SQL text contains a NUL character.');
  if (/\p{Surrogate}/u.test(sql))
    throw new QueryError('SYNTAX_ERROR', 'The SQL text is not well-formed Unicode: it has a lone surrogate.');
}

/**
 * Prepares `<head> FROM (<sql>) <tail>`. A statement that parses on its own may end in a semicolon, with comments behind
 * it: cutting that off is tried second, because the same characters may end a text literal.
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
    const isCut = error instanceof QueryError && error.code === 'SYNTAX_ERROR' && terminator.test(sql);
    if (!isCut) throw error;
    return wrap(sql.replace(terminator, ''));
  }
}
