import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { GetNode, PlanNode } from '../plan/plan-node.js';
import { bigint, joined, scanOf } from '../plan/sample-plans.js';
import { createIsCorrelated } from './plan-facts.js';
import { createRowSizes, type ScanSize } from './row-sizes.js';
import { stagePlan } from './stage-plan.js';

/** One large scan joined with so many small ones, one after the other. */
function star(count: number): { readonly plan: PlanNode; readonly scans: readonly GetNode[] } {
  const fact = scanOf('fact');
  const dimensions = Array.from({ length: count }, (_, index) => scanOf(`dimension_${index}`));
  return {
    plan: dimensions.reduce<PlanNode>((left, right) => joined(left, right), fact),
    scans: [fact, ...dimensions],
  };
}

const small: ScanSize = { bytes: 10, rowBytes: 10 };
const large: ScanSize = { bytes: 1e9, rowBytes: 1e9 };

class CountedSizes extends Map<GetNode, ScanSize> {
  reads = 0;
  override get(node: GetNode): ScanSize | undefined {
    this.reads++;
    return super.get(node);
  }
}

function sizesOf(scans: readonly GetNode[]): CountedSizes {
  const sizes = new CountedSizes();
  for (const [index, scan] of scans.entries()) sizes.set(scan, index === 0 ? large : small);
  return sizes;
}

function rowSizes(sizes: ReadonlyMap<GetNode, ScanSize>, mayBroadcastBytes = 1e6) {
  return createRowSizes({
    ...{ sizes, mayBroadcastBytes, readWholeBytes: 0, isCorrelated: createIsCorrelated() },
  });
}

describe('sizes of rows', () => {
  test('are made of one look or two at each scan, however many joins stand above it', () => {
    for (const count of [10, 30]) {
      const { plan, scans } = star(count);
      const sizes = sizesOf(scans);
      const { reach, dividedSide } = rowSizes(sizes);
      for (let node = plan; node.kind === 'join'; node = node.left) {
        assert.equal(reach(node), 1e9);
        assert.equal(dividedSide(node), 'left');
      }
      assert.ok(sizes.reads <= 2 * scans.length, `${sizes.reads} for ${count} joins`);
    }
  });

  test('take a definition into account from when it is made', () => {
    const fact = scanOf('fact');
    const definition = scanOf('wide');
    const reference: PlanNode = { kind: 'cte-reference', cteIndex: 1n, types: [bigint] };
    const join = joined(fact, reference);
    const { reach, dividedSide, define } = rowSizes(sizesOf([definition, fact]), 1000);
    assert.deepEqual([reach(join), dividedSide(join)], [10, 'left']);
    define(1n, definition);
    assert.deepEqual([reach(join), dividedSide(join)], [0, undefined]);
  });
});

describe('a plan in stages', () => {
  test('is made of a hundred joins', () => {
    const { plan } = star(100);
    const { stages } = stagePlan(plan, {
      names: Array.from({ length: 101 }, (_, index) => `x${index}`),
      bytesOf: ({ stubFile }) => (stubFile === 'fact.parquet' ? 1e9 : 10),
      mayBroadcastBytes: 1e6,
    });
    assert.deepEqual(
      stages.map(({ split, scans }) => [split !== undefined, scans.length]),
      [
        [true, 100],
        [false, 0],
      ],
    );
  });

  test('has texts that grow with the definitions that read the one before them twice, and do not double', () => {
    const lengthFor = (count: number): number => {
      const { stages } = stagePlan(definitions(count), {
        names: ['x', 'y'],
        bytesOf: ({ stubFile }) => (stubFile === 'fact.parquet' ? 1e9 : 10),
        mayBroadcastBytes: Number.POSITIVE_INFINITY,
      });
      return stages.reduce((sum, { sql }) => sum + sql.length, 0);
    };
    const [few, many] = [lengthFor(10), lengthFor(30)];
    assert.ok(many < 4 * few, `${few} and ${many}`);
  });
});

/** Each reads the one before it twice; the last one is joined with the large scan. */
function definitions(count: number): PlanNode {
  const reference = (index: number): PlanNode => ({
    ...{ kind: 'cte-reference', cteIndex: BigInt(index), types: [bigint] },
  });
  const twice = (index: number): PlanNode => ({
    ...{ kind: 'projection', expressions: [{ kind: 'reference', type: bigint, index: 0 }] },
    child: joined(reference(index), reference(index)),
  });
  let plan: PlanNode = joined(scanOf('fact'), reference(count));
  for (let index = count; index >= 0; index--)
    plan = {
      ...{ kind: 'materialized-cte', cteIndex: BigInt(index), name: `c${index}`, child: plan },
      definition: index === 0 ? scanOf('small') : twice(index - 1),
    };
  return plan;
}
