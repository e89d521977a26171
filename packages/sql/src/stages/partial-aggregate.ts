import { typeOfExpression } from '../plan/expression-type.js';
import type { LogicalType } from '../plan/logical-type.js';
import type { AggregateExpression, PlanExpression } from '../plan/plan-expression.js';
import type { AggregateNode, PlanNode } from '../plan/plan-node.js';
import {
  aggregateOf,
  bigint,
  call,
  castTo,
  constant,
  double,
  hugeint,
  referenceTo,
  varchar,
} from './expressions.js';

/** An aggregation in two: over a part of the rows, and over what the parts answered. */
export interface SplitAggregate {
  /** Over a child with the columns of the aggregation's own. */
  partial(child: PlanNode): PlanNode;
  /** Over rows of partial answers, of all parts; answers the columns of the whole aggregation. */
  final(parts: PlanNode): PlanNode;
}

/** How one aggregate is computed from partial ones. */
interface Parts {
  readonly partials: readonly AggregateExpression[];
  /** Over the partial answers. */
  merges(partials: readonly PlanExpression[]): readonly AggregateExpression[];
  /** From the merged values. */
  result(merged: readonly PlanExpression[]): PlanExpression;
}

const sumTypes: ReadonlySet<string> = new Set(['HUGEINT', 'DOUBLE']);
const selfMerging: ReadonlySet<string> = new Set([
  'min',
  'max',
  'bool_and',
  'bool_or',
  'bit_and',
  'bit_or',
  'bit_xor',
  'any_value',
]);
/** Whose answer over distinct values needs nothing but the values, and no NULL among them. */
const overDistinct: ReadonlySet<string> = new Set(['count', 'sum', 'avg']);
const averagedIntegers: ReadonlySet<string> = new Set([
  'TINYINT',
  'SMALLINT',
  'INTEGER',
  'BIGINT',
  'HUGEINT',
]);

/**
 * Undefined when an aggregate cannot be put together from parts. Distinct arguments are grouped by in the parts, so that each
 * value comes once per part; grouping sets are left to the end, over groups by all columns.
 */
export function splitAggregate(node: AggregateNode): SplitAggregate | undefined {
  const distinctKeys: PlanExpression[] = [];
  const groupCount = node.groups.length;
  const split: (
    | { readonly parts: Parts }
    | { readonly key: number; readonly aggregate: AggregateExpression }
  )[] = [];
  for (const aggregate of node.aggregates) {
    if (aggregate.kind !== 'aggregate') return undefined;
    if (aggregate.distinct && !selfMerging.has(aggregate.name)) {
      const key = distinctKey(aggregate);
      if (key === undefined) return undefined;
      split.push({ key: groupCount + distinctKeys.length, aggregate });
      distinctKeys.push(key);
    } else {
      const parts = partsOf({ ...aggregate, distinct: false });
      if (parts === undefined) return undefined;
      split.push({ parts });
    }
  }
  const groups = [...node.groups, ...distinctKeys];
  const partials = split.flatMap((each) => ('parts' in each ? each.parts.partials : []));
  return {
    partial: (child) => ({
      kind: 'aggregate',
      child,
      groups,
      groupingSets: [],
      groupingFunctions: [],
      aggregates: partials,
    }),
    final: (parts) => finalAggregation(node, groups, split, parts),
  };
}

function finalAggregation(
  node: AggregateNode,
  groups: readonly PlanExpression[],
  split: readonly (
    | { readonly parts: Parts }
    | { readonly key: number; readonly aggregate: AggregateExpression }
  )[],
  child: PlanNode,
): PlanNode {
  const keys = groups.map((group, index) => referenceTo(index, typeOfExpression(group)));
  const groupCount = node.groups.length;
  const merged: AggregateExpression[] = [];
  const results: PlanExpression[] = [];
  let position = groups.length;
  for (const each of split) {
    const first = groupCount + merged.length;
    if ('parts' in each) {
      const references = each.parts.partials.map((partial, index) =>
        referenceTo(position + index, partial.type),
      );
      position += references.length;
      const merges = each.parts.merges(references);
      merged.push(...merges);
      results.push(each.parts.result(merges.map((merge, index) => referenceTo(first + index, merge.type))));
    } else {
      const key = keys[each.key];
      if (key === undefined) throw new Error('a distinct argument without its key');
      merged.push({ ...each.aggregate, children: [key], filter: undefined });
      results.push(referenceTo(first, each.aggregate.type));
    }
  }
  const groupingTypes = node.groupingFunctions.map((_, index) =>
    referenceTo(groupCount + merged.length + index, bigint),
  );
  return {
    kind: 'projection',
    expressions: [...keys.slice(0, groupCount), ...results, ...groupingTypes],
    child: { ...node, child, groups: keys.slice(0, groupCount), aggregates: merged },
  };
}

/** The argument where the filter holds: NULL, which these aggregates pass over, elsewhere. */
function distinctKey({ name, children, filter, orders }: AggregateExpression): PlanExpression | undefined {
  const [argument, ...others] = children;
  if (argument === undefined || others.length > 0 || !overDistinct.has(name) || orders.length > 0)
    return undefined;
  if (filter === undefined) return argument;
  const type = typeOfExpression(argument);
  const otherwise: PlanExpression = { kind: 'constant', type, value: { kind: 'null', type } };
  return { kind: 'case', type, checks: [{ when: filter, result: argument }], otherwise };
}

function partsOf(aggregate: AggregateExpression): Parts | undefined {
  const { name, type, children, filter, orders } = aggregate;
  if (orders.length > 0) return undefined;
  const [argument, second, ...others] = children;
  if (others.length > 0) return undefined;
  if (name === 'count_star' || name === 'count') return countParts(aggregate);
  if (argument === undefined) return undefined;
  if (name === 'arg_min' || name === 'arg_max') return second && extremeParts(aggregate, argument, second);
  if (second !== undefined) return undefined;
  if (selfMerging.has(name)) return merging(aggregate, (partial) => aggregateOf(name, type, [partial]));
  if (name === 'sum') {
    const isKnown = sumTypes.has(type.id) || (type.kind === 'decimal' && type.width === 38);
    return isKnown ? merging(aggregate, (partial) => aggregateOf(name, type, [partial])) : undefined;
  }
  if (name === 'avg') return averageParts(aggregate, argument);
  if (name === 'first') {
    // A part without rows answers NULL, which is not the first value of anything.
    const count = aggregateOf('count_star', bigint, [], filter);
    return {
      partials: [aggregate, count],
      merges: ([value, rows]) =>
        value && rows
          ? [
              aggregateOf(name, type, [value], {
                kind: 'comparison',
                operator: '>',
                left: rows,
                right: constant(bigint, 0n),
              }),
            ]
          : [],
      result: onlyOne,
    };
  }
  return undefined;
}

function merging(
  aggregate: AggregateExpression,
  merge: (partial: PlanExpression) => AggregateExpression,
): Parts {
  return { partials: [aggregate], merges: (partials) => partials.map(merge), result: onlyOne };
}

function onlyOne([merged]: readonly PlanExpression[]): PlanExpression {
  if (merged === undefined) throw new Error('an aggregate without a value');
  return merged;
}

/** Of no rows at all the count is 0, and so it is of no parts. */
function countParts(aggregate: AggregateExpression): Parts {
  return {
    partials: [aggregate],
    merges: (partials) => partials.map((partial) => aggregateOf('sum', hugeint, [partial])),
    result: (merged) => ({
      kind: 'operator',
      operator: 'coalesce',
      type: bigint,
      children: [castTo(bigint, onlyOne(merged)), constant(bigint, 0n)],
    }),
  };
}

/** The value that the argument is least or greatest for goes with that argument; rows where either is NULL do not count. */
function extremeParts(aggregate: AggregateExpression, value: PlanExpression, by: PlanExpression): Parts {
  const { name, type, filter } = aggregate;
  const isThere: PlanExpression = {
    kind: 'operator',
    operator: 'is-not-null',
    type: { kind: 'plain', id: 'BOOLEAN' },
    children: [value],
  };
  const counted: PlanExpression =
    filter === undefined ? isThere : { kind: 'conjunction', operator: 'and', children: [filter, isThere] };
  const extreme = aggregateOf(name === 'arg_min' ? 'min' : 'max', typeOfExpression(by), [by], counted);
  return {
    partials: [aggregate, extreme],
    merges: (partials) => [aggregateOf(name, type, partials)],
    result: onlyOne,
  };
}

/**
 * The engine keeps an exact sum of integers and of the digits of decimals, and divides it, as a float, by the count times
 * the power of ten. Dividing the decimal sum instead would round twice.
 */
function averageParts(aggregate: AggregateExpression, argument: PlanExpression): Parts | undefined {
  if (aggregate.type.id !== 'DOUBLE') return undefined;
  const of = typeOfExpression(argument);
  const sumType = sumTypeOf(of);
  if (sumType === undefined) return undefined;
  const { filter } = aggregate;
  return {
    partials: [
      aggregateOf('sum', sumType, [argument], filter),
      aggregateOf('count', bigint, [argument], filter),
    ],
    merges: ([sum, count]) =>
      sum && count ? [aggregateOf('sum', sumType, [sum]), aggregateOf('sum', hugeint, [count])] : [],
    result: ([sum, count]) => {
      if (sum === undefined || count === undefined) throw new Error('an average without its parts');
      const divisor = castTo(double, count);
      if (of.kind !== 'decimal') return call('/', double, [castTo(double, sum), divisor]);
      const scale = constant(double, 10 ** of.scale);
      return call('/', double, [castTo(double, digitsOf(sum)), call('*', double, [divisor, scale])]);
    },
  };
}

function sumTypeOf(type: LogicalType): LogicalType | undefined {
  if (averagedIntegers.has(type.id)) return hugeint;
  if (type.id === 'DOUBLE') return double;
  return type.kind === 'decimal' ? { ...type, width: 38 } : undefined;
}

/** The digits of a decimal as an integer: no arithmetic has room for them all. */
function digitsOf(decimal: PlanExpression): PlanExpression {
  const text = call('replace', varchar, [
    castTo(varchar, decimal),
    constant(varchar, '.'),
    constant(varchar, ''),
  ]);
  return castTo(hugeint, text);
}
