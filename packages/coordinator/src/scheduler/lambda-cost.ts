/** A model of what a statement's scans would take and cost as functions: not a measurement. Prices of us-east-1, arm64. */

/** What a function sustains from storage, whatever its memory. */
const networkBytesPerSecond = 75 * 2 ** 20;
/** One processor's worth: less memory computes slower than the network brings. */
const memoryGb = 1769 / 1024;
const dollarsPerGbSecond = 0.000_013_333_4;
const dollarsPerInvocation = 0.000_000_2;
const dollarsPerGet = 0.000_000_4;
const bytesPerGet = 8 * 2 ** 20;
/** Sending, staging's first byte, the engine's start on its rows, and the answer. */
const overheadSeconds = 0.35;

export interface LambdaCost {
  readonly invocations: number;
  /** Of the longest, all of them running beside each other. */
  readonly seconds: number;
  readonly dollars: number;
}

export function modelLambda(splitBytes: readonly number[]): LambdaCost {
  const seconds = splitBytes.map((bytes) => overheadSeconds + bytes / networkBytesPerSecond);
  const gets = splitBytes.reduce((sum, bytes) => sum + Math.ceil(bytes / bytesPerGet), 0);
  const total = seconds.reduce((sum, each) => sum + each, 0);
  return {
    invocations: splitBytes.length,
    seconds: seconds.reduce((most, each) => Math.max(most, each), 0),
    dollars:
      total * memoryGb * dollarsPerGbSecond + splitBytes.length * dollarsPerInvocation + gets * dollarsPerGet,
  };
}
