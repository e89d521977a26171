/**
 * Keeps what planning on stubs answered. It depends on the text, the session's zone and defaults, the parameter types
 * and the tables' columns and sizes, and on nothing else: the same statement on tables of the same shape binds and
 * optimises the same way. Snapshots are pinned and scans pruned anew each time; no data and no result is kept.
 */
import { createHash, hash } from 'node:crypto';
import { splitIpcStream } from '@svc/flight/arrow';
import { LRUCache } from 'lru-cache';
import { planOnStubs, type StubPlan, type StubPlanOptions } from './stub-planning.js';

const maxPlans = 512;

/** A plan holds the constants of its text as filters, and the schema of its result: it is as large as they are. */
const maxCharacters = 4 * 2 ** 20;

export type StubPlanCache = LRUCache<string, StubPlan>;

export function createStubPlanCache(): StubPlanCache {
  return new LRUCache({ max: maxPlans, maxSize: maxCharacters });
}

export interface CachedPlanOptions extends Omit<StubPlanOptions, 'lease' | 'signal'> {
  readonly cache: StubPlanCache;
  /** Runs the planning on a leased host, under the signal that ends it. */
  readonly onLease: (
    body: (lease: StubPlanOptions['lease'], signal: AbortSignal) => Promise<StubPlan>,
  ) => Promise<StubPlan>;
}

/** A statement with a clock or a user in it is planned each time: these are constants to the optimiser. */
export async function planWithCache({ cache, onLease, ...options }: CachedPlanOptions): Promise<StubPlan> {
  const key = options.setup.length === 0 ? keyOf(options) : undefined;
  const known = key === undefined ? undefined : cache.get(key);
  if (known !== undefined) return known;
  const plan = await onLease((lease, signal) => planOnStubs({ ...options, lease, signal }));
  if (key !== undefined) {
    const size =
      options.sql.length +
      (options.inlinedSql?.length ?? 0) +
      plan.description.schema.length +
      (plan.kept?.compressed.byteLength ?? 0) +
      [...(plan.guards?.own ?? []), ...(plan.guards?.named ?? [])].join('').length;
    cache.set(key, plan, { size });
  }
  return plan;
}

type PlanIdentity = Omit<StubPlanOptions, 'lease' | 'signal'>;

function keyOf({
  sql,
  inlinedSql,
  tables,
  views,
  guardMode,
  settings,
  parameters,
  keepPlan,
}: PlanIdentity): string {
  const shapes = tables.map((table) => [
    table.catalog,
    table.schema,
    table.table,
    String(table.rowCount),
    table.isGuarded === true,
    table.columns.map(({ name, type }) => [name, type]),
  ]);
  const identity = [
    sql,
    inlinedSql ?? null,
    settings.catalog,
    settings.schema ?? null,
    settings.timeZone,
    shapes,
    // What policies say for this user is in their views.
    views,
    guardMode,
    keepPlan,
  ];
  const text = JSON.stringify(identity);
  if (parameters === undefined) return hash('sha256', text, 'base64');
  const header = splitIpcStream(parameters)[0]?.header ?? '';
  return createHash('sha256').update(text).update(header).digest('base64');
}
