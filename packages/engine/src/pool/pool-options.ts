import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { Logger } from '@svc/base';
import type { EngineLimits } from '../api.js';
import type { MemoryGuard } from '../host/host-settings.js';
import { canLimitDataMemory } from '../shm/libc.js';
import { defaultSlotLayout, type SlotLayout } from '../shm/slot-layout.js';
import { hostEntry } from './host-entry.js';

/** One kind of work and the hosts that only it may use. */
export interface LaneOptions {
  /** Leases at a time. */
  readonly hosts: number;
  readonly limits: EngineLimits;
  /** Fresh instances kept ready beside the leased ones, for owners that have none; at least one host stays. */
  readonly spareHosts?: number;
  /** How long a reader may leave the ring full before its result goes on into a file. */
  readonly spoolAfterMs?: number;
  /** How long a reader over the spool budget may take for one message before its statement fails. */
  readonly slowConsumerMs?: number;
  /** Bytes of the spool file of one result. Default: the pool's. */
  readonly spoolBytesPerResult?: number;
}

export interface HostPoolOptions {
  /** Where the pool makes its own folder for inputs, spill and spool files: real disk, not memory. */
  readonly folder: string;
  readonly query: LaneOptions;
  /** Planning and statements without tables; smaller limits. May also take a query host that nobody waits for. */
  readonly small: LaneOptions;
  readonly log: Logger;
  /** A host process is replaced after so many leases. Default 1,000. */
  readonly maxLeasesPerHost?: number;
  /** An instance is taken from its owner after so much idleness. Default 60,000. */
  readonly idleMs?: number;
  /** Input files that stay on a host for its owner's next lease, in bytes; above that all go. Default 1 GiB. */
  readonly keptInputBytes?: number;
  /** How long a cancelled statement may take to stop before its host is killed. Default 1,000. */
  readonly cancelGraceMs?: number;
  /** Bytes of spool files, for one result and for all. Defaults 1 GiB and 8 GiB. */
  readonly spoolBytesPerResult?: number;
  readonly spoolBytesTotal?: number;
  readonly layout?: SlotLayout;
  /** Default: the system's limit where there is one (Linux). */
  readonly memoryGuard?: MemoryGuard;
  /** The host program; tests give one with a fake engine. */
  readonly hostEntry?: URL;
}

export interface LaneSettings extends Required<LaneOptions> {
  readonly name: 'small' | 'query';
}

export interface HostPoolSettings extends Required<Omit<HostPoolOptions, 'query' | 'small'>> {
  readonly query: LaneSettings;
  readonly small: LaneSettings;
}

/** The options with every default filled in. */
export function resolvePoolOptions(options: HostPoolOptions): HostPoolSettings {
  const spoolBytesPerResult = options.spoolBytesPerResult ?? 1 << 30;
  return {
    // Hosts have another working folder.
    folder: resolve(options.folder),
    log: options.log,
    query: resolveLane('query', options.query, { spoolAfterMs: 2_000, spoolBytesPerResult }),
    // The reserved lane must not wait for a sleeping reader.
    small: resolveLane('small', options.small, { spoolAfterMs: 250, spoolBytesPerResult }),
    maxLeasesPerHost: options.maxLeasesPerHost ?? 1_000,
    idleMs: options.idleMs ?? 60_000,
    keptInputBytes: options.keptInputBytes ?? 1 << 30,
    cancelGraceMs: options.cancelGraceMs ?? 1_000,
    spoolBytesPerResult,
    spoolBytesTotal: options.spoolBytesTotal ?? 8 * 2 ** 30,
    layout: options.layout ?? defaultSlotLayout,
    memoryGuard: options.memoryGuard ?? (canLimitDataMemory ? 'system' : 'watchdog'),
    hostEntry: options.hostEntry ?? hostEntry,
  };
}

function resolveLane(
  name: 'small' | 'query',
  lane: LaneOptions,
  defaults: Required<Pick<LaneOptions, 'spoolAfterMs' | 'spoolBytesPerResult'>>,
): LaneSettings {
  return {
    name,
    hosts: Math.max(1, lane.hosts),
    limits: { ...lane.limits, threads: Math.max(1, Math.min(lane.limits.threads, availableParallelism())) },
    spareHosts: lane.spareHosts ?? 1,
    spoolAfterMs: lane.spoolAfterMs ?? defaults.spoolAfterMs,
    spoolBytesPerResult: lane.spoolBytesPerResult ?? defaults.spoolBytesPerResult,
    slowConsumerMs: lane.slowConsumerMs ?? 30_000,
  };
}
