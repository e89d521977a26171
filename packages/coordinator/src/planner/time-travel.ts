import { linkAbort, QueryError } from '@svc/base';
import type { EngineLease } from '@svc/engine';
import type { SnapshotPin } from '@svc/lake';
import {
  quoteString,
  rewriteTables,
  type TableReference,
  type TimeExpression,
  type TimeTravel,
  tableKey,
  writeSerializedSql,
} from '@svc/sql';
import type { Session } from '../identity/session.js';
import { engineSchemaName } from '../information-schema/names.js';
import type { AnalyzedQuery } from './analyze.js';
import { ownerOf, type PlannerDependencies } from './planner-dependencies.js';
import { type BoundParameters, selectOfPoint } from './point-parameters.js';
import type { TableRequest } from './resolve-tables.js';
import { statementSetup } from './statement-setup.js';

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
  /** For points in time; a statement that is only described has none yet. */
  readonly parameters: BoundParameters | 'not bound yet';
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
  const viewName = `${reference.table}@${suffix}`;
  if (isUnknown(timeTravel, options))
    return {
      ...{ name: reference, viewName, isAnyPoint: true },
      pin: { kind: 'timestamp', timestampMs: options.nowMs },
    };
  return { name: reference, pin: await pinOf(timeTravel, dependencies, options), viewName };
}

function isUnknown(timeTravel: TimeTravel, { parameters }: TimeTravelOptions): boolean {
  return (
    parameters === 'not bound yet' && timeTravel.kind === 'expression' && timeTravel.parameters.length > 0
  );
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
      const compute: Compute = (lease, signal) => computePoint(lease, timeTravel, options, signal);
      if (timeTravel.unit === 'VERSION') return await versionOf(compute, dependencies, options);
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

/** Of a version what it is and its value: a whole number is an id, and a text the name of a branch or tag. */
function kindAndValueOf(version: string): string {
  const wholeNumbers = ['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT', 'HUGEINT'];
  const ids = wholeNumbers.flatMap((type) => [type, `U${type}`]).map(quoteString);
  return (
    `SELECT coalesce(CASE WHEN typeof(v) = 'VARCHAR' THEN 'reference' WHEN typeof(v) IN (${ids.join(', ')}) THEN 'id' ` +
    `ELSE 'other' END || ' ' || v::VARCHAR, '') FROM (SELECT ${version} AS v)`
  );
}

async function computePoint(
  lease: EngineLease,
  point: TimeExpression,
  { session, nowMs, parameters }: TimeTravelOptions,
  signal: AbortSignal,
): Promise<string> {
  await lease.execute(statementSetup({ session, settings: session.settings, nowMs }), signal);
  const bound = parameters === 'not bound yet' ? { identifiers: [], values: undefined } : parameters;
  const select = await selectOfPoint(lease, point, bound, signal);
  const textOf = point.unit === 'VERSION' ? kindAndValueOf : millisecondsOf;
  return await lease.queryText(textOf(`(${select})`), [], signal);
}

/** A point in time can be an expression that takes for ever, and its engine is one that everybody's planning needs. */
const maxComputingMs = 10_000;

/** A time without a zone is in the session's; the engine reads it as it would read it in the statement. */
async function timestampOf(
  compute: Compute,
  problem: string,
  dependencies: PlannerDependencies,
  options: TimeTravelOptions,
): Promise<number> {
  const refused = (cause?: QueryError) => notAPoint('TIMESTAMP', problem, cause);
  const answer = await computed(compute, refused, dependencies, options);
  if (answer === '') throw refused();
  return Number(answer);
}

async function versionOf(
  compute: Compute,
  dependencies: PlannerDependencies,
  options: TimeTravelOptions,
): Promise<SnapshotPin> {
  const refused = (cause?: QueryError) =>
    notAPoint(
      'VERSION',
      'it is neither a snapshot id, which is a whole number, nor the name of a branch or tag.',
      cause,
    );
  const answer = await computed(compute, refused, dependencies, options);
  const [, kind, value = ''] = /^(id|reference) (.*)$/s.exec(answer) ?? [];
  if (kind === undefined) throw refused();
  return kind === 'id' ? { kind, snapshotId: BigInt(value) } : { kind: 'reference', name: value };
}

async function computed(
  compute: Compute,
  refused: (cause: QueryError) => QueryError,
  { pool, policies }: PlannerDependencies,
  { session, signal }: TimeTravelOptions,
): Promise<string> {
  const lease = await pool.lease({ owner: ownerOf(session, policies), lane: 'small', signal });
  using link = linkAbort(signal, maxComputingMs, computingTooLong);
  try {
    await lease.execute([`SET TimeZone = ${quoteString(session.settings.timeZone)}`], link.signal);
    return await compute(lease, link.signal);
  } catch (error) {
    if (error instanceof QueryError && error.category === 'user' && !keptCodes.has(error.code))
      throw refused(error);
    throw error;
  } finally {
    await lease.release();
  }
}

/** What is not the value's fault, and what names it already. */
const keptCodes: ReadonlySet<string> = new Set(['CANCELLED', 'INVALID_PARAMETER']);

function computingTooLong(): QueryError {
  return new QueryError(
    'QUERY_TIMEOUT',
    `AT (…): the point in time was not computed within ${maxComputingMs / 1000} s.`,
  );
}

function notAPoint(unit: TimeExpression['unit'], problem: string, cause?: QueryError): QueryError {
  return new QueryError('INVALID_ARGUMENT', `AT (${unit} => …): ${problem}`, { cause });
}
