import { join } from 'node:path';
import { linkAbort, QueryError } from '@svc/base';
import { type FragmentFiles, queryTimedOut, type StagedTable } from '@svc/fragment-fn';
import { FetchedFiles } from '../files/fetched-files.js';
import { createFileRelations, isOfFiles } from '../files/file-relations.js';
import { createRemoteFiles, type RemoteFiles } from '../files/remote-files.js';
import { bearerKey, newBearer, sessionLabel } from '../identity/bearer.js';
import { localUsername } from '../identity/local-identity.js';
import type { Session } from '../identity/session.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { withoutExcerpt } from '../planner/without-excerpt.js';
import { createPlanning } from '../service/create-planning.js';
import { createRunning } from '../service/create-running.js';
import { createStatements } from '../service/create-statements.js';
import { openLake } from '../service/open-lake.js';
import { runPlanned } from '../service/query-runner.js';
import { planStatement } from '../service/statement-planner.js';
import type { BridgingPool } from './bridging-pool.js';
import type { EmbeddedOptions, EmbeddedService } from './embedded-service.js';
import { createEmbeddedStore } from './embedded-store.js';

export interface EmbeddedSessionOptions extends EmbeddedOptions {
  readonly pool: BridgingPool;
  /** Removed when the session ends. */
  readonly scratchFolder: string;
}

/** The session of the local user over these engines. */
export async function createEmbeddedSession(
  options: EmbeddedSessionOptions,
): Promise<Pick<EmbeddedService, 'run'>> {
  const { config, metrics, logger, pool, version } = options;
  const lake = await openLake({ ...config, 'catalog.catalog_url': undefined }, { metrics, now: Date.now });
  const store = createEmbeddedStore(config, { metrics, traffic: lake.traffic });
  const fetched = new FetchedFiles({
    store,
    folder: join(options.scratchFolder, 'fetched'),
    maxBytes: config['cache.disk_bytes'],
  });
  const remote = createRemoteFiles({ store, staging: lake.staging, footers: lake.footers, fetched });
  const files = createFileRelations({ pool, remote, store, footers: lake.footers, ...options.paths });
  const planning = createPlanning({ config, pool, lake, metrics, files });
  const runner = createRunning({
    ...{ config, pool, metrics, logger, lake, now: Date.now },
    stageFiles: (table, directory, signal) => stageFiles(remote, table, directory, signal),
  });
  const planner = createStatements({ planning, runner, lake, version });
  const session = localSession(planner.sessionDefaults);
  return {
    async run(sql, { signal, onProgress }) {
      pool.onProgress = onProgress;
      fetched.beginStatement();
      const timeoutMs = session.settings.queryTimeoutMs ?? planner.limits.timeoutMs;
      using link = linkAbort([signal], timeoutMs, () => queryTimedOut(timeoutMs));
      const planned = await planStatement(planner, { session, sql, signal: link.signal });
      if (signal.aborted) throw QueryError.from(signal.reason);
      const namesFiles = planned.kind === 'fragment' && planned.fragment.tables.some(isOfFiles);
      return await runPlanned(runner, { session, planned, signal, clientAddress: '' }).catch(
        (error: unknown) => {
          throw namesFiles ? withoutExcerpt(error) : error;
        },
      );
    },
  };
}

async function stageFiles(
  remote: RemoteFiles,
  { files }: FragmentFiles,
  directory: string,
  signal: AbortSignal,
): Promise<StagedTable> {
  const placed = await remote.place(files, directory, signal);
  return { ...placed, groups: [], filesRead: files.length, describeColumns: async () => undefined };
}

function localSession(settings: SessionSettings): Session {
  const key = bearerKey(newBearer());
  const now = Date.now();
  return {
    key,
    label: sessionLabel(key),
    identity: { username: localUsername, roles: ['admin'] },
    clientAddress: '',
    createdAtMs: now,
    lastUsedAtMs: now,
    settings,
    tokens: undefined,
    renew: undefined,
    isExpired: false,
    // It ends with the process.
    closed: new AbortController().signal,
  };
}
