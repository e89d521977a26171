import type { Metrics } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import type { SessionStore } from '../identity/session-store.js';
import type { LaneAdmission } from '../scheduler/lane-admission.js';
import type { QueryTracker } from '../tracker/query-tracker.js';

export interface GaugeSources {
  readonly sessions: SessionStore;
  readonly pool: EnginePool;
  readonly admission: LaneAdmission;
  readonly tracker: QueryTracker;
  readonly healthyWorkers: () => number;
}

/** Tells the gauges of spec section 2.8 whom to ask at each scrape. */
export function registerGauges(metrics: Metrics, sources: GaugeSources): void {
  const { sessions, pool, admission, tracker } = sources;
  metrics.activeQueries.readFrom(() => tracker.activeCount);
  metrics.activeSessions.readFrom(() => sessions.openCount());
  metrics.healthyWorkers.readFrom(sources.healthyWorkers);
  metrics.queueDepth.readFrom(() => admission.queued);
  metrics.coordinatorMemory.readFrom(() => {
    const stats = pool.stats();
    return { usedBytes: stats.memoryUsedBytes, limitBytes: stats.memoryLimitBytes };
  });
  metrics.engineHosts.readFrom(() => {
    const { idle, leased } = pool.stats();
    return { idle, leased };
  });
  metrics.engineHostsReplaced.readFrom(() => pool.stats().replaced);
}
