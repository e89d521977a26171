import { QueryError } from '@svc/base';
import type { SnapshotPin } from '@svc/lake';
import { rewriteTables, type TableReference, type TimeTravel, tableKey, writeSerializedSql } from '@svc/sql';
import type { Session } from '../identity/session.js';
import { engineSchemaName } from '../information-schema/names.js';
import type { AnalyzedQuery } from './analyze.js';
import { ownerOf, type PlannerDependencies } from './planner-dependencies.js';
import type { TableRequest } from './resolve-tables.js';

export interface PinnedReferences {
  readonly references: readonly TableRequest[];
  /** The statement in the parser's JSON with the names that the engine knows, or undefined when it has them already. */
  readonly rewritten: string | undefined;
}

/**
 * What each table reference is pinned to. A reference with AT gets a view name of its own, so that one statement can
 * read several snapshots of a table; the statement is rewritten to use these names, and the engine's of our
 * information_schema.
 */
export async function pinReferences(
  dependencies: PlannerDependencies,
  { parsed, gated }: AnalyzedQuery,
  session: Session,
  signal: AbortSignal,
): Promise<PinnedReferences> {
  const references: TableRequest[] = [];
  const { namesRowLineage } = gated;
  const viewNames = new Map<string, string>();
  for (const reference of gated.tables) {
    const { timeTravel } = reference;
    if (timeTravel === undefined) {
      references.push({ name: reference, pin: { kind: 'current' }, namesRowLineage });
      continue;
    }
    const viewName = `${reference.table}@${references.length}`;
    viewNames.set(tableKey(reference), viewName);
    references.push({
      name: reference,
      pin: await pinOf(timeTravel, dependencies, session, signal),
      viewName,
      namesRowLineage,
    });
  }
  const isRenamed = (reference: TableReference) => targetOf(reference, viewNames) !== undefined;
  if (!gated.tables.some(isRenamed)) return { references, rewritten: undefined };
  const query = rewriteTables(parsed, (reference) => targetOf(reference, viewNames));
  return { references, rewritten: writeSerializedSql(parsed, query) };
}

function targetOf(reference: TableReference, viewNames: ReadonlyMap<string, string>) {
  const { catalog } = reference;
  const table = viewNames.get(tableKey(reference)) ?? reference.table;
  const schema = reference.schema && engineSchemaName(reference.schema);
  if (table === reference.table && schema === reference.schema) return undefined;
  return {
    ...(catalog === undefined ? {} : { catalog }),
    ...(schema === undefined ? {} : { schema }),
    table,
  };
}

async function pinOf(
  timeTravel: TimeTravel,
  dependencies: PlannerDependencies,
  session: Session,
  signal: AbortSignal,
): Promise<SnapshotPin> {
  switch (timeTravel.kind) {
    case 'snapshot':
      return { kind: 'id', snapshotId: timeTravel.snapshotId };
    case 'ref':
      return { kind: 'reference', name: timeTravel.name };
    case 'now':
      return { kind: 'timestamp', timestampMs: dependencies.now().getTime() };
    case 'timestamp':
      return {
        kind: 'timestamp',
        timestampMs: await readTimestamp(timeTravel, dependencies, session, signal),
      };
  }
}

/** A literal without a zone is in the session's; the engine reads it as it would read it in the statement. */
async function readTimestamp(
  { type, text }: { readonly type: string; readonly text: string },
  { pool }: PlannerDependencies,
  session: Session,
  signal: AbortSignal,
): Promise<number> {
  const lease = await pool.lease({ owner: ownerOf(session), lane: 'small', signal });
  try {
    await lease.execute([`SET TimeZone = '${session.settings.timeZone.replaceAll("'", "''")}'`], signal);
    // Infinity has no milliseconds: NULL, and so an empty text.
    const sql = `SELECT coalesce(epoch_ms(CAST($1::VARCHAR AS TIMESTAMP WITH TIME ZONE))::VARCHAR, '')`;
    const answer = await lease.queryText(sql, [text], signal);
    if (answer !== '') return Number(answer);
  } catch (error) {
    if (error instanceof QueryError && error.category === 'user' && error.code !== 'CANCELLED')
      throw notATimestamp(type, text, error);
    throw error;
  } finally {
    await lease.release();
  }
  throw notATimestamp(type, text);
}

function notATimestamp(type: string, text: string, cause?: QueryError): QueryError {
  return new QueryError(
    'INVALID_ARGUMENT',
    `AT (TIMESTAMP => …): ${JSON.stringify(text.slice(0, 64))} is not a ${type === 'VARCHAR' ? 'timestamp' : type}.`,
    { cause },
  );
}
