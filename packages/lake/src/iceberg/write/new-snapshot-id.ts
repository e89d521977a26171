import { randomBytes } from 'node:crypto';

/** Random and positive, so that ids say nothing of each other. */
export function newSnapshotId(): bigint {
  return BigInt.asUintN(63, randomBytes(8).readBigUInt64BE()) || 1n;
}
