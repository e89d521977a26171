import { type Config, type Metrics, QueryError } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import { keyPruning, type LoadedTable, planScan } from '@svc/lake';
import { quoteString } from '@svc/sql';
import type { FileRelations } from '../files/file-relations.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { createAnalyzer } from '../planner/analyze.js';
import { ownerOf, type PolicyApplication } from '../planner/planner-dependencies.js';
import { shownName } from '../planner/resolve-tables.js';
import { createStubPlanCache } from '../planner/stub-plan-cache.js';
import { changeableCatalogs } from '../policy/changeable-catalogs.js';
import { hiddenCatalog } from '../policy/policy-view.js';
import { broadcastBytes } from '../scheduler/broadcast.js';
import type { Executors } from '../scheduler/executors.js';
import { countScan } from '../telemetry/scan-metrics.js';
import type { Lake } from './open-lake.js';
import type { StatementPlannerDependencies } from './statement-planner.js';

export interface PlanningOptions {
  readonly config: Config;
  readonly pool: EnginePool;
  readonly lake: Lake;
  readonly metrics: Metrics;
  /** Absent: statements run here. */
  readonly executors?: Executors | undefined;
  /** Of the command line; without, statements read no files. */
  readonly files?: FileRelations;
  /** What hides rows, and from whom; absent in the command line. */
  readonly policies?: PolicyApplication | undefined;
}

export function createPlanning({
  config,
  pool,
  lake,
  metrics,
  executors,
  files,
  policies,
}: PlanningOptions): Omit<
  StatementPlannerDependencies,
  'analyzePlanned' | 'divide' | 'writeRows' | 'replaceTable'
> {
  if (config['catalog.name'].toLowerCase() === hiddenCatalog)
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `\`catalog.name\` is ${hiddenCatalog}, which is the name of what policies hide: choose another one.`,
    );
  const queryTimeoutMs = config['query.timeout_secs'] * 1000;
  const maxResultBytes = config['query.max_result_bytes'];
  const sessionDefaults: SessionSettings = {
    catalog: config['catalog.name'],
    schema: undefined,
    timeZone: 'UTC',
    queryTimeoutMs: undefined,
    maxResultBytes: undefined,
    execution: 'auto',
  };
  return {
    pool,
    analyzer: createAnalyzer({
      pool,
      maxSqlBytes: config['query.max_sql_bytes'],
      profile: files === undefined ? 'server' : 'embedded',
    }),
    files,
    policies,
    catalogsOf: lake.contexts.catalogsOf,
    catalogsToChange: (session) => {
      const catalogs = lake.contexts.catalogsToChange(session);
      return policies === undefined ? catalogs : changeableCatalogs(catalogs, policies.enforcer, session);
    },
    refreshCatalogs: ({ identity }) => lake.contexts.refresh(identity.username),
    metadataFiles: lake.manifests,
    plans: createStubPlanCache(),
    distribution: executors && {
      executors,
      distributeBytes: config['fragments.distribute_bytes'],
      lambdaBytes: config['fragments.lambda_bytes'],
      broadcastBytes: broadcastBytes(config),
    },
    sessionDefaults,
    sessionLimits: { queryTimeoutMs, maxResultBytes },
    limits: {
      memoryBytes: config['query.memory_limit'],
      resultBytes: maxResultBytes,
      timeoutMs: queryTimeoutMs,
    },
    now: () => new Date(),
    planScan: async ({ source, ...table }, request, signal) => {
      const scan = await planScan(source.loaded, source.pin, request, {
        tableName: tableName(table, source.loaded),
        footers: lake.footers,
        manifests: lake.manifests,
        lineage: source.lineage,
        signal,
      });
      countScan(metrics, scan.counts, table.rowCount);
      return scan;
    },
    keyPruning: (scan, column, store, signal) =>
      keyPruning(scan, column, { store, footers: lake.footers, signal }),
    checkTimeZone: (name, session, signal) => checkTimeZone(pool, name, ownerOf(session, policies), signal),
  };
}

/** As the catalog spells it. */
function tableName(table: Parameters<typeof shownName>[0], { identifier }: LoadedTable): string {
  const { catalog, schema } = shownName(table);
  return `${catalog}.${schema}.${identifier.name}`;
}

/** The engine knows which names there are; a wrong one is said to be wrong here, not by the next query. */
async function checkTimeZone(
  pool: EnginePool,
  name: string,
  owner: string,
  signal: AbortSignal,
): Promise<void> {
  const lease = await pool.lease({ owner, lane: 'small', signal });
  try {
    await lease.execute([`SET TimeZone = ${quoteString(name)}`], signal);
  } catch (error) {
    if (error instanceof QueryError && error.category === 'user' && error.code !== 'CANCELLED') {
      throw new QueryError(
        'INVALID_ARGUMENT',
        `There is no time zone ${JSON.stringify(name.slice(0, 64))}; names are those of the IANA database, such as Europe/Berlin.`,
        { cause: error },
      );
    }
    throw error;
  } finally {
    await lease.release();
  }
}
