/**
 * What another thread of the same process may do with a connection while it runs: the engine's C functions for it are
 * thread-safe. The address is `EngineInstance.connectionAddress`, valid until the instance closes.
 */
import type { EngineProgress } from '../api.js';
import { duckDb } from '../capi/library.js';
import type { Address } from '../capi/memory.js';

/** Makes the running statement fail with CANCELLED; without one, nothing happens. */
export function interruptConnection(connection: Address): void {
  duckDb().interrupt(connection);
}

/** Progress of the running statement; the fraction is undefined while the engine does not know. */
export function connectionProgress(connection: Address): EngineProgress {
  const progress = duckDb().queryProgress(connection);
  return {
    fraction: progress.percentage < 0 ? undefined : Math.min(1, progress.percentage / 100),
    rowsProcessed: BigInt(progress.rowsProcessed),
    rowsTotal: BigInt(progress.rowsTotal),
  };
}
