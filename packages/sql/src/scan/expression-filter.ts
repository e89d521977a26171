import type {
  BetweenExpression,
  ComparisonExpression,
  FunctionExpression,
  OperatorExpression,
  PlanExpression,
} from '../plan/plan-expression.js';
import type { PlanValue } from '../plan/plan-value.js';
import { type ColumnOrigin, type Origins, originOfExpression } from './column-origin.js';
import { comparableLiteral, mirrorOperator, negateOperator } from './comparable-literal.js';
import { narrowCast } from './narrow-cast.js';
import type { ComparisonOperator, ScanFilter } from './scan-request.js';

/**
 * A scan filter that is true wherever the expression (or, negated, its NOT) is true; undefined when nothing is known.
 * It may be true elsewhere: unknown parts of an AND are dropped. Negation is carried down to the leaves, where it is
 * exact, so that a weakened part is never negated. NULL and false are alike here: neither keeps a row.
 */
export function filterOfExpression(
  expression: PlanExpression,
  origins: Origins,
  negated = false,
): ScanFilter | undefined {
  switch (expression.kind) {
    case 'conjunction': {
      const parts = expression.children.map((child) => filterOfExpression(child, origins, negated));
      return (expression.operator === 'and') !== negated ? allOf(parts) : anyOf(parts);
    }
    case 'comparison':
      return filterOfComparison(expression, origins, negated);
    case 'between':
      return filterOfBetween(expression, origins, negated);
    case 'operator':
      return filterOfOperator(expression, origins, negated);
    case 'function':
      return negated ? undefined : filterOfFunction(expression, origins);
    case 'reference':
      return filterOfFlag(expression, origins, !negated);
    default:
      return undefined;
  }
}

/** AND: what is unknown is left out. Undefined when nothing is left. */
export function allOf(parts: readonly (ScanFilter | undefined)[]): ScanFilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  return known.length < 2 ? known[0] : { kind: 'and', filters: known };
}

/** OR: one unknown part makes the whole unknown. */
export function anyOf(parts: readonly (ScanFilter | undefined)[]): ScanFilter | undefined {
  const known = parts.filter((part) => part !== undefined);
  if (known.length < parts.length || known.length === 0) return undefined;
  return known.length === 1 ? known[0] : { kind: 'or', filters: known };
}

function filterOfComparison(
  comparison: ComparisonExpression,
  origins: Origins,
  negated: boolean,
): ScanFilter | undefined {
  const { left, right } = comparison;
  if (right.kind === 'constant')
    return filterOfSides(left, comparison.operator, right.value, origins, negated);
  if (left.kind === 'constant')
    return filterOfSides(right, mirrorOperator(comparison.operator), left.value, origins, negated);
  return undefined;
}

function filterOfSides(
  side: PlanExpression,
  operator: ComparisonExpression['operator'],
  value: PlanValue,
  origins: Origins,
  negated: boolean,
): ScanFilter | undefined {
  if (side.kind === 'cast' && !side.tryCast) {
    const origin = originOfExpression(side.child, origins);
    const narrowed = origin && narrowCast(origin.type, side.type, operator, value);
    if (origin === undefined || narrowed === undefined) return undefined;
    const kept = negated ? negateOperator(narrowed.operator) : narrowed.operator;
    return { kind: 'compare', column: origin.path, operator: kept, literal: narrowed.literal };
  }
  const origin = originOfExpression(side, origins);
  return origin && filterOfConstant(origin, operator, value, negated);
}

/** `column op constant`, IS [NOT] DISTINCT FROM included. */
export function filterOfConstant(
  origin: ColumnOrigin,
  operator: ComparisonExpression['operator'],
  value: PlanValue,
  negated = false,
): ScanFilter | undefined {
  const column = origin.path;
  if (operator === 'is-distinct' || operator === 'is-not-distinct') {
    const equals = (operator === 'is-not-distinct') !== negated;
    if (value.kind === 'null') return { kind: equals ? 'is-null' : 'is-not-null', column };
    const literal = comparableLiteral(value, origin.type);
    if (literal === undefined) return undefined;
    return equals
      ? { kind: 'compare', column, operator: '=', literal }
      : anyOf([
          { kind: 'compare', column, operator: '<>', literal },
          { kind: 'is-null', column },
        ]);
  }
  const literal = comparableLiteral(value, origin.type);
  const kept: ComparisonOperator = negated ? negateOperator(operator) : operator;
  return literal && { kind: 'compare', column, operator: kept, literal };
}

function filterOfBetween(
  between: BetweenExpression,
  origins: Origins,
  negated: boolean,
): ScanFilter | undefined {
  const { input, lower, upper } = between;
  const bounds = [
    { kind: 'comparison', operator: between.lowerInclusive ? '>=' : '>', left: input, right: lower },
    { kind: 'comparison', operator: between.upperInclusive ? '<=' : '<', left: input, right: upper },
  ] as const;
  const parts = bounds.map((bound) => filterOfComparison(bound, origins, negated));
  return negated ? anyOf(parts) : allOf(parts);
}

function filterOfOperator(
  expression: OperatorExpression,
  origins: Origins,
  negated: boolean,
): ScanFilter | undefined {
  const [input, ...others] = expression.children;
  if (input === undefined) return undefined;
  switch (expression.operator) {
    case 'not':
      return filterOfExpression(input, origins, !negated);
    case 'is-null':
    case 'is-not-null': {
      const origin = originOfExpression(input, origins);
      const isNull = (expression.operator === 'is-null') !== negated;
      return origin && { kind: isNull ? 'is-null' : 'is-not-null', column: origin.path };
    }
    case 'in':
    case 'not-in': {
      const origin = originOfExpression(input, origins);
      const values = others.map((other) => (other.kind === 'constant' ? other.value : undefined));
      const isIn = (expression.operator === 'in') !== negated;
      return origin && (isIn ? filterOfIn(origin, values) : filterOfNotIn(origin, values));
    }
    case 'coalesce':
    case 'try':
      return undefined;
  }
}

/** A NULL in the list never makes IN true, so it is left out; a list of nothing else says nothing. */
export function filterOfIn(
  origin: ColumnOrigin,
  values: readonly (PlanValue | undefined)[],
): ScanFilter | undefined {
  const present = values.filter((value) => value?.kind !== 'null');
  const literals = present.map((value) => value && comparableLiteral(value, origin.type));
  const known = literals.filter((literal) => literal !== undefined);
  if (known.length === 0 || known.length < present.length) return undefined;
  return { kind: 'in', column: origin.path, literals: known };
}

/** NOT IN is an AND of <>: parts that are unknown are left out. */
function filterOfNotIn(
  origin: ColumnOrigin,
  values: readonly (PlanValue | undefined)[],
): ScanFilter | undefined {
  return allOf(values.map((value) => value && filterOfConstant(origin, '<>', value)));
}

/** `column LIKE 'x%'` arrives as prefix(); the pattern has no wildcard left. */
function filterOfFunction(call: FunctionExpression, origins: Origins): ScanFilter | undefined {
  if (call.name !== 'prefix' && call.name !== 'starts_with' && call.name !== '^@') return undefined;
  const [text, pattern] = call.children;
  const origin = text && originOfExpression(text, origins);
  if (origin?.type.id !== 'VARCHAR' || pattern?.kind !== 'constant' || pattern.value.kind !== 'scalar')
    return undefined;
  const prefix = pattern.value.value;
  return typeof prefix === 'string' && prefix !== ''
    ? { kind: 'starts-with', column: origin.path, prefix }
    : undefined;
}

/** A BOOLEAN column that stands alone. */
function filterOfFlag(reference: PlanExpression, origins: Origins, wanted: boolean): ScanFilter | undefined {
  const origin = originOfExpression(reference, origins);
  if (origin?.type.id !== 'BOOLEAN') return undefined;
  const literal = { type: 'BOOLEAN', value: wanted };
  return { kind: 'compare', column: origin.path, operator: '=', literal };
}
