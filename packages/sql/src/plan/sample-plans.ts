/** Plans for tests, made without an engine. */
import type { LogicalType } from './logical-type.js';
import type { GetNode, JoinNode, PlanNode } from './plan-node.js';

export const bigint: LogicalType = { kind: 'plain', id: 'BIGINT' };

export function scanOf(table: string, names: readonly string[] = ['k']): GetNode {
  return {
    ...{ kind: 'get', functionName: 'read_parquet', files: [`${table}.parquet`], child: undefined },
    ...{ names, types: names.map(() => bigint), projection: undefined, filters: [] },
    columns: names.map((_name, index) => ({ index, isCast: false, children: [] })),
  };
}

/** On columns of one side that equal columns of the other. */
export function joined(
  left: PlanNode,
  right: PlanNode,
  keys: readonly (readonly [left: number, right: number])[] = [[0, 0]],
): JoinNode {
  const column = (index: number) => ({ kind: 'reference', type: bigint, index }) as const;
  return {
    ...{ kind: 'join', flavour: 'comparison', joinType: 'INNER', left, right, condition: undefined },
    ...{ leftProjection: undefined, rightProjection: undefined, delimColumns: [], delimFlipped: false },
    conditions: keys.map(([one, other]) => ({ operator: '=', left: column(one), right: column(other) })),
  };
}
