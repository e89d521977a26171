/** The coordinator: everything of one service process, started in order and stopped in reverse. */
import { type AdminServer, startAdmin } from '@svc/admin';
import type { Config, Logger, Metrics } from '@svc/base';
import { createHostPool, type EnginePool, supportedDuckDbVersion } from '@svc/engine';
import { createFlightServer, type FlightServer } from '@svc/flight';
import { environmentOf, type FragmentEnvironment, type FragmentTask } from '@svc/fragment-fn';
import { loadS3Client } from '@svc/lake';
import { type Audit, openAudit } from './audit/open-audit.js';
import { readPem } from './executors/workers/open-workers.js';
import type { WorkerRecord } from './executors/workers/watched-worker.js';
import { createFlightBackend } from './frontends/flight/flight-backend.js';
import { type Prepared, preparedBytes } from './frontends/flight/prepared.js';
import { createAdminGate } from './identity/admin-gate.js';
import { createAuthentication } from './identity/authentication.js';
import { HandleTable, preparedStatementErrors, ticketErrors } from './identity/handle-table.js';
import { openScanLock } from './identity/lifecycle/open-scan-lock.js';
import type { ScanLock } from './identity/lifecycle/scan-lock.js';
import { type OpenIdentity, openIdentity, type SignInFacts } from './identity/open-identity.js';
import { SessionStore } from './identity/session-store.js';
import { type PlannedStatement, plannedBytes } from './planner/planned-statement.js';
import { createEnforcer } from './policy/create-enforcer.js';
import { createPolicyStatements } from './policy/create-policy-statements.js';
import { openPolicies, type Policies } from './policy/open-policies.js';
import { createPolicyTexts } from './policy/policy-texts.js';
import { validatePolicy } from './policy/validate-policy.js';
import type { Executors } from './scheduler/executors.js';
import { createPlanning } from './service/create-planning.js';
import { createRunning } from './service/create-running.js';
import { createStatements } from './service/create-statements.js';
import { openRemoteExecutors, type RemoteExecutors } from './service/open-executors.js';
import { type Lake, type LakeOptions, openLake } from './service/open-lake.js';
import { poolOptions } from './service/pool-options.js';
import type { QueryRunnerDependencies } from './service/query-runner.js';
import { startUpkeep } from './service/start-upkeep.js';
import { registerGauges } from './telemetry/gauges.js';

export interface CoordinatorOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly version: string;
  /** Milliseconds since 1970, by which sessions and tickets expire and queries are timed. Default: the system's. */
  readonly now?: () => number;
  /** Opens what runs fragments besides the hosts of this process. Default: what is configured. */
  readonly openExecutors?: (parts: ExecutorParts) => Executors;
  /** What is asked instead of the configured catalog. Default: nothing else. */
  readonly catalogsOver?: LakeOptions['catalogsOver'];
}

/** What an executor may need of the process. */
export interface ExecutorParts {
  readonly pool: EnginePool;
  /** Around a task on hosts of this process. */
  environmentOf(task: FragmentTask): FragmentEnvironment;
}

export interface Listener {
  readonly kind: 'flight' | 'metrics' | 'health';
  readonly name: string;
  readonly address: string;
}

export interface Coordinator {
  readonly engineVersion: string;
  readonly signIn: SignInFacts;
  /** Opens every listener; clients are served from then on. */
  listen(): Promise<readonly Listener[]>;
  /** Takes a log file that was renamed as one to leave: lines go to the file that has its name now. */
  reopenLogs(): void;
  /** Refuses new statements, lets running ones finish until the deadline (a duration), then ends them. Idempotent. */
  close(deadlineMs: number): Promise<void>;
  /** Ends everything at once. Idempotent. */
  destroy(): Promise<void>;
}

/** What the last lines of the audit log may take at the end. */
const auditFlushMs = 2000;

/** A ticket names every file that its statement will read, and no client gives tickets back. */
const handleLimits = { maxPerSession: 1000, maxBytes: 128 * 2 ** 20 };

/** Starts what listeners need: identity, engine hosts, catalog, caches. Throws CONFIGURATION_ERROR. */
export async function startCoordinator(options: CoordinatorOptions): Promise<Coordinator> {
  const { config, logger, metrics } = options;
  const identity = await openIdentity({ config, logger, metrics, now: options.now ?? Date.now });
  const audit = await openAudit(options);
  const pool = createHostPool(poolOptions(config, logger));
  let policies: Policies | undefined;
  try {
    policies = await openPolicies(config, { logger, metrics, now: options.now ?? Date.now });
    const { catalogsOver } = options;
    const lake = await openLake(config, { metrics, now: options.now ?? Date.now, catalogsOver });
    const lock = await openScanLock(options);
    const remote = await openRemoteExecutors({ config, logger, metrics, now: options.now ?? Date.now }).catch(
      (error: unknown) => {
        lock.close();
        throw error;
      },
    );
    return assemble(options, { pool, lake, identity, audit, remote, lock, policies });
  } catch (error) {
    await pool.destroy();
    await policies?.close();
    await audit?.close(auditFlushMs);
    throw error;
  }
}

interface Parts {
  readonly lake: Lake;
  readonly pool: EnginePool;
  readonly identity: OpenIdentity;
  readonly audit: Audit | undefined;
  readonly lock: ScanLock;
  readonly remote: RemoteExecutors;
  readonly policies: Policies;
}

function assemble(options: CoordinatorOptions, parts: Parts): Coordinator {
  const { pool, lake, identity, audit, lock, remote, policies } = parts;
  const { workers } = remote;
  const { config, logger, metrics, version } = options;
  const now = options.now ?? Date.now;
  const executors =
    options.openExecutors?.({
      pool,
      environmentOf: ({ request, stores }) => environmentOf(runner, { fragment: request, stores }),
    }) ?? remote.executors;
  const policyLogger = logger.child('svc::policy');
  const adminRole = config['auth.admin_role'];
  const planning = createPlanning({
    ...{ config, pool, lake, metrics, executors },
    policies: {
      enforcer: createEnforcer({ policies, adminRole, identityKind: identity.kind }),
      texts: createPolicyTexts(pool),
      logger: policyLogger,
    },
  });
  const runner: QueryRunnerDependencies = createRunning({
    ...{ config, pool, metrics, logger, lake, now, audit, executors, spool: remote.spool },
  });
  const policyStatements = createPolicyStatements({
    policies,
    adminRole,
    validate: (policy, session, signal) => validatePolicy(planning, policy, session, signal),
    catalogsOf: planning.catalogsToChange,
    logger: policyLogger,
  });
  const planner = createStatements({ planning, runner, lake, policyStatements, version });
  const sessions = new SessionStore({
    idleTimeoutMs: config['session.idle_timeout_secs'] * 1000,
    maxAgeMs: config['session.max_age_secs'] * 1000,
    maxPerUser: config['session.max_per_user'],
    maxTotal: config['session.max_total'],
    defaults: planner.sessionDefaults,
    now,
  });
  const handleOptions = { ttlMs: config['session.handle_ttl_secs'] * 1000, ...handleLimits, now };
  const tickets = new HandleTable<PlannedStatement>({
    ...handleOptions,
    errors: ticketErrors,
    bytesOf: plannedBytes,
  });
  const prepared = new HandleTable<Prepared>({
    ...handleOptions,
    errors: preparedStatementErrors,
    bytesOf: preparedBytes,
  });
  sessions.onEnd((session) => {
    lake.contexts.endSession(session);
    tickets.endSession(session.key);
    prepared.endSession(session.key);
  });
  const upkeep = startUpkeep(options, {
    sessions,
    lock,
    sweep() {
      sessions.sweep(runner.tracker.activeSessions());
      tickets.sweep();
      prepared.sweep();
    },
  });

  const authentication = createAuthentication(sessions, identity);
  const startedAtMs = performance.now();
  let isReady = false;
  let admin: AdminServer | undefined;
  let flight: FlightServer | undefined;
  registerGauges(metrics, {
    sessions,
    pool,
    admission: runner.admission,
    tracker: runner.tracker,
    healthyWorkers: () => workers?.healthy().length ?? 1,
  });

  const adminBackend = {
    isReady: () => isReady,
    authorizeAdmin: createAdminGate(authentication, identity, config['auth.admin_role']),
    refreshCatalogs: async (username: string | undefined) => lake.contexts.refresh(username),
    metricsText: () => {
      runner.tracker.flush();
      return metrics.text();
    },
    status: () => ({
      status: isReady ? ('ACTIVE' as const) : ('STARTING' as const),
      node: {
        role: 'coordinator' as const,
        version,
        engineVersion: supportedDuckDbVersion,
        uptimeSeconds: Math.floor((performance.now() - startedAtMs) / 1000),
      },
      workers:
        workers === undefined
          ? // On one node the coordinator is its own worker (spec section 2.4).
            { total: 1, healthy: 1, healthyUrls: admin === undefined ? [] : [admin.healthUrl] }
          : workersStatus(workers.records(), config),
    }),
  };

  const destroy = async () => {
    isReady = false;
    const upkeepEnd = upkeep.close();
    flight?.destroy();
    identity.close();
    sessions.closeAll();
    try {
      await Promise.all([upkeepEnd, remote.close(), policies.close(), pool.destroy()]);
    } finally {
      runner.tracker.flush();
      await audit?.close(auditFlushMs);
      await admin?.destroy();
    }
  };

  return {
    engineVersion: supportedDuckDbVersion,
    signIn: identity.facts,
    async listen() {
      const bindAddress = config['server.bind_address'];
      admin = await startAdmin({
        backend: adminBackend,
        bindAddress,
        metricsPort: config['metrics.prometheus_port'],
        trustedProxies: config['server.trusted_proxies'],
        logger: logger.child('svc::admin'),
      });
      if (config['server.flight_enabled']) {
        const tls = await readTls(config);
        flight = await createFlightServer({
          backend: createFlightBackend({
            authentication,
            sessions,
            planner,
            runner,
            tickets,
            prepared,
            version,
            maxSqlBytes: config['query.max_sql_bytes'],
            handleTtlMs: handleOptions.ttlMs,
            now,
            ingest: planner.ingest,
          }),
          host: bindAddress,
          port: config['server.flight_port'],
          ...(tls === undefined ? {} : { tls }),
          tlsTerminatedUpstream: config['server.tls_terminated_upstream'],
          trustedProxies: config['server.trusted_proxies'],
          limits: { maxReceiveBytes: config['server.max_request_bytes'] },
          keepalive: {
            timeMs: config['server.keepalive_time_secs'] * 1000,
            timeoutMs: config['server.keepalive_timeout_secs'] * 1000,
          },
          logger: logger.child('svc::flight'),
        });
      }
      isReady = true;
      // What fails here fails again, and is told, where it is needed.
      if (config['catalog.catalog_url'] !== undefined) loadS3Client().catch(() => undefined);
      return listeners(config, admin, flight);
    },
    reopenLogs: () => audit?.reopen(),
    async close(deadlineMs) {
      isReady = false;
      runner.admission.drain();
      const deadline = performance.now() + deadlineMs;
      const left = () => Math.max(0, deadline - performance.now());
      await flight?.close(left());
      await pool.close(left());
      await admin?.close(Math.min(left(), 1000));
      await destroy();
    },
    destroy,
  };
}

function workersStatus(
  records: readonly WorkerRecord[],
  config: Config,
): { readonly total: number; readonly healthy: number; readonly healthyUrls: readonly string[] } {
  const scheme = config['worker.tls_ca'] === undefined ? 'grpc' : 'grpc+tls';
  const healthyUrls = records.flatMap(({ state, address }) =>
    state === 'healthy' ? [`${scheme}://${address}`] : [],
  );
  return { total: records.length, healthy: healthyUrls.length, healthyUrls };
}

function listeners(
  config: Config,
  admin: AdminServer,
  flight: FlightServer | undefined,
): readonly Listener[] {
  const address = config['server.bind_address'];
  const host = address.includes(':') ? `[${address}]` : address;
  const scheme = config['server.tls_cert'] === undefined ? 'grpc' : 'grpc+tls';
  return [
    ...(flight === undefined
      ? []
      : [{ kind: 'flight' as const, name: 'Flight SQL', address: `${scheme}://${host}:${flight.port}` }]),
    { kind: 'metrics', name: 'Metrics', address: `${admin.metricsUrl}/metrics` },
    { kind: 'health', name: 'Health and status', address: admin.healthUrl },
  ];
}

async function readTls(
  config: Config,
): Promise<{ readonly certPem: string; readonly keyPem: string } | undefined> {
  const cert = config['server.tls_cert'];
  const key = config['server.tls_key'];
  if (cert === undefined || key === undefined) return undefined;
  return { certPem: await readPem('server.tls_cert', cert), keyPem: await readPem('server.tls_key', key) };
}
