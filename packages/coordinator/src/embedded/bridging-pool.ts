/**
 * Engines for one person at a terminal. A host process is the place to run statements: it can be interrupted, tells
 * its progress, and its memory is limited. But it takes a third of a second to start. Until one is there, work that is
 * small (planning, statements without tables) is done by an engine inside this process, which is there at once.
 */
import type {
  EngineLease,
  EnginePool,
  EnginePoolStats,
  EngineProgress,
  EngineQuery,
  EngineResult,
  LeaseRequest,
} from '@svc/engine';

export interface BridgingPoolOptions {
  /** Makes the pool of host processes; called once, when a host is first wanted. */
  readonly openHosts: () => EnginePool;
  /** Makes the pool inside this process; called once, and only if something is wanted before a host is there. */
  readonly openInProcess: () => EnginePool;
}

/** Everything on a host is on one lane: the session runs one statement at a time. */
const hostLane = 'query';

export class BridgingPool implements EnginePool {
  /** Hears how far the running statement is. */
  onProgress: ((progress: EngineProgress) => void) | undefined;
  readonly #options: BridgingPoolOptions;
  #hosts: EnginePool | undefined;
  #inProcess: EnginePool | undefined;
  #isHostReady = false;

  constructor(options: BridgingPoolOptions) {
    this.#options = options;
  }

  /** Starts a host for this owner. From when it is ready on, hosts do everything. Never rejects. */
  async startHost(owner: string): Promise<void> {
    try {
      const lease = await this.#hostPool().lease({ owner, lane: hostLane });
      await lease.release();
    } catch {
      // A host that does not start is reported to the statement that needs one.
    }
  }

  async lease(request: LeaseRequest): Promise<EngineLease> {
    if (request.lane === 'small' && !this.#isHostReady) {
      this.#inProcess ??= this.#options.openInProcess();
      return this.#observed(await this.#inProcess.lease(request));
    }
    const lease = await this.#hostPool().lease({ ...request, lane: hostLane });
    this.#isHostReady = true;
    return this.#observed(lease);
  }

  stats(): EnginePoolStats {
    return (this.#hosts ?? this.#inProcess)?.stats() ?? noEngines;
  }

  async close(deadlineMs: number): Promise<void> {
    await Promise.all([this.#hosts?.close(deadlineMs), this.#inProcess?.close(deadlineMs)]);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#hosts?.destroy(), this.#inProcess?.destroy()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }

  #hostPool(): EnginePool {
    this.#hosts ??= this.#options.openHosts();
    return this.#hosts;
  }

  #observed(lease: EngineLease): EngineLease {
    const { onProgress } = this;
    return onProgress === undefined ? lease : observedLease(lease, onProgress);
  }
}

const noEngines: EnginePoolStats = {
  hosts: 0,
  idle: 0,
  leased: 0,
  waiting: 0,
  replaced: 0,
  memoryUsedBytes: 0,
  memoryLimitBytes: 0,
};

/** The same lease, whose queries report their progress. */
function observedLease(lease: EngineLease, onProgress: (progress: EngineProgress) => void): EngineLease {
  return {
    get inputDirectory() {
      return lease.inputDirectory;
    },
    get outputDirectory() {
      return lease.outputDirectory;
    },
    execute: (statements, signal) => lease.execute(statements, signal),
    queryText: (sql, parameters, signal) => lease.queryText(sql, parameters, signal),
    describe: (request, signal) => lease.describe(request, signal),
    query: (request: EngineQuery): Promise<EngineResult> => lease.query({ ...request, onProgress }),
    readParquet: (request) => lease.readParquet(request),
    ingest: (table, stream, signal) => lease.ingest(table, stream, signal),
    taint: () => lease.taint(),
    release: () => lease.release(),
    [Symbol.asyncDispose]: () => lease.release(),
  };
}
