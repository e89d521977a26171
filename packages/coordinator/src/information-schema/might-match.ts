import type { ScanFilter } from '@svc/sql';

/**
 * Whether rows with these values may pass the filters; false only if none can. Columns that are not among the values
 * may have any. The query runs its filters again, so that what is not understood is kept.
 */
export function mightMatch(
  filters: readonly ScanFilter[],
  values: Readonly<Record<string, string>>,
): boolean {
  return filters.every((filter) => mightHold(filter, values));
}

function mightHold(filter: ScanFilter, values: Readonly<Record<string, string>>): boolean {
  switch (filter.kind) {
    case 'and':
      return filter.filters.every((inner) => mightHold(inner, values));
    case 'or':
      return filter.filters.some((inner) => mightHold(inner, values));
  }
  const [name = '', ...within] = filter.column;
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined || within.length > 0) return true;
  switch (filter.kind) {
    case 'compare':
      return (
        filter.operator !== '=' || typeof filter.literal.value !== 'string' || filter.literal.value === value
      );
    case 'in':
      return filter.literals.some((literal) => typeof literal.value !== 'string' || literal.value === value);
    case 'starts-with':
      return value.startsWith(filter.prefix);
    case 'is-null':
      return false;
    case 'is-not-null':
      return true;
  }
}
