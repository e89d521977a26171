import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogicalType } from '../plan/logical-type.js';
import type { PlanComparison } from '../plan/plan-expression.js';
import type { ScalarValue } from '../plan/plan-value.js';
import { narrowCast } from './narrow-cast.js';

const plain = (id: string): LogicalType => ({ kind: 'plain', id });
const decimal = (width: number, scale: number): LogicalType => ({
  kind: 'decimal',
  id: 'DECIMAL',
  width,
  scale,
});

const cases: readonly (readonly [
  column: LogicalType,
  cast: LogicalType,
  operator: PlanComparison,
  constant: ScalarValue,
  expected: string | undefined,
])[] = [
  [plain('INTEGER'), plain('BIGINT'), '>', 5n, '> 5'],
  [plain('INTEGER'), plain('BIGINT'), '>', 5_000_000_000n, undefined],
  [plain('INTEGER'), decimal(11, 1), '>', 55n, '> 5'],
  [plain('INTEGER'), decimal(11, 1), '>=', 55n, '>= 6'],
  [plain('INTEGER'), decimal(11, 1), '<', 55n, '< 6'],
  [plain('INTEGER'), decimal(11, 1), '<=', 55n, '<= 5'],
  [plain('INTEGER'), decimal(11, 1), '<', -55n, '< -5'],
  [plain('INTEGER'), decimal(11, 1), '<=', -55n, '<= -6'],
  [plain('INTEGER'), decimal(11, 1), '=', 55n, undefined],
  [plain('INTEGER'), decimal(11, 1), '=', 50n, '= 5'],
  [plain('INTEGER'), plain('DOUBLE'), '>', 0.1, '> 0'],
  [plain('INTEGER'), plain('DOUBLE'), '>', -0.1, '> -1'],
  [plain('INTEGER'), plain('DOUBLE'), '>', Number.NaN, undefined],
  [plain('INTEGER'), plain('DOUBLE'), '<', Number.POSITIVE_INFINITY, undefined],
  // A BIGINT does not fit a DOUBLE exactly, nor an INTEGER a FLOAT.
  [plain('BIGINT'), plain('DOUBLE'), '>', 0.1, undefined],
  [plain('INTEGER'), plain('FLOAT'), '>', 0.5, undefined],
  [plain('UINTEGER'), plain('INTEGER'), '>', 5n, undefined],
  [plain('UINTEGER'), plain('BIGINT'), '>', 5n, '> 5'],
  [plain('INTEGER'), plain('UBIGINT'), '>', 5n, undefined],
  [decimal(15, 2), decimal(16, 3), '<', 7123n, '< 713'],
  [decimal(15, 2), decimal(18, 1), '<', 71n, undefined],
  [decimal(15, 2), plain('DOUBLE'), '<', 7.5, undefined],
  [decimal(15, 2), plain('INTEGER'), '<', 7n, undefined],
  [plain('DATE'), plain('TIMESTAMP'), '>', 36_000_000_000n, '> 0'],
  [plain('DATE'), plain('TIMESTAMP'), '<', -36_000_000_000n, '< 0'],
  [plain('DATE'), plain('TIMESTAMP WITH TIME ZONE'), '>', 0n, undefined],
  [plain('TIMESTAMP'), plain('DATE'), '>', 0n, '>= 86400000000'],
  [plain('TIMESTAMP'), plain('DATE'), '>=', -1n, '>= -86400000000'],
  [plain('TIMESTAMP'), plain('DATE'), '<', 2n, '< 172800000000'],
  [plain('TIMESTAMP'), plain('DATE'), '<=', -1n, '< 0'],
  [plain('TIMESTAMP'), plain('DATE'), '=', 0n, undefined],
  [plain('TIMESTAMP'), plain('DATE'), '<', 2_147_483_647n, undefined],
  [plain('TIMESTAMP WITH TIME ZONE'), plain('DATE'), '>', 0n, undefined],
  [plain('VARCHAR'), plain('INTEGER'), '>', 0n, undefined],
];

describe('a comparison of a cast column', () => {
  for (const [column, cast, operator, value, expected] of cases)
    test(`${column.id}::${cast.id} ${operator} ${value} is ${expected ?? 'unknown'}`, () => {
      const narrowed = narrowCast(column, cast, operator, { kind: 'scalar', type: cast, value });
      assert.equal(narrowed && `${narrowed.operator} ${narrowed.literal.value}`, expected);
    });
});
