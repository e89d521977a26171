import type { FragmentStatistics } from '@svc/fragment-fn';

/** What the fragments of a statement took together; the memory is that of the largest. */
export class StatisticsSum {
  #sum: FragmentStatistics = {
    ...{ filesRead: 0, bytesStaged: 0, bytesFetched: 0, rowsScanned: 0n, rowsReturned: 0n },
    ...{ spilledBytes: 0n, peakMemoryBytes: 0n, stagingMs: 0, engineMs: 0 },
  };

  add(other: FragmentStatistics): void {
    const sum = this.#sum;
    this.#sum = {
      filesRead: sum.filesRead + other.filesRead,
      bytesStaged: sum.bytesStaged + other.bytesStaged,
      bytesFetched: sum.bytesFetched + other.bytesFetched,
      rowsScanned: sum.rowsScanned + other.rowsScanned,
      rowsReturned: sum.rowsReturned + other.rowsReturned,
      spilledBytes: sum.spilledBytes + other.spilledBytes,
      peakMemoryBytes:
        other.peakMemoryBytes > sum.peakMemoryBytes ? other.peakMemoryBytes : sum.peakMemoryBytes,
      stagingMs: sum.stagingMs + other.stagingMs,
      engineMs: sum.engineMs + other.engineMs,
    };
  }

  get sum(): FragmentStatistics {
    return this.#sum;
  }
}
