/** One connection of the pinned engine, with nothing locked down: prepare, run with texts as parameters, read texts. */
import { createRequire } from 'node:module';
import path from 'node:path';
import koffi from 'koffi';

/** A statement that was bound. */
export interface BoundStatement {
  /** As duckdb_statement_type: 1 is SELECT. */
  readonly statementType: number;
  /** The texts of one column. Rejects with the engine's message. */
  run(): Promise<readonly (string | null)[]>;
}

export interface DuckDbSession {
  /** Binds; `use` runs the statement, which ends with it. Rejects with the engine's message. Interrupts what takes long. */
  bind<T>(sql: string, options: RunOptions, use: (statement: BoundStatement) => Promise<T>): Promise<T>;
  run(sql: string, options: RunOptions): Promise<readonly (string | null)[]>;
}

export interface RunOptions {
  readonly parameters: readonly string[];
  readonly timeoutMs: number;
  readonly column?: number;
  readonly maxRows?: number;
}

const libraryNames: Readonly<Record<string, string>> = { darwin: 'libduckdb.dylib', linux: 'libduckdb.so' };

export function openDuckDbSession(): DuckDbSession {
  const packageName = `@duckdb/node-bindings-${process.platform}-${process.arch}`;
  const folder = path.dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  const library = koffi.load(path.join(folder, libraryNames[process.platform] ?? 'libduckdb.so'));
  const open = library.func('int duckdb_open(const char *path, _Out_ void **database)');
  const connect = library.func('int duckdb_connect(void *database, _Out_ void **connection)');
  const interrupt = library.func('void duckdb_interrupt(void *connection)');
  const prepare = library.func(
    'int duckdb_prepare(void *connection, const char *sql, _Out_ void **statement)',
  );
  const prepareError = library.func('const char *duckdb_prepare_error(void *statement)');
  const parameterCount = library.func('uint64_t duckdb_nparams(void *statement)');
  const statementType = library.func('int duckdb_prepared_statement_type(void *statement)');
  const bindText = library.func('int duckdb_bind_varchar(void *statement, uint64_t index, const char *text)');
  const execute = library.func('int duckdb_execute_prepared(void *statement, void *result)');
  const destroyPrepare = library.func('void duckdb_destroy_prepare(_Inout_ void **statement)');
  const resultError = library.func('const char *duckdb_result_error(void *result)');
  const rowCount = library.func('uint64_t duckdb_row_count(void *result)');
  const valueText = library.func('void *duckdb_value_varchar(void *result, uint64_t column, uint64_t row)');
  const free = library.func('void duckdb_free(void *pointer)');
  const destroy = library.func('void duckdb_destroy_result(void *result)');

  const database: [unknown] = [null];
  const connection: [unknown] = [null];
  if (open(null, database) !== 0 || connect(database[0], connection) !== 0)
    throw new Error('DuckDB did not open');

  /** On a thread of its own, so that a timer can interrupt it. */
  const apart = (call: (done: (error: unknown, code: number) => void) => void, timeoutMs: number) =>
    new Promise<number>((resolve, reject) => {
      const timer = setInterval(() => interrupt(connection[0]), timeoutMs);
      call((error, code) => {
        clearInterval(timer);
        if (error) reject(error);
        else resolve(code);
      });
    });

  const readText = (result: Uint8Array, column: number, row: number): string | null => {
    const pointer: unknown = valueText(result, column, row);
    if (pointer === null) return null;
    try {
      return String(koffi.decode(pointer, 'char', -1));
    } finally {
      free(pointer);
    }
  };

  const bind: DuckDbSession['bind'] = async (
    sql,
    { parameters, timeoutMs, column = 0, maxRows = 1 },
    use,
  ) => {
    const prepared: [unknown] = [null];
    try {
      const code = await apart((done) => prepare.async(connection[0], sql, prepared, done), timeoutMs);
      const [statement] = prepared;
      if (code !== 0) throw new Error(String(prepareError(statement)));
      const run = async () => {
        const count = Number(parameterCount(statement));
        for (let index = 0; index < count; index++)
          bindText(statement, index + 1, parameters[index % parameters.length] ?? '');
        // duckdb_result is six machine words.
        const result = new Uint8Array(48);
        try {
          const code = await apart((done) => execute.async(statement, result, done), timeoutMs);
          if (code !== 0) throw new Error(String(resultError(result)));
          const rows = Math.min(maxRows, Number(rowCount(result)));
          return Array.from({ length: rows }, (_, row) => readText(result, column, row));
        } finally {
          destroy(result);
        }
      };
      return await use({ statementType: Number(statementType(statement)), run });
    } finally {
      destroyPrepare(prepared);
    }
  };
  return { bind, run: (sql, options) => bind(sql, options, ({ run }) => run()) };
}
