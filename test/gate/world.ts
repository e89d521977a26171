/**
 * What the traced engine holds. The catalog's tables are views over literals: running a statement on them opens no file
 * and scans no table, so whatever is opened or scanned came from outside of the catalog. Everything outside answers the
 * canary, and its views open a file as soon as they are bound.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Kind } from './grammar/signatures.js';

/** In the content of everything that a statement must not see; never in a statement. */
export const canary = 'QX7CANARY';

export interface CatalogTable {
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly (readonly [name: string, kind: Kind])[];
  readonly rows: string;
}

export const catalogName = 'lake';
export const defaultSchema = 's';

export const catalogTables: readonly CatalogTable[] = [
  {
    schema: 's',
    table: 'orders',
    columns: [
      ['id', 'integer'],
      ['customer', 'text'],
      ['price', 'number'],
      ['ordered', 'date'],
      ['paid', 'boolean'],
    ],
    rows: `SELECT range::INTEGER, 'c' || range % 3, range * 1.5, DATE '2024-01-01' + range::INTEGER, range % 2 = 0 FROM range(12)`,
  },
  {
    schema: 's',
    table: 'customers',
    columns: [
      ['customer', 'text'],
      ['since', 'timestamp'],
      ['region', 'text'],
      ['score', 'number'],
    ],
    rows: `VALUES ('c0', TIMESTAMP '2020-01-01', 'north', 1.5::DOUBLE), ('c1', NULL, 'vault/notes.csv', 2), ('c2', TIMESTAMP '2021-05-05', NULL, NULL)`,
  },
  {
    schema: 's',
    table: 'events',
    columns: [
      ['id', 'integer'],
      ['tags', 'list'],
      ['place', 'struct'],
      ['counts', 'map'],
      ['document', 'json'],
      ['user', 'text'],
    ],
    rows: `VALUES (1, ['a', 'b'], {'a': 1, 'b': 'x'}, MAP {'k': 1}, '{"a": [1, 2]}'::JSON, 'u'), (2, [], NULL, NULL, 'null'::JSON, 'v')`,
  },
  {
    schema: 'Odd Schema',
    table: 'Tëst "quoted" 🦆',
    columns: [
      ['a b', 'integer'],
      ['select', 'text'],
    ],
    rows: `VALUES (1, 'x'), (2, 'y')`,
  },
];

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Files that statements could find; all relative to the engine's working folder, which is otherwise empty. */
export function writeCanaryFiles(folder: string): void {
  mkdirSync(join(folder, 'vault'), { recursive: true });
  for (const name of ['notes.csv', 'trip.csv', 'notes.txt'])
    writeFileSync(join(folder, 'vault', name), `a,b\n1,${canary}\n`);
  writeFileSync(join(folder, 'vault', 'notes.json'), `[{"a": "${canary}"}]`);
}

/** Statements that a fresh engine runs in the working folder; none may fail. */
export function worldStatements(): readonly string[] {
  const trap = `SELECT * FROM read_csv('vault/trip.csv')`;
  const schemas = new Set(catalogTables.map(({ schema }) => schema));
  return [
    `SET temp_directory = '/nowhere/${canary}'`,
    `SET http_proxy = '${canary}'`,
    `SET VARIABLE secret_variable = '${canary}'`,
    "SET TimeZone = 'UTC'",
    'SET threads = 1',
    "SET memory_limit = '1GB'",
    `COPY (SELECT '${canary}' AS a) TO 'vault/notes.parquet'`,
    "ATTACH 'vault/store.db' AS strongbox",
    "ATTACH ':memory:' AS lake",
    `CREATE TABLE strongbox.notes AS SELECT '${canary}' AS a`,
    `CREATE VIEW strongbox.trap AS ${trap}`,
    `CREATE TYPE strongbox.mood AS ENUM ('${canary}', 'b')`,
    `CREATE MACRO strongbox.peek(x := 1) AS '${canary}'`,
    'CREATE SEQUENCE strongbox.counter',
    `CREATE VIEW memory.trap AS ${trap}`,
    `CREATE MACRO memory.peek(x := 1) AS '${canary}'`,
    `CREATE TYPE memory.main.mood AS ENUM ('${canary}', 'b')`,
    `CREATE TEMP VIEW trap AS ${trap}`,
    'CREATE SCHEMA lake.hidden',
    `CREATE VIEW lake.hidden.trap AS ${trap}`,
    ...[...schemas].map((schema) => `CREATE SCHEMA lake.${quoteName(schema)}`),
    // Names that statements give to common tables: a reference that is none of them after all ends here.
    ...['trap', ...commonNames].map((name) => `CREATE VIEW lake.s.${name} AS ${trap}`),
    ...catalogTables.map(
      ({ schema, table, columns, rows }) =>
        `CREATE VIEW lake.${quoteName(schema)}.${quoteName(table)} (${columns.map(([name]) => quoteName(name)).join(', ')}) AS ${rows}`,
    ),
    "SET explain_output = 'all'",
    'USE lake.s',
  ];
}

/** What WITH calls its tables. */
export const commonNames: readonly string[] = ['w0', 'w1', 'w2'];

/** One text that is another one as soon as a statement has changed anything that the engine keeps. */
export const stateQuery = `SELECT md5(concat_ws('|',
  (SELECT string_agg(name || '=' || coalesce(value, ''), ',' ORDER BY name) FROM duckdb_settings()),
  (SELECT string_agg(t::VARCHAR, ',' ORDER BY t::VARCHAR) FROM (SELECT database_name, schema_name, table_name, estimated_size FROM duckdb_tables()) t),
  (SELECT string_agg(v::VARCHAR, ',' ORDER BY v::VARCHAR) FROM (SELECT database_name, schema_name, view_name FROM duckdb_views()) v),
  (SELECT string_agg(f::VARCHAR, ',' ORDER BY f::VARCHAR) FROM (SELECT database_name, schema_name, function_name, parameters FROM duckdb_functions()) f),
  (SELECT string_agg(d::VARCHAR, ',' ORDER BY d::VARCHAR) FROM (SELECT database_name, path FROM duckdb_databases()) d),
  (SELECT string_agg(s::VARCHAR, ',' ORDER BY s::VARCHAR) FROM (SELECT database_name, schema_name FROM duckdb_schemas()) s),
  (SELECT string_agg(q::VARCHAR, ',' ORDER BY q::VARCHAR) FROM duckdb_sequences() q),
  (SELECT string_agg(y::VARCHAR, ',' ORDER BY y::VARCHAR) FROM (SELECT database_name, schema_name, type_name FROM duckdb_types()) y),
  (SELECT string_agg(c::VARCHAR, ',' ORDER BY c::VARCHAR) FROM duckdb_secrets() c),
  (SELECT string_agg(b::VARCHAR, ',' ORDER BY b::VARCHAR) FROM duckdb_variables() b),
  (SELECT string_agg(p::VARCHAR, ',' ORDER BY p::VARCHAR) FROM duckdb_prepared_statements() p),
  (SELECT string_agg(extension_name, ',' ORDER BY extension_name) FROM duckdb_extensions() WHERE loaded)))`;
