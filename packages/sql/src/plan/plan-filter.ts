import type { JsonValue } from '../json/lossless.js';
import type { PlanComparison, PlanExpression } from './plan-expression.js';
import { PlanReader } from './plan-reader.js';
import { type PlanValue, readPlanValue } from './plan-value.js';
import { comparisons, readExpression } from './read-expression.js';

/** A filter that the engine pushed into a scan, over one column. */
export type PlanTableFilter =
  | { readonly kind: 'compare'; readonly operator: PlanComparison; readonly value: PlanValue }
  | { readonly kind: 'in'; readonly values: readonly PlanValue[] }
  | { readonly kind: 'is-null' | 'is-not-null' }
  | { readonly kind: 'and' | 'or'; readonly children: readonly PlanTableFilter[] }
  /** On a field of the struct column. */
  | { readonly kind: 'field'; readonly name: string; readonly child: PlanTableFilter }
  /** Holds for every row of the result but need not be evaluated. */
  | { readonly kind: 'optional'; readonly child: PlanTableFilter }
  /** Reference 0 is the column. */
  | { readonly kind: 'expression'; readonly expression: PlanExpression }
  /** Known only while the statement runs: top-n bounds, join keys. */
  | { readonly kind: 'dynamic' };

/** By `filter_type`. */
const readers: Readonly<Record<string, (node: PlanReader) => PlanTableFilter>> = {
  CONSTANT_COMPARISON: (node) => ({
    kind: 'compare',
    operator: node.oneOf('comparison_type', comparisons),
    value: readPlanValue(node.value('constant')),
  }),
  IN_FILTER: (node) => ({ kind: 'in', values: node.list('values').map(readPlanValue) }),
  IS_NULL: () => ({ kind: 'is-null' }),
  IS_NOT_NULL: () => ({ kind: 'is-not-null' }),
  CONJUNCTION_AND: (node) => ({ kind: 'and', children: node.list('child_filters').map(readTableFilter) }),
  CONJUNCTION_OR: (node) => ({ kind: 'or', children: node.list('child_filters').map(readTableFilter) }),
  STRUCT_EXTRACT: (node) => {
    node.ignore('child_idx');
    return {
      kind: 'field',
      name: node.text('child_name'),
      child: readTableFilter(node.value('child_filter')),
    };
  },
  OPTIONAL_FILTER: (node) => {
    const child = node.value('child_filter');
    return { kind: 'optional', child: child === undefined ? { kind: 'dynamic' } : readTableFilter(child) };
  },
  EXPRESSION_FILTER: (node) => ({ kind: 'expression', expression: readExpression(node.value('expr')) }),
  DYNAMIC_FILTER: () => ({ kind: 'dynamic' }),
};

/** Throws PlanNotUnderstood for a filter that is not known. */
export function readTableFilter(json: JsonValue | undefined): PlanTableFilter {
  const node = new PlanReader(json, 'table filter');
  const filter = node.oneOf('filter_type', readers)(node);
  node.end();
  return filter;
}
