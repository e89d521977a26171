import type { Config, Logger, Metrics } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import { bytesToStage, narrowScan, planDirectRead, splitScans, stageScan } from '@svc/lake';
import type { Audit } from '../audit/open-audit.js';
import type { Executors } from '../scheduler/executors.js';
import { LaneAdmission } from '../scheduler/lane-admission.js';
import { createScheduler } from '../scheduler/scheduler.js';
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
  audit,
}: RunningOptions): QueryRunnerDependencies {
  return {
    pool,
    ...(stageFiles && { stageFiles }),
    scheduler:
      executors &&
      createScheduler({
        ...{ config, executors, footers: lake.footers, metrics },
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
    narrow: (scan, filters, store, signal) =>
      narrowScan(scan, filters, { store, footers: lake.footers, signal }),
    bytesToStage: (scan, store, signal) =>
      bytesToStage({ scan, store }, { cache: lake.staging, footers: lake.footers, signal }),
    split: (scans, signal) => splitScans(scans, { cache: lake.staging, footers: lake.footers, signal }),
    stage: async (scan, store, directory, signal) => {
      const staged = await stageScan(scan, {
        store,
        directory,
        cache: lake.staging,
        footers: lake.footers,
        signal,
      });
      metrics.stagingBytes.inc({ source: 'storage' }, staged.bytesFetched);
      const notCached = staged.bytesFetched + staged.bytesInPlace;
      metrics.stagingBytes.inc({ source: 'cache' }, Math.max(0, scan.counts.bytesPlanned - notCached));
      metrics.stagingBytes.inc({ source: 'in_place' }, staged.bytesInPlace);
      metrics.scanBytes.inc({ stage: 'read' }, notCached);
      const filesRead = staged.groups.reduce((sum, group) => sum + group.paths.length, 0);
      metrics.scanFiles.inc({ outcome: 'read' }, filesRead);
      metrics.scanRowGroups.inc({ outcome: 'read' }, scan.counts.rowGroupsPlanned);
      return {
        ...staged,
        bytesStaged: staged.bytesStaged + staged.bytesInPlace,
        filesRead,
        describeColumns: (indexes) =>
          planDirectRead({
            columns: indexes.flatMap((index) => {
              const column = scan.columns[index];
              return column === undefined ? [] : [{ index, name: column.name, type: column.type }];
            }),
            groups: staged.groups,
            files: scan.groups.flatMap((group) => group.files),
            store,
            footers: lake.footers,
            signal,
          }),
      };
    },
  };
}
