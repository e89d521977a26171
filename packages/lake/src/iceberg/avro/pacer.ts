import { setImmediate as nextTurn } from 'node:timers/promises';
import { throwIfAborted } from '@svc/base';

/**
 * Cuts a long computation into slices of a few milliseconds: after each step `if (pacer.spend(cost)) await pacer.pause()`
 * lets the process do other work, and notices an abort.
 */
export interface Pacer {
  /** True when the slice is used up. */
  spend(cost: number): boolean;
  pause(): Promise<void>;
}

/** `sliceCost`: what may be spent before a pause is due, in the caller's own unit. */
export function createPacer(sliceCost: number, signal: AbortSignal | undefined): Pacer {
  let spent = 0;
  return {
    spend(cost) {
      spent += cost;
      return spent >= sliceCost;
    },
    async pause() {
      spent = 0;
      await nextTurn();
      throwIfAborted(signal);
    },
  };
}
