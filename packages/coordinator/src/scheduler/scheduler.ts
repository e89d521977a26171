/** What this process has of scheduling: one dispatcher for all queries, and what is known of the executors. */
import type { Config, Logger, Metrics } from '@svc/base';
import { SpoolBudget, SpoolFile } from '@svc/engine';
import { divideScan, type FooterCache } from '@svc/lake';
import type { Spool } from '../spool/spool.js';
import { broadcastBytes } from './broadcast.js';
import { Dispatcher } from './dispatcher.js';
import { ExecutorHealth } from './executor-health.js';
import type { Executors } from './executors.js';
import type { SchedulerParts, StageRunsOptions } from './stage-runs.js';

export interface Scheduler {
  readonly executors: Executors;
  readonly parts: SchedulerParts;
  readonly divide: StageRunsOptions['divide'];
}

export interface SchedulerOptions {
  readonly config: Config;
  readonly executors: Executors;
  readonly spool: Spool | undefined;
  readonly footers: FooterCache;
  /** For files without a name. */
  readonly folder: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
}

/** Workers that are started again, or whose name is asked for anew, are back by then. */
const patienceMs = 5000;

export function createScheduler({
  config,
  executors,
  spool,
  footers,
  folder,
  metrics,
  logger,
}: SchedulerOptions): Scheduler {
  const elapsed = () => performance.now();
  const health = new ExecutorHealth({ elapsed });
  const dispatcher = new Dispatcher(health);
  const budget = new SpoolBudget(config['query.spool_total_bytes'], config['query.spool_bytes']);
  metrics.fragmentsRunning.readFrom(() => dispatcher.running);
  metrics.executorsQuarantined.readFrom(() => health.quarantined);
  return {
    executors,
    divide: (scan, store, signal) =>
      divideScan(scan, { targetBytes: config['fragments.split_bytes'], store, footers, signal }),
    parts: {
      ...{ dispatcher, health, elapsed, metrics },
      openSpool: () => new SpoolFile(folder, budget),
      broadcast: {
        maxBytes: broadcastBytes(config),
        inlineBytes: config['fragments.broadcast_inline_bytes'],
        spool,
        logger,
      },
      limits: {
        gatherBytes: config['fragments.gather_bytes'],
        slowReaderMs: config['query.slow_client_timeout_secs'] * 1000,
        patienceMs,
      },
    },
  };
}
