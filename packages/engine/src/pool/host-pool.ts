import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { delay, QueryError, throwIfAborted } from '@svc/base';
import type { EngineLease, EnginePool, EnginePoolStats, LeaseRequest } from '../api.js';
import type { ResultBuffer, SpoolPolicy } from '../spool/result-buffer.js';
import { SpoolBudget } from '../spool/spool-budget.js';
import { Lane } from './lane.js';
import { HostLease } from './lease.js';
import { createPoolFolder, type PoolFolder, removeLeftovers } from './pool-folder.js';
import {
  type HostPoolOptions,
  type HostPoolSettings,
  type LaneSettings,
  resolvePoolOptions,
} from './pool-options.js';
import type { PooledHost } from './pooled-host.js';

/**
 * Engines in child processes. Starts the spare hosts at once and removes what earlier pools left in `folder`.
 * The caller ends it with `close` or `destroy`: until then its processes keep this one alive.
 */
export function createHostPool(options: HostPoolOptions): EnginePool {
  return new HostPool(resolvePoolOptions(options));
}

class HostPool implements EnginePool {
  readonly #settings: HostPoolSettings;
  readonly #folder: PoolFolder;
  readonly #query: Lane;
  readonly #small: Lane;
  readonly #budget: SpoolBudget;
  readonly #openResults = new Set<ResultBuffer>();
  readonly #cleanUp: Promise<void>;
  #openLeases = 0;
  #isClosing = false;
  #destruction: Promise<void> | undefined;
  #wakeCloser: (() => void) | undefined;

  constructor(settings: HostPoolSettings) {
    this.#settings = settings;
    this.#folder = createPoolFolder(settings.folder);
    this.#budget = new SpoolBudget(settings.spoolBytesTotal, settings.spoolBytesPerResult);
    mkdirSync(this.#spoolFolder, { mode: 0o700 });
    const offer = () => this.#query.serve(this.#small.waiting);
    this.#query = new Lane(settings.query, settings, this.#folder.path, offer);
    this.#small = new Lane(settings.small, settings, this.#folder.path, offer);
    this.#query.dispatch();
    this.#small.dispatch();
    this.#cleanUp = removeLeftovers(settings.folder).catch((error: unknown) => {
      settings.log.log('warn', 'leftovers of earlier engine pools could not be removed', {
        reason: String(error),
      });
    });
  }

  async lease(request: LeaseRequest): Promise<EngineLease> {
    throwIfAborted(request.signal);
    if (this.#isClosing) throw shuttingDown();
    const lane = request.lane === 'small' ? this.#small : this.#query;
    const host = await lane.lease(request);
    this.#openLeases++;
    return new HostLease({
      host,
      spool: this.#spoolPolicy(lane.settings),
      onResultOpened: (result) => this.#openResults.add(result),
      onResultClosed: (result) => {
        this.#openResults.delete(result);
        this.#wakeCloser?.();
      },
      onReleased: () => this.#onReleased(host),
    });
  }

  stats(): EnginePoolStats {
    const hosts = [...this.#query.hosts, ...this.#small.hosts];
    const leased = hosts.filter((host) => host.state === 'leased');
    const limitOf = ({ hosts: count, limits }: LaneSettings) => count * limits.memoryBytes;
    return {
      hosts: hosts.length,
      idle: hosts.filter((host) => host.state === 'idle').length,
      leased: leased.length,
      waiting: this.#query.waiting.length + this.#small.waiting.length,
      replaced: this.#query.replacedCount + this.#small.replacedCount,
      memoryUsedBytes: leased.reduce((sum, host) => sum + residentBytes(host.process.pid), 0),
      memoryLimitBytes: limitOf(this.#settings.query) + limitOf(this.#settings.small),
    };
  }

  async close(deadlineMs: number): Promise<void> {
    this.#isClosing = true;
    for (const lane of [this.#query, this.#small]) lane.waiting.rejectAll(shuttingDown());
    const deadline = new AbortController();
    const drained = this.#whenDrained();
    const waited = delay(deadlineMs, deadline.signal).catch(() => undefined);
    await Promise.race([drained, waited]);
    deadline.abort();
    await this.destroy();
  }

  destroy(): Promise<void> {
    this.#isClosing = true;
    this.#destruction ??= this.#destroy();
    return this.#destruction;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }

  async #destroy(): Promise<void> {
    for (const result of this.#openResults) result.fail(shuttingDown());
    await Promise.all([this.#query.destroy(shuttingDown()), this.#small.destroy(shuttingDown())]);
    await this.#cleanUp;
    await this.#folder.remove();
    this.#wakeCloser?.();
  }

  /** No lease is open and no result is left to be read. */
  async #whenDrained(): Promise<void> {
    while (this.#openLeases + this.#openResults.size > 0 && this.#destruction === undefined) {
      await new Promise<void>((resolve) => {
        this.#wakeCloser = resolve;
      });
    }
  }

  get #spoolFolder(): string {
    return join(this.#folder.path, 'spool');
  }

  #spoolPolicy({ spoolAfterMs, slowConsumerMs, spoolBytesPerResult }: LaneSettings): SpoolPolicy {
    const budget = this.#budget.withPerResult(spoolBytesPerResult);
    return { folder: this.#spoolFolder, budget, spoolAfterMs, slowConsumerMs };
  }

  #onReleased(host: PooledHost): void {
    this.#openLeases--;
    (this.#query.hosts.has(host) ? this.#query : this.#small).giveBack(host);
    this.#wakeCloser?.();
  }
}

function shuttingDown(): QueryError {
  return new QueryError('SHUTTING_DOWN', 'The service is draining: send the statement again in a moment.');
}

/** Resident bytes of a process; 0 where there is no /proc, or no such process any more. */
function residentBytes(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}
