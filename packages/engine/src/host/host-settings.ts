import type { EngineLimits } from '../api.js';
import type { SlotLayout } from '../shm/slot-layout.js';

/** What the parent decides about a host; travels as JSON in its one argument. */
export interface HostSettings {
  readonly limits: EngineLimits;
  readonly inputDirectory: string;
  readonly tempDirectory: string;
  readonly layout: SlotLayout;
}
