import type { PlanTableFilter } from '../plan/plan-filter.js';
import type { ColumnOrigin } from './column-origin.js';
import { allOf, anyOf, filterOfConstant, filterOfExpression, filterOfIn } from './expression-filter.js';
import type { ScanFilter } from './scan-request.js';

/** A filter that the engine pushed into a scan, as a scan filter; undefined when nothing is known. */
export function filterOfTableFilter(filter: PlanTableFilter, origin: ColumnOrigin): ScanFilter | undefined {
  switch (filter.kind) {
    case 'compare':
      return filterOfConstant(origin, filter.operator, filter.value);
    case 'in':
      return filterOfIn(origin, filter.values);
    case 'is-null':
    case 'is-not-null':
      return { kind: filter.kind, column: origin.path };
    case 'and':
      return allOf(filter.children.map((child) => filterOfTableFilter(child, origin)));
    case 'or':
      // Below OR an optional filter promises nothing, so it counts as unknown there.
      return anyOf(
        filter.children.map((child) => (hasOptional(child) ? undefined : filterOfTableFilter(child, origin))),
      );
    case 'field': {
      const field =
        origin.type.kind === 'struct'
          ? origin.type.fields.find((candidate) => candidate.name === filter.name)
          : undefined;
      const inner = field && { get: origin.get, path: [...origin.path, field.name], type: field.type };
      return inner && filterOfTableFilter(filter.child, inner);
    }
    case 'optional':
      return filterOfTableFilter(filter.child, origin);
    case 'expression':
      return filterOfExpression(filter.expression, (index) => (index === 0 ? origin : undefined));
    case 'dynamic':
      return undefined;
  }
}

function hasOptional(filter: PlanTableFilter): boolean {
  if (filter.kind === 'optional' || filter.kind === 'dynamic') return true;
  if (filter.kind === 'and' || filter.kind === 'or') return filter.children.some(hasOptional);
  return filter.kind === 'field' && hasOptional(filter.child);
}
