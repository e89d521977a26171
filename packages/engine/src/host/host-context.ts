import type { SlotWriter } from '../shm/slot-writer.js';
import type { BlockingChannel } from './blocking-channel.js';
import type { EngineRuntime, HostInstanceOptions } from './instance-interface.js';
import type { SharedState } from './shared-state.js';

/** Everything that a host's main thread works on. */
export interface HostContext {
  readonly channel: BlockingChannel;
  readonly slots: SlotWriter;
  readonly state: SharedState;
  readonly runtime: EngineRuntime;
  readonly instanceOptions: HostInstanceOptions;
}
