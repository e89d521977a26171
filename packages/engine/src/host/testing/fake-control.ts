import type { EngineControl } from '../instance-interface.js';

/** The watcher thread's side of the fake instance: an interrupt is a number in shared memory. */
export function createControl(data: unknown): EngineControl {
  const cells = new Int32Array(data as SharedArrayBuffer);
  return {
    interrupt() {
      Atomics.add(cells, 0, 1);
      Atomics.notify(cells, 0);
    },
    progress: () => ({ fraction: 0.5, rowsProcessed: 50n, rowsTotal: 100n }),
  };
}
