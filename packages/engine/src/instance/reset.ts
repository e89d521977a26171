/** What a lease leaves behind in the catalog, found with one query (the catalog functions take a millisecond each). */

const path = (...columns: readonly string[]) =>
  columns.map((column) => `'"' || replace(${column}, '"', '""') || '"'`).join(" || '.' || ");

const ofLease = "NOT internal AND database_name IN ('memory', 'temp')";

/** Answers the statements that remove every user object and attached database, as one JSON array of texts. */
export const resetQuery = `
  SELECT coalesce(to_json(list(statement ORDER BY step)), '[]')::VARCHAR FROM (
    SELECT 1 AS step, 'DETACH ' || ${path('database_name')} AS statement
      FROM duckdb_databases() WHERE NOT internal AND database_name <> 'memory'
    UNION ALL
    SELECT 2, 'DROP VIEW IF EXISTS ' || ${path('database_name', 'schema_name', 'view_name')} || ' CASCADE'
      FROM duckdb_views() WHERE ${ofLease}
    UNION ALL
    SELECT 3, 'DROP TABLE IF EXISTS ' || ${path('database_name', 'schema_name', 'table_name')} || ' CASCADE'
      FROM duckdb_tables() WHERE ${ofLease}
    UNION ALL
    SELECT 4, 'DROP TYPE IF EXISTS ' || ${path('database_name', 'schema_name', 'type_name')} || ' CASCADE'
      FROM duckdb_types() WHERE ${ofLease}
    UNION ALL
    SELECT 5, 'DROP SEQUENCE IF EXISTS ' || ${path('database_name', 'schema_name', 'sequence_name')} || ' CASCADE'
      FROM duckdb_sequences() WHERE database_name IN ('memory', 'temp')
    UNION ALL
    SELECT 6, 'DROP SCHEMA IF EXISTS ' || ${path('database_name', 'schema_name')} || ' CASCADE'
      FROM duckdb_schemas() WHERE NOT internal AND database_name = 'memory' AND schema_name <> 'main'
  )`;

/** Statements whose traces the query above does not find: functions are too many to list, variables cannot be listed. */
const untraceable = /\b(?:macro|function|variable|secret|prepare)\b/i;

/** Whether the instance must be replaced, rather than reset, after this statement of ours. */
export function leavesUntraceableState(sql: string): boolean {
  return untraceable.test(sql);
}
