/** Expressions of a plan as far as they tell of rows: which can fail on a value, and which say the same. */
import type { LogicalType } from '../plan/logical-type.js';
import type { PlanExpression } from '../plan/plan-expression.js';
import type { PlanTableFilter } from '../plan/plan-filter.js';

const leakproofFunctions: ReadonlySet<string> = new Set([
  '~~',
  '!~~',
  '~~*',
  '!~~*',
  '~~~',
  'contains',
  'ends_with',
  'prefix',
  'starts_with',
  'struct_extract',
  'suffix',
]);

/** Whether it has an answer for every value, and says no more of it than that. */
export function isLeakproof(expression: PlanExpression): boolean {
  switch (expression.kind) {
    case 'reference':
    case 'constant':
    case 'parameter':
      return true;
    case 'comparison':
      return isLeakproof(expression.left) && isLeakproof(expression.right);
    case 'between':
      return [expression.input, expression.lower, expression.upper].every(isLeakproof);
    case 'conjunction':
      return expression.children.every(isLeakproof);
    case 'operator':
      return expression.children.every(isLeakproof);
    case 'case':
      return (
        expression.checks.every(({ when, result }) => isLeakproof(when) && isLeakproof(result)) &&
        isLeakproof(expression.otherwise)
      );
    case 'cast':
      return isLeakproof(expression.child) && (expression.tryCast || isWidening(expression));
    case 'function':
      return leakproofFunctions.has(expression.name) && expression.children.every(isLeakproof);
    case 'aggregate':
    case 'window':
    case 'unnest':
      return false;
  }
}

export function isLeakproofFilter(filter: PlanTableFilter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.children.every(isLeakproofFilter);
    case 'field':
    case 'optional':
      return isLeakproofFilter(filter.child);
    case 'expression':
      return isLeakproof(filter.expression);
    default:
      return true;
  }
}

/** Whole numbers in the order of what they can hold; the others by what they can hold of them. */
const digits: Readonly<Record<string, number>> = {
  TINYINT: 3,
  SMALLINT: 5,
  INTEGER: 10,
  BIGINT: 19,
  HUGEINT: 38,
};

function isWidening({ type, child }: Extract<PlanExpression, { kind: 'cast' }>): boolean {
  const from = typeOf(child);
  if (from === undefined) return false;
  if (from.kind === 'decimal') {
    if (type.kind === 'plain') return type.id === 'DOUBLE';
    return (
      type.kind === 'decimal' &&
      type.scale >= from.scale &&
      type.width - type.scale >= from.width - from.scale
    );
  }
  if (from.kind !== 'plain') return false;
  const size = digits[from.id];
  if (size !== undefined) {
    if (type.kind === 'decimal') return type.width - type.scale >= size;
    return type.kind === 'plain' && (type.id === 'DOUBLE' || (digits[type.id] ?? 0) >= size);
  }
  return from.id === 'FLOAT' && type.kind === 'plain' && type.id === 'DOUBLE';
}

function typeOf(expression: PlanExpression): LogicalType | undefined {
  return 'type' in expression ? expression.type : undefined;
}

/**
 * A text that two expressions share where they say the same of rows of the same types; `name` tells references apart, where
 * they are to be.
 */
export function conditionText(
  condition: PlanExpression | PlanTableFilter,
  name: (index: number) => string = () => '',
): string {
  return JSON.stringify(condition, (_key, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`;
    if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
    if (isReference(value)) return { ...value, index: name(value.index) };
    return value;
  });
}

function isReference(value: unknown): value is { readonly kind: 'reference'; readonly index: number } {
  return (
    typeof value === 'object' &&
    value !== null &&
    'kind' in value &&
    value.kind === 'reference' &&
    'index' in value
  );
}
