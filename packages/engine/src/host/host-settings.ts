import type { EngineLimits } from '../api.js';
import type { SlotLayout } from '../shm/slot-layout.js';

/**
 * What holds a host to its memory: the system's own limit, under which the engine reports the failed allocation and
 * lives, or, where there is none, a watchdog that ends the host.
 */
export type MemoryGuard = 'system' | 'watchdog';

/** What the parent decides about a host; travels as JSON in its one argument. */
export interface HostSettings {
  readonly limits: EngineLimits;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly tempDirectory: string;
  readonly layout: SlotLayout;
  readonly memoryGuard: MemoryGuard;
}
