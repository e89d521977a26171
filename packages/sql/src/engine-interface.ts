/** What this package needs of an engine. DuckDB's own parser and planner are the authority (docs/ARCHITECTURE.md). */
export interface SqlParser {
  /** The text that `json_serialize_sql` answers, error objects included. */
  serialize(sql: string, signal?: AbortSignal): Promise<string>;
  /** SQL text of an AST in the same form. */
  deserialize(json: string, signal?: AbortSignal): Promise<string>;
}
