/** Names of schemas, tables and columns, asked for when they are needed and kept for a while. */
import type { SqlSession } from '../answer/answer.js';
import { columnText } from '../answer/column-text.js';
import { readBatches } from '../answer/read-batches.js';

export interface NameSource {
  schemas(signal: AbortSignal): Promise<readonly string[]>;
  tables(schema: string, signal: AbortSignal): Promise<readonly string[]>;
  /** Of a table by the parts of its name. */
  columns(table: readonly string[], signal: AbortSignal): Promise<readonly string[]>;
  /** What was known may have changed. */
  forget(): void;
}

/** A name as it is written in SQL in any case. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function sessionNames(session: SqlSession): NameSource {
  const known = new Map<string, Promise<readonly string[]>>();
  const ask = (sql: string, signal: AbortSignal): Promise<readonly string[]> => {
    const answer = known.get(sql) ?? firstColumn(session, sql, signal);
    known.set(sql, answer);
    // What failed is asked again the next time.
    answer.catch(() => known.delete(sql));
    return answer;
  };
  return {
    schemas: (signal) => ask('SHOW SCHEMAS', signal),
    tables: (schema, signal) => ask(`SHOW TABLES IN ${quoted(schema)}`, signal),
    columns: (table, signal) => ask(`DESCRIBE ${table.map(quoted).join('.')}`, signal),
    forget: () => known.clear(),
  };
}

async function firstColumn(
  session: SqlSession,
  sql: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const batch of readBatches(await session.run(sql, { signal }))) {
    const [data] = batch.data.children;
    const column = data && columnText(data, { separator: ' ' });
    for (let row = 0; row < batch.numRows; row++) names.push(column?.text(row) ?? '');
  }
  return names;
}
