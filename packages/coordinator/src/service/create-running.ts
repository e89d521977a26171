import type { Config, Logger, Metrics } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import { createTableStaging } from '@svc/fragment-fn';
import type { Audit } from '../audit/open-audit.js';
import type { Executors } from '../scheduler/executors.js';
import { LaneAdmission } from '../scheduler/lane-admission.js';
import { createScheduler } from '../scheduler/scheduler.js';
import type { Spool } from '../spool/spool.js';
import { DeferredWork } from '../tracker/deferred-work.js';
import { QueryTracker } from '../tracker/query-tracker.js';
import type { Lake } from './open-lake.js';
import { poolOptions, smallStatementPlaces } from './pool-options.js';
import type { QueryRunnerDependencies } from './query-runner.js';

export interface RunningOptions {
  readonly config: Config;
  readonly pool: EnginePool;
  readonly lake: Lake;
  readonly metrics: Metrics;
  readonly logger: Logger;
  readonly now: () => number;
  readonly stageFiles?: QueryRunnerDependencies['stageFiles'];
  /** Absent: everything runs here. */
  readonly executors?: Executors | undefined;
  /** For what is large between them. */
  readonly spool?: Spool | undefined;
  /** None without `metrics.audit_log_path`, and none in `svc sql` without a server. */
  readonly audit?: Audit | undefined;
}

const maxFinishedRecords = 1000;

export function createRunning({
  config,
  pool,
  lake,
  metrics,
  logger,
  now,
  stageFiles,
  executors,
  spool,
  audit,
}: RunningOptions): QueryRunnerDependencies {
  return {
    pool,
    ...(stageFiles && { stageFiles }),
    scheduler:
      executors &&
      createScheduler({
        ...{ config, executors, spool, footers: lake.footers, metrics },
        logger: logger.child('svc::fragments'),
        folder: poolOptions(config, logger).folder,
      }),
    metrics,
    logger: logger.child('svc::query'),
    admission: new LaneAdmission({
      queryPlaces: config['query.max_concurrent'],
      smallPlaces: smallStatementPlaces,
      maxQueued: config['query.max_queued'],
      queueTimeoutMs: config['query.queue_timeout_secs'] * 1000,
    }),
    tracker: new QueryTracker({
      metrics,
      logger: logger.child('svc::query'),
      now,
      elapsed: () => performance.now(),
      deferred: new DeferredWork(),
      audit,
      maxFinished: maxFinishedRecords,
    }),
    throwIfNotAudited: () => audit?.throwIfUnavailable(),
    ...createTableStaging({
      ...{ cache: lake.staging, footers: lake.footers, metrics },
      joinKeysBytes: config['query.join_keys_bytes'],
    }),
    traffic: lake.traffic,
  };
}
