/**
 * A model of what scans take and cost as functions: not a measurement of Lambda. EXPLAIN and docs/performance.md go by the same figures; prices are those of
 * us-east-1, arm64.
 */

export const lambdaModel = {
  /** What a function sustains from storage, whatever its memory. */
  networkBytesPerSecond: 75 * 2 ** 20,
  /** One processor's worth: less memory computes slower than the network brings. */
  memoryGb: 1769 / 1024,
  dollarsPerGbSecond: 0.000_013_333_4,
  dollarsPerInvocation: 0.000_000_2,
  dollarsPerGet: 0.000_000_4,
  bytesPerGet: 8 * 2 ** 20,
  /** Until a sandbox that was not there has answered a fragment of nothing; it is paid for. */
  coldStartSeconds: 0.8,
  /** Of an invocation of a sandbox that is there, without its splits: sending, the engine's session, the answer. */
  invocationSeconds: 0.15,
  /** Of each split: its first byte from storage, and what the engine is told of its files. */
  splitSeconds: 0.05,
  /** Of the coordinator's processor for each invocation: what all functions together wait for. */
  mergeSeconds: 0.0025,
} as const;

export interface LambdaCost {
  readonly invocations: number;
  /** Of the longest, all of them running beside each other in sandboxes that were not there. */
  readonly seconds: number;
  readonly dollars: number;
}

export function modelLambda(splitBytes: readonly number[]): LambdaCost {
  const { coldStartSeconds, dollarsPerInvocation } = lambdaModel;
  const seconds = splitBytes.map((bytes) => coldStartSeconds + splitSecondsOf(bytes));
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const gets = splitBytes.reduce((sum, bytes) => sum + dollarsOfGets(bytes), 0);
  return {
    invocations: splitBytes.length,
    seconds: seconds.reduce((most, each) => Math.max(most, each), 0),
    dollars: dollarsOfSeconds(total) + splitBytes.length * dollarsPerInvocation + gets,
  };
}

export interface LambdaScan {
  readonly bytes: number;
  readonly splitBytes: number;
  readonly splitsPerInvocation: number;
  readonly functions: number;
}

export interface LambdaScanCost {
  readonly seconds: number;
  /** Of the coordinator's processor, within `seconds`. */
  readonly mergeSeconds: number;
  readonly dollars: number;
}

/** A scan of many splits by so many functions at a time, each with one invocation after another. */
export function modelLambdaScan({
  bytes,
  splitBytes,
  splitsPerInvocation,
  functions,
}: LambdaScan): LambdaScanCost {
  const { coldStartSeconds, invocationSeconds, dollarsPerInvocation } = lambdaModel;
  const splits = Math.ceil(bytes / splitBytes);
  // Towards the end invocations are smaller, so that each function has as many splits as the others.
  const invocations = Math.ceil(splits / splitsPerInvocation);
  const busySeconds = (share: number) =>
    share * splitSecondsOf(bytes / splits) + Math.ceil(share / splitsPerInvocation) * invocationSeconds;
  const mergeSeconds = invocations * lambdaModel.mergeSeconds;
  return {
    seconds: Math.max(coldStartSeconds + busySeconds(Math.ceil(splits / functions)), mergeSeconds),
    mergeSeconds,
    dollars:
      dollarsOfSeconds(functions * coldStartSeconds + busySeconds(splits)) +
      invocations * dollarsPerInvocation +
      splits * dollarsOfGets(bytes / splits),
  };
}

function splitSecondsOf(bytes: number): number {
  return lambdaModel.splitSeconds + bytes / lambdaModel.networkBytesPerSecond;
}

function dollarsOfSeconds(seconds: number): number {
  return seconds * lambdaModel.memoryGb * lambdaModel.dollarsPerGbSecond;
}

function dollarsOfGets(bytes: number): number {
  return Math.ceil(bytes / lambdaModel.bytesPerGet) * lambdaModel.dollarsPerGet;
}
