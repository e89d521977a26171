import { join } from 'node:path';
import { type Logger, QueryError } from '@svc/base';
import type { LeaseRequest } from '../api.js';
import type { HostExit } from '../host/host-exit.js';
import type { HostPoolSettings, LaneSettings } from './pool-options.js';
import { PooledHost } from './pooled-host.js';
import { type Waiter, WaitingList } from './waiting-list.js';

/** After a failed start, spare hosts are not tried again for this long; a waiting request always tries. */
const START_RETRY_MS = 1_000;
/**
 * How long after a fresh host was given away the next spare is started: not while the new owner's first statement, the slowest
 * of all, needs the processors.
 */
const SPARE_DELAY_MS = 2_000;

/**
 * The hosts of one lane: at most `hosts` leased at a time, and up to `spareHosts` processes more, so that an owner
 * without an instance finds a fresh one. Decisions are made in `dispatch`, which runs after every change.
 */
export class Lane {
  readonly settings: LaneSettings;
  readonly #pool: HostPoolSettings;
  readonly #folder: string;
  readonly #log: Logger;
  readonly #hosts = new Set<PooledHost>();
  readonly #waiting = new WaitingList();
  /** Called when the lane has done what it can for its own requests. */
  readonly #onDispatched: () => void;
  #startingCount = 0;
  #nextHost = 0;
  #replacedCount = 0;
  #isClosed = false;
  #noSparesBeforeMs = 0;
  #spareTimer: NodeJS.Timeout | undefined;
  #idleTimer: NodeJS.Timeout | undefined;
  readonly #work = new Set<Promise<void>>();

  constructor(settings: LaneSettings, pool: HostPoolSettings, folder: string, onDispatched: () => void) {
    this.settings = settings;
    this.#pool = pool;
    this.#folder = folder;
    this.#log = pool.log.child('svc::engine::pool');
    this.#onDispatched = onDispatched;
  }

  get hosts(): ReadonlySet<PooledHost> {
    return this.#hosts;
  }

  get waiting(): WaitingList {
    return this.#waiting;
  }

  get replacedCount(): number {
    return this.#replacedCount;
  }

  get leasedCount(): number {
    return this.#count('leased');
  }

  lease(request: LeaseRequest): Promise<PooledHost> {
    const host = this.#waiting.add(request);
    this.dispatch();
    return host;
  }

  /** Another lane's oldest waiters, as far as hosts are free that nobody here waits for. */
  serve(others: WaitingList): void {
    while (this.#waiting.length === 0 && others.length > 0 && this.leasedCount < this.settings.hosts) {
      const [waiter] = others.all;
      if (!waiter) return;
      const host = this.#findIdle(waiter.owner);
      if (typeof host !== 'object') return;
      others.remove(waiter);
      this.#give(host, waiter);
      this.#prepareHosts(0);
    }
  }

  /** The lease is over and no request runs on the host. */
  giveBack(host: PooledHost): void {
    const isUsedUp = host.isSpent || !host.hasSlots || host.leaseCount >= this.#pool.maxLeasesPerHost;
    if (this.#isClosed || !host.process.isAlive || isUsedUp) this.#remove(host);
    else if (host.isTainted) this.#makeFresh(host);
    else this.#prepare(host, host.reset());
    this.dispatch();
  }

  /** Serves who can be served, in order, and gets hosts ready for the others and for the spare ones. */
  dispatch(): void {
    if (this.#isClosed) return;
    let ahead = 0;
    let withoutHost = 0;
    const resetting = this.#resettingOwners();
    for (const waiter of [...this.#waiting.all]) {
      if (this.leasedCount + ahead >= this.settings.hosts) break;
      const host = this.#findIdle(waiter.owner, resetting);
      if (typeof host === 'object') {
        this.#waiting.remove(waiter);
        this.#give(host, waiter);
      } else {
        ahead++;
        if (host === 'none') withoutHost++;
      }
    }
    this.#prepareHosts(withoutHost);
    this.#onDispatched();
    this.#armIdleTimer();
  }

  close(error: QueryError): void {
    this.#isClosed = true;
    clearTimeout(this.#idleTimer);
    clearTimeout(this.#spareTimer);
    this.#waiting.rejectAll(error);
  }

  /** Kills every host and waits until they are gone. */
  async destroy(error: QueryError): Promise<void> {
    this.close(error);
    for (const host of [...this.#hosts]) this.#remove(host);
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
  }

  #count(state: PooledHost['state']): number {
    let count = 0;
    for (const host of this.#hosts) if (host.state === state) count++;
    return count;
  }

  #idleHosts(): PooledHost[] {
    return [...this.#hosts].filter((host) => host.state === 'idle');
  }

  /** How many hosts of each owner will be idle in a moment. */
  #resettingOwners(): Map<string, number> {
    const owners = new Map<string, number>();
    for (const { state, owner } of this.#hosts)
      if (state === 'preparing' && owner !== undefined) owners.set(owner, (owners.get(owner) ?? 0) + 1);
    return owners;
  }

  /**
   * The owner's own host, else a fresh one. `soon` when the owner's own is just being reset: with its staged files
   * and caches it is worth the wait, which claims it in `resetting`.
   */
  #findIdle(owner: string, resetting = new Map<string, number>()): PooledHost | 'soon' | 'none' {
    const idle = this.#idleHosts();
    const own = idle.find((host) => host.owner === owner);
    if (own) return own;
    const soon = resetting.get(owner) ?? 0;
    if (soon > 0) {
      resetting.set(owner, soon - 1);
      return 'soon';
    }
    return idle.find((host) => host.owner === undefined) ?? 'none';
  }

  #give(host: PooledHost, waiter: Waiter): void {
    if (host.owner === undefined) this.#delaySpares(SPARE_DELAY_MS);
    host.state = 'leased';
    host.owner = waiter.owner;
    host.leaseCount++;
    waiter.resolve(host);
  }

  #setIdle(host: PooledHost): void {
    host.state = 'idle';
    host.idleSinceMs = performance.now();
  }

  /** Sees to it that as many fresh hosts are coming as requests wait and spares are wanted. */
  #prepareHosts(neededNow: number): void {
    const fresh = this.#idleHosts().filter((host) => host.owner === undefined).length;
    const beingFreed = [...this.#hosts].filter(
      ({ state, owner }) => state === 'preparing' && owner === undefined,
    );
    const coming = this.#startingCount + beingFreed.length;
    const spares = this.#sparesWanted();
    let missing = neededNow + spares - fresh - coming;
    const capacity = this.settings.hosts + this.settings.spareHosts;
    for (; missing > 0 && this.#hosts.size + this.#startingCount < capacity; missing--) this.#startHost();
    const owned = this.#idleHosts()
      .filter((host) => host.owner !== undefined)
      .sort((left, right) => left.idleSinceMs - right.idleSinceMs);
    for (const host of owned.slice(0, Math.max(0, missing))) this.#makeFresh(host);
  }

  #delaySpares(delayMs: number): void {
    this.#noSparesBeforeMs = Math.max(this.#noSparesBeforeMs, performance.now() + delayMs);
  }

  #sparesWanted(): number {
    const waitMs = this.#noSparesBeforeMs - performance.now();
    if (waitMs <= 0) return this.settings.spareHosts;
    clearTimeout(this.#spareTimer);
    this.#spareTimer = setTimeout(() => this.dispatch(), Math.ceil(waitMs)).unref();
    return 0;
  }

  #startHost(): void {
    this.#startingCount++;
    const folder = join(this.#folder, `${this.settings.name}-${this.#nextHost++}`);
    this.#track(
      PooledHost.start(folder, this.settings.limits, this.#pool).then(
        (host) => this.#onStarted(host),
        (error: unknown) => this.#onStartFailed(QueryError.from(error)),
      ),
    );
  }

  #onStarted(host: PooledHost): void {
    this.#startingCount--;
    this.#hosts.add(host);
    this.#setIdle(host);
    this.#track(host.process.exited.then((exit) => this.#onExit(host, exit)));
    if (this.#isClosed) this.#remove(host);
    else this.dispatch();
  }

  #onStartFailed(error: QueryError): void {
    this.#startingCount--;
    this.#delaySpares(START_RETRY_MS);
    this.#log.log('error', 'an engine host did not start', { code: error.code, reason: causeText(error) });
    const [waiter] = this.#waiting.all;
    if (waiter) {
      this.#waiting.remove(waiter);
      waiter.reject(error);
    }
    this.dispatch();
  }

  #onExit(host: PooledHost, exit: HostExit): void {
    if (exit.killedFor !== 'closed') {
      this.#log.log('warn', 'an engine host ended', {
        lane: this.settings.name,
        pid: host.process.pid,
        exit_code: exit.code ?? undefined,
        signal: exit.signal ?? undefined,
        killed_for: exit.killedFor,
        stderr: exit.stderrTail || undefined,
      });
    }
    // A leased host stays in the count until its lease ends.
    if (host.state === 'leased' || !this.#hosts.has(host)) return;
    this.#delaySpares(START_RETRY_MS);
    this.#remove(host);
    this.dispatch();
  }

  #makeFresh(host: PooledHost): void {
    host.owner = undefined;
    this.#replacedCount++;
    this.#prepare(host, host.makeFresh());
  }

  /** An instance that nobody has is being worked on; its host is idle afterwards, or replaced when that fails. */
  #prepare(host: PooledHost, work: Promise<void>): void {
    host.state = 'preparing';
    this.#track(
      work.then(
        () => {
          if (host.state === 'preparing') this.#setIdle(host);
          this.dispatch();
        },
        () => {
          this.#remove(host);
          this.dispatch();
        },
      ),
    );
  }

  #remove(host: PooledHost): void {
    if (!this.#hosts.delete(host)) return;
    host.state = 'dead';
    this.#replacedCount++;
    this.#track(host.end());
  }

  #armIdleTimer(): void {
    clearTimeout(this.#idleTimer);
    const oldest = this.#idleHosts().reduce(
      (least, host) => Math.min(least, host.idleSinceMs),
      Number.POSITIVE_INFINITY,
    );
    if (oldest === Number.POSITIVE_INFINITY) return;
    const waitMs = Math.max(10, oldest + this.#pool.idleMs - performance.now());
    this.#idleTimer = setTimeout(() => this.#onIdle(), waitMs).unref();
  }

  /** Hosts that were idle long enough lose their owner; those beyond the spare ones end. */
  #onIdle(): void {
    const before = performance.now() - this.#pool.idleMs;
    let keep = Math.max(1, this.settings.spareHosts);
    for (const host of this.#idleHosts().sort((left, right) => right.idleSinceMs - left.idleSinceMs)) {
      const isOld = host.idleSinceMs <= before;
      if (isOld && keep <= 0) this.#remove(host);
      else if (isOld && host.owner !== undefined) this.#makeFresh(host);
      else if (isOld) this.#setIdle(host);
      keep--;
    }
    this.#armIdleTimer();
  }

  #track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        this.#log.log('error', 'cleaning up after an engine host failed', { reason: causeText(error) });
      })
      .finally(() => this.#work.delete(tracked));
    this.#work.add(tracked);
  }
}

function causeText(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error ? cause.message : String(cause);
}
