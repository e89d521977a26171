/**
 * A statement that runs once for each of many rows of parameters (executemany, JDBC's executeBatch), as one statement: the
 * rows land in the engine as a table, and the query stands behind it, laterally.
 */
import { QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import { inlineParameters, quoteIdentifier, splitStatements } from '@svc/sql';
import { tableFromIPC } from 'apache-arrow';
import type { QueryPlan } from '../planner/plan-query.js';
import { arrowSchemaOf, landingTable } from './landed-rows.js';

/** Rows of an Arrow IPC stream of parameters. */
export function parameterRowCount(parameters: Uint8Array): number {
  return tableFromIPC(parameters).numRows;
}

export interface RowsByParameters {
  readonly sql: string;
  fill(lease: EngineLease, signal: AbortSignal): Promise<void>;
}

/**
 * `plan` is that of the query without values. Throws NOT_SUPPORTED when it reads tables: what it may skip of them hangs
 * on the values, and they are another set in each row.
 */
export function rowsByParameters(
  { fragment }: Pick<QueryPlan, 'fragment'>,
  identifiers: readonly string[],
  parameters: Uint8Array,
): RowsByParameters {
  if (fragment.tables.length > 0) throw oneRowOnly();
  const landing = landingTable(arrowSchemaOf(parameters));
  const source = quoteIdentifier(landing.name);
  const values = new Map(
    identifiers.map((identifier, position) => [identifier, ` ${source}.${landing.column(position)} `]),
  );
  const [query] = splitStatements(fragment.sql);
  return {
    sql: `SELECT answer.* FROM ${landing.name} AS ${source}, LATERAL (\n${inlineParameters(query?.sql ?? '', values)}\n) AS answer`,
    fill: async (lease, signal) => {
      await landing.fill(lease, onePiece(parameters), signal);
    },
  };
}

export function oneRowOnly(): QueryError {
  return new QueryError(
    'NOT_SUPPORTED',
    'Several rows of parameters are taken by INSERT … VALUES; a query that reads tables takes one row.',
  );
}

async function* onePiece(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
