import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfAborted } from '@svc/base';

/** How long a computation may keep the process from everything else it does. */
const sliceMs = 10;

/**
 * Cuts a long computation into slices: after each step `if (pacer.isDue()) await pacer.pause()` lets other work run and
 * notices an abort.
 */
export interface Pacer {
  isDue(): boolean;
  pause(): Promise<void>;
}

export function createPacer(signal: AbortSignal | undefined): Pacer {
  let dueAt = performance.now() + sliceMs;
  return {
    isDue: () => performance.now() >= dueAt,
    async pause() {
      await nextTurn();
      throwIfAborted(signal);
      dueAt = performance.now() + sliceMs;
    },
  };
}
