import { integerTypeNames, type LogicalType, printLogicalType } from '../plan/logical-type.js';
import type { PlanComparison } from '../plan/plan-expression.js';
import type { PlanValue } from '../plan/plan-value.js';
import type { ComparisonOperator, Literal } from './scan-request.js';

/** Types whose order in files is the engine's order. Not among them: intervals, TIMETZ (by instant), nested types. */
const comparableTypes: ReadonlySet<string> = new Set([
  'BOOLEAN',
  ...integerTypeNames,
  'HUGEINT',
  'UHUGEINT',
  'DECIMAL',
  'FLOAT',
  'DOUBLE',
  'VARCHAR',
  'BLOB',
  'UUID',
  'DATE',
  'TIME',
  'TIME_NS',
  'TIMESTAMP',
  'TIMESTAMP_S',
  'TIMESTAMP_MS',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
]);

/**
 * The constant as a scan literal, when a column of `columnType` compares with it exactly as bounds in files do. NaN is
 * none: no bound says anything about it.
 */
export function comparableLiteral(value: PlanValue, columnType: LogicalType): Literal | undefined {
  if (value.kind !== 'scalar' || !comparableTypes.has(value.type.id)) return undefined;
  const type = printLogicalType(value.type);
  if (type !== printLogicalType(columnType) || Number.isNaN(value.value)) return undefined;
  return { type, value: value.value };
}

const negations = { '=': '<>', '<>': '=', '<': '>=', '>=': '<', '>': '<=', '<=': '>' } as const;
const mirrors = { '=': '=', '<>': '<>', '<': '>', '>': '<', '<=': '>=', '>=': '<=' } as const;

/** NOT (a op b): NULL on either side stays NULL, and the engine orders NaN totally, so this holds for every value. */
export function negateOperator(operator: ComparisonOperator): ComparisonOperator {
  return negations[operator];
}

/** a op b as b op' a. */
export function mirrorOperator(operator: PlanComparison): PlanComparison {
  return operator === 'is-distinct' || operator === 'is-not-distinct' ? operator : mirrors[operator];
}
