/** DuckDB's own parser and catalog for the tests of the SQL gate: the pinned engine library, nothing else of the engine. */
import { createRequire } from 'node:module';
import path from 'node:path';
import koffi from 'koffi';

/** `query` answers the single text value of a query, or throws the engine's message. */
export interface DuckDbParser {
  query(sql: string): string;
  execute(sql: string): void;
  close(): void;
}

const libraryNames: Readonly<Record<string, string>> = { darwin: 'libduckdb.dylib', linux: 'libduckdb.so' };

export function openDuckDbParser(): DuckDbParser {
  const packageName = `@duckdb/node-bindings-${process.platform}-${process.arch}`;
  const folder = path.dirname(createRequire(import.meta.url).resolve(`${packageName}/package.json`));
  const library = koffi.load(path.join(folder, libraryNames[process.platform] ?? 'libduckdb.so'));
  const open = library.func('int duckdb_open(const char *path, _Out_ void **database)');
  const connect = library.func('int duckdb_connect(void *database, _Out_ void **connection)');
  const disconnect = library.func('void duckdb_disconnect(void **connection)');
  const closeDatabase = library.func('void duckdb_close(void **database)');
  const run = library.func('int duckdb_query(void *connection, const char *sql, void *result)');
  const resultError = library.func('const char *duckdb_result_error(void *result)');
  const valueText = library.func('void *duckdb_value_varchar(void *result, uint64_t column, uint64_t row)');
  const free = library.func('void duckdb_free(void *pointer)');
  const destroy = library.func('void duckdb_destroy_result(void *result)');

  const database: [unknown] = [null];
  const connection: [unknown] = [null];
  if (open(null, database) !== 0 || connect(database[0], connection) !== 0)
    throw new Error('DuckDB did not open');

  const withResult = <T>(sql: string, read: (result: Uint8Array) => T): T => {
    // duckdb_result is six machine words.
    const result = new Uint8Array(48);
    try {
      if (run(connection[0], sql, result) !== 0) throw new Error(String(resultError(result)));
      return read(result);
    } finally {
      destroy(result);
    }
  };
  return {
    execute: (sql) => withResult(sql, () => undefined),
    query: (sql) =>
      withResult(sql, (result) => {
        const pointer: unknown = valueText(result, 0, 0);
        if (pointer === null) throw new Error(`no value: ${sql.slice(0, 80)}`);
        try {
          return String(koffi.decode(pointer, 'char', -1));
        } finally {
          free(pointer);
        }
      }),
    close: () => {
      disconnect(connection);
      closeDatabase(database);
    },
  };
}

export function quoteText(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
