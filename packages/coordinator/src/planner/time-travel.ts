import { linkAbort, QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import type { SnapshotPin } from '@svc/lake';
import {
  deserializeQuery,
  quoteString,
  rewriteTables,
  selectOfExpression,
  statementValueMacros,
  type TableReference,
  type TimeTravel,
  tableKey,
  writeSerializedSql,
} from '@svc/sql';
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

export interface TimeTravelOptions {
  readonly session: Session;
  readonly signal: AbortSignal;
  /** The statement's moment, for now() in a point in time. */
  readonly nowMs: number;
}

/**
 * What each table reference is pinned to. A reference with AT gets a view name of its own, so that one statement can
 * read several snapshots of a table; the statement is rewritten to use these names, and the engine's of our
 * information_schema.
 */
export async function pinReferences(
  dependencies: PlannerDependencies,
  { parsed, gated }: AnalyzedQuery,
  options: TimeTravelOptions,
): Promise<PinnedReferences> {
  const references: TableRequest[] = [];
  const { namesRowLineage } = gated;
  const viewNames = new Map<string, string>();
  for (const reference of gated.tables) {
    const request = await pinReference(dependencies, reference, String(references.length), options);
    if (request.viewName !== undefined) viewNames.set(tableKey(reference), request.viewName);
    references.push({ ...request, namesRowLineage });
  }
  const isRenamed = (reference: TableReference) => targetOf(reference, viewNames) !== undefined;
  if (!gated.tables.some(isRenamed)) return { references, rewritten: undefined };
  const query = rewriteTables(parsed, (reference) => targetOf(reference, viewNames));
  return { references, rewritten: writeSerializedSql(parsed, query) };
}

/** `suffix` tells the reference's view name from those of all others of the statement. */
export async function pinReference(
  dependencies: PlannerDependencies,
  reference: TableReference,
  suffix: string,
  options: TimeTravelOptions,
): Promise<TableRequest> {
  const { timeTravel } = reference;
  if (timeTravel === undefined) return { name: reference, pin: { kind: 'current' } };
  return {
    name: reference,
    pin: await pinOf(timeTravel, dependencies, options),
    viewName: `${reference.table}@${suffix}`,
  };
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
  options: TimeTravelOptions,
): Promise<SnapshotPin> {
  switch (timeTravel.kind) {
    case 'snapshot':
      return { kind: 'id', snapshotId: timeTravel.snapshotId };
    case 'ref':
      return { kind: 'reference', name: timeTravel.name };
    case 'now':
      return { kind: 'timestamp', timestampMs: options.nowMs };
    case 'timestamp': {
      const { type, text } = timeTravel;
      const what = `${JSON.stringify(text.slice(0, 64))} is not a ${type === 'VARCHAR' ? 'timestamp' : type}.`;
      const compute: Compute = (lease, signal) =>
        lease.queryText(millisecondsOf('$1::VARCHAR'), [text], signal);
      return { kind: 'timestamp', timestampMs: await timestampOf(compute, what, dependencies, options) };
    }
    case 'expression': {
      const compute: Compute = (lease, signal) => computeTime(lease, timeTravel.expression, options, signal);
      const timestampMs = await timestampOf(compute, 'it is not a time.', dependencies, options);
      return { kind: 'timestamp', timestampMs };
    }
  }
}

type Compute = (lease: EngineLease, signal: AbortSignal) => Promise<string>;

/** Infinity has no milliseconds: NULL, and so an empty text. */
function millisecondsOf(time: string): string {
  return `SELECT coalesce(epoch_ms(CAST(${time} AS TIMESTAMP WITH TIME ZONE))::VARCHAR, '')`;
}

async function computeTime(
  lease: EngineLease,
  expression: string,
  { session, nowMs }: TimeTravelOptions,
  signal: AbortSignal,
): Promise<string> {
  const { catalog, schema = '' } = session.settings;
  const nowMicros = BigInt(nowMs) * 1000n;
  await lease.execute(
    statementValueMacros({ nowMicros, user: session.identity.username, catalog, schema }),
    signal,
  );
  const select = await lease.queryText(deserializeQuery, [selectOfExpression(expression)], signal);
  return await lease.queryText(millisecondsOf(`(${select})`), [], signal);
}

/** A point in time can be an expression that takes for ever, and its engine is one that everybody's planning needs. */
const maxComputingMs = 10_000;

/** A time without a zone is in the session's; the engine reads it as it would read it in the statement. */
async function timestampOf(
  compute: Compute,
  problem: string,
  { pool }: PlannerDependencies,
  { session, signal }: TimeTravelOptions,
): Promise<number> {
  const lease = await pool.lease({ owner: ownerOf(session), lane: 'small', signal });
  using link = linkAbort(signal, maxComputingMs, computingTooLong);
  try {
    await lease.execute([`SET TimeZone = ${quoteString(session.settings.timeZone)}`], link.signal);
    const answer = await compute(lease, link.signal);
    if (answer !== '') return Number(answer);
  } catch (error) {
    if (error instanceof QueryError && error.category === 'user' && error.code !== 'CANCELLED')
      throw notATime(problem, error);
    throw error;
  } finally {
    await lease.release();
  }
  throw notATime(problem);
}

function computingTooLong(): QueryError {
  return new QueryError(
    'QUERY_TIMEOUT',
    `AT (TIMESTAMP => …): it was not computed within ${maxComputingMs / 1000} s.`,
  );
}

function notATime(problem: string, cause?: QueryError): QueryError {
  return new QueryError('INVALID_ARGUMENT', `AT (TIMESTAMP => …): ${problem}`, { cause });
}
