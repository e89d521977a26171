export function median(values) {
  return quantile(values, 0.5);
}

/** Nearest rank: a value that was measured, never one between two. */
export function quantile(values, fraction) {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(fraction * sorted.length) - 1))];
}

export function sum(values) {
  return values.reduce((total, value) => total + value, 0);
}
