import type { Metrics } from '@svc/base';
import type { EnginePool } from '@svc/engine';
import {
  type Connections,
  type FooterCache,
  type ObjectStore,
  openGranted,
  type StagingCache,
  type StorageTraffic,
  type StoreGrant,
} from '@svc/lake';
import type { FragmentEnvironment } from '../leased-fragment.js';
import type { RemoteTask } from '../wire/task-codec.js';
import { environmentOf } from './store-environment.js';
import { createTableStaging } from './table-staging.js';

/** What an executor has for all tasks: nothing in it is of one user, but entries of the caches under their scopes. */
export interface EnvironmentParts {
  readonly pool: EnginePool;
  readonly staging: StagingCache;
  readonly footers: FooterCache;
  readonly connections: Connections;
  readonly traffic: StorageTraffic;
  readonly metrics: Metrics;
  /** Only where the executor runs on the machine whose files are granted. */
  readonly allowLocalFiles: boolean;
  /** Asks the coordinator for a table's newer credentials; by the position of the table. */
  readonly renew?: ((table: number, signal: AbortSignal) => Promise<StoreGrant>) | undefined;
}

/**
 * Opens what a task was granted, for as long as the environment is referred to. Throws what openGranted throws.
 */
export function openRemoteEnvironment(
  { request, grants }: RemoteTask,
  { pool, staging, footers, metrics, connections, traffic, allowLocalFiles, renew }: EnvironmentParts,
): FragmentEnvironment {
  const stores = grants.map((grant, table): ObjectStore | undefined =>
    grant === undefined
      ? undefined
      : openGranted(grant, {
          connections,
          traffic,
          metrics,
          allowLocalFiles,
          ...(renew !== undefined && { renew: (signal) => renew(table, signal) }),
        }),
  );
  const tables = createTableStaging({ cache: staging, footers, metrics });
  return environmentOf({ ...tables, pool, metrics, connections, traffic }, { fragment: request, stores });
}
