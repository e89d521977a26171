import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { PlanNode } from '../plan/plan-node.js';
import { joined, scanOf } from '../plan/sample-plans.js';
import { joinKeys } from './join-keys.js';

/** Both columns of each scan are compared with both of the next one, which is joined to it; a right-deep tree. */
function chain(count: number): PlanNode {
  const keys = [
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
  ] as const;
  const scans = Array.from({ length: count + 1 }, (_, index) => scanOf(`t${index}`, ['a', 'b']));
  return scans.reduceRight<PlanNode | undefined>(
    (below, scan) => (below === undefined ? scan : joined(scan, below, keys)),
    undefined,
  ) as PlanNode;
}

describe('keys of joins', () => {
  test('name a column once for each that it is compared with, in however many ways it is reached', () => {
    const [few, many] = [joinKeys(chain(5)).length, joinKeys(chain(30)).length];
    // Each join may lead to the columns of all scans below it.
    assert.ok(many <= 40 * few, `${few} and ${many}`);
  });
});
