/**
 * Inclusive projection of a filter through a partition spec (specification, "Scan Planning"): a condition on partition
 * values that holds wherever a row could satisfy the filter.
 */
import type { PartitionSpec } from '../spec/partition-spec.js';
import type { PrimitiveType } from '../spec/types.js';
import { type Comparable, compareValues, type PrimitiveValue, toComparable } from '../spec/values.js';
import { applyTransform } from '../transforms/apply-transform.js';
import { parseTransform, type Transform } from '../transforms/transform.js';
import type { BoundFilter, ColumnFilter } from './bind-filter.js';
import type { ColumnPredicate } from './column-predicate.js';

/** A condition on the partition tuple: `slot` is the position in the spec's fields. */
export type PartitionFilter =
  | { readonly kind: 'slot'; readonly slot: number; readonly predicate: ColumnPredicate }
  | { readonly kind: 'and' | 'or'; readonly filters: readonly PartitionFilter[] }
  | { readonly kind: 'always' }
  | { readonly kind: 'never' };

/** A longer list is projected as the range it spans (or not at all): hashing it would cost more than it saves. */
const maxProjectedValues = 1000;

/** What one predicate says of a transformed value; `undefined` says nothing. */
type Projection = ColumnPredicate | undefined;

export function projectFilter(filter: BoundFilter, spec: PartitionSpec): PartitionFilter {
  switch (filter.kind) {
    case 'always':
    case 'never':
      return filter;
    case 'and':
    case 'or':
      return joined(
        filter.kind,
        filter.filters.map((inner) => projectFilter(inner, spec)),
      );
    case 'column':
      return projectColumn(filter, spec);
  }
}

function projectColumn(filter: ColumnFilter, spec: PartitionSpec): PartitionFilter {
  const conditions: PartitionFilter[] = [];
  for (const [slot, field] of spec.fields.entries()) {
    if (field.sourceIds.length !== 1 || field.sourceIds[0] !== filter.fieldId) continue;
    const predicate = projectPredicate(filter.predicate, parseTransform(field.transform), filter.type);
    if (predicate !== undefined) conditions.push({ kind: 'slot', slot, predicate });
  }
  return joined('and', conditions);
}

function joined(kind: 'and' | 'or', filters: readonly PartitionFilter[]): PartitionFilter {
  const neutral = kind === 'and' ? 'always' : 'never';
  const decisive = kind === 'and' ? 'never' : 'always';
  const needed = filters.filter((filter) => filter.kind !== neutral);
  const [first] = needed;
  if (first === undefined) return { kind: neutral };
  if (needed.some((filter) => filter.kind === decisive)) return { kind: decisive };
  return needed.length === 1 ? first : { kind, filters: needed };
}

function projectPredicate(predicate: ColumnPredicate, transform: Transform, type: PrimitiveType): Projection {
  switch (transform.kind) {
    case 'void':
    case 'unknown':
      return undefined;
    case 'identity':
      return predicate;
    case 'bucket':
    case 'truncate':
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      break;
  }
  switch (predicate.kind) {
    case 'is-null':
    case 'is-not-null':
      return predicate; // These transforms make null of null, and of nothing else.
    case 'starts-with':
      return transform.kind === 'truncate'
        ? projectPrefix(predicate.prefix, transform.width, type)
        : undefined;
    case 'in':
      return projectList(predicate.values, transform, type);
    case 'compare':
      return transform.kind === 'bucket'
        ? projectEquality(predicate, transform, type)
        : projectOrder(predicate, transform, type);
  }
}

type Comparison = Extract<ColumnPredicate, { kind: 'compare' }>;

function projectEquality(
  { operator, value }: Comparison,
  transform: Transform,
  type: PrimitiveType,
): Projection {
  return operator === '=' ? projectList([value], transform, type) : undefined;
}

/** All transforms but bucket keep the order: x < v means that f(x) <= f(v). */
function projectOrder(
  { operator, value }: Comparison,
  transform: Transform,
  type: PrimitiveType,
): Projection {
  switch (operator) {
    case '<>':
      return undefined;
    case '=':
      return projectList([value], transform, type);
    case '<':
      return atMost(neighbour(type, value, -1), transform, type);
    case '<=':
      return atMost(value, transform, type);
    case '>':
      return atLeast(neighbour(type, value, 1), transform, type);
    case '>=':
      return atLeast(value, transform, type);
  }
}

function atMost(value: Comparable, transform: Transform, type: PrimitiveType): Projection {
  const bound = transformed(value, transform, type);
  if (bound === undefined) return undefined;
  return { kind: 'compare', operator: '<=', value: raisedBeforeEpoch(bound, transform) ?? bound };
}

function atLeast(value: Comparable, transform: Transform, type: PrimitiveType): Projection {
  const bound = transformed(value, transform, type);
  return bound === undefined ? undefined : { kind: 'compare', operator: '>=', value: bound };
}

function projectList(values: readonly Comparable[], transform: Transform, type: PrimitiveType): Projection {
  if (values.length > maxProjectedValues) return undefined;
  const results: Comparable[] = [];
  for (const value of values) {
    const result = transformed(value, transform, type);
    if (result === undefined) return undefined;
    results.push(result);
    const raised = raisedBeforeEpoch(result, transform);
    if (raised !== undefined) results.push(raised);
  }
  return { kind: 'in', values: results.sort(compareValues) };
}

function projectPrefix(prefix: Uint8Array, width: number, type: PrimitiveType): Projection {
  if (type.kind !== 'string') return undefined;
  const text = Buffer.from(prefix).toString('utf8');
  return [...text].length <= width
    ? { kind: 'starts-with', prefix }
    : projectList([prefix], { kind: 'truncate', width }, type);
}

/**
 * Some early writers rounded times before 1970 up instead of down, so that a value one higher may stand in the
 * metadata of such rows.
 */
function raisedBeforeEpoch(value: Comparable, transform: Transform): Comparable | undefined {
  switch (transform.kind) {
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return typeof value === 'number' && value < 0 ? value + 1 : undefined;
    default:
      return undefined;
  }
}

/** The next value of a type whose values are whole numbers: x < 10 is x <= 9, which may fall into an earlier part. */
function neighbour(type: PrimitiveType, value: Comparable, step: 1 | -1): Comparable {
  if (typeof value === 'bigint') return value + BigInt(step);
  return typeof value === 'number' && type.kind !== 'float' && type.kind !== 'double' ? value + step : value;
}

function transformed(value: Comparable, transform: Transform, type: PrimitiveType): Comparable | undefined {
  const source = toSourceValue(value, type);
  const result = source === undefined ? undefined : applyTransform(transform, type, source);
  return result === undefined || result === null ? undefined : toComparable(result);
}

/** A compared value as the type holds it; `undefined` beyond its range, where a transform has no meaning. */
function toSourceValue(value: Comparable, type: PrimitiveType): PrimitiveValue | undefined {
  switch (type.kind) {
    case 'int':
    case 'date': {
      const number = Number(value);
      return Math.abs(number) <= 2 ** 31 ? number : undefined;
    }
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamptz':
    case 'timestamp_ns':
    case 'timestamptz_ns': {
      if (typeof value === 'object') return undefined;
      const long = BigInt(value);
      return BigInt.asIntN(64, long) === long ? long : undefined;
    }
    case 'decimal':
      return typeof value === 'object' ? undefined : BigInt(value);
    case 'string':
      return typeof value === 'object' ? Buffer.from(value).toString('utf8') : undefined;
    case 'uuid':
    case 'fixed':
    case 'binary':
      return typeof value === 'object' ? value : undefined;
    default:
      return undefined;
  }
}
