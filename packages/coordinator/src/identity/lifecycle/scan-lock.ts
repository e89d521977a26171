/** What keeps the token scans of several coordinators apart. */
export interface ScanLock {
  /**
   * Does the work while no other coordinator does its own. Whoever cannot have the lock in time does it all the same
   * (`isAlone` is false then): renewing tokens never depends on the lock.
   */
  run(work: (isAlone: boolean) => Promise<void>, signal: AbortSignal): Promise<void>;
  /** After the last `run`. */
  close(): void;
}

/** Of one coordinator: its scans do not overlap anyway. */
export const noScanLock: ScanLock = {
  run: (work) => work(true),
  close() {},
};
