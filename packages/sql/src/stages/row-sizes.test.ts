import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogicalType } from '../plan/logical-type.js';
import type { GetNode, JoinNode, PlanNode } from '../plan/plan-node.js';
import { createIsCorrelated } from './plan-facts.js';
import { createRowSizes, type ScanSize } from './row-sizes.js';
import { stagePlan } from './stage-plan.js';

const bigint: LogicalType = { kind: 'plain', id: 'BIGINT' };
const key = { kind: 'reference', type: bigint, index: 0 } as const;

function scanOf(table: string): GetNode {
  return {
    ...{ kind: 'get', functionName: 'read_parquet', files: [`${table}.parquet`], child: undefined },
    ...{ names: ['k'], types: [bigint], columns: [{ index: 0, isCast: false, children: [] }] },
    ...{ projection: undefined, filters: [] },
  };
}

function joined(left: PlanNode, right: PlanNode): JoinNode {
  return {
    ...{ kind: 'join', flavour: 'comparison', joinType: 'INNER', left, right, condition: undefined },
    ...{ conditions: [{ operator: '=', left: key, right: key }], delimColumns: [], delimFlipped: false },
    ...{ leftProjection: undefined, rightProjection: undefined },
  };
}

/** One large scan joined with so many small ones, one after the other. */
function star(count: number): { readonly plan: PlanNode; readonly scans: readonly GetNode[] } {
  const fact = scanOf('fact');
  const dimensions = Array.from({ length: count }, (_, index) => scanOf(`dimension_${index}`));
  return { plan: dimensions.reduce<PlanNode>(joined, fact), scans: [fact, ...dimensions] };
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
});
