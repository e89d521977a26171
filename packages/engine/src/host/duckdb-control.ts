import { duckDb } from '../capi/library.js';
import { connectionProgress, interruptConnection } from '../instance/watch.js';
import type { EngineControl } from './instance-interface.js';

/** The watcher thread's way to DuckDB. */
export function createControl(): EngineControl {
  // Loads the library in this thread now, not in the moment of the first cancel.
  duckDb();
  return { interrupt: interruptConnection, progress: connectionProgress };
}
