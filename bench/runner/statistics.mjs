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

/** Of each system the median of each statement, those as rows of a table, and the median of the runs' totals. */
export function statementTimes(seconds, systems) {
  const medians = systems.map((system) =>
    Object.fromEntries(Object.entries(seconds[system]).map(([name, taken]) => [name, median(taken)])),
  );
  const total = (system) => {
    const runs = Object.values(seconds[system]);
    return median(runs[0].map((_, run) => sum(runs.map((taken) => taken[run] ?? 0))));
  };
  return {
    rows: Object.keys(medians[0]).map((name) => [
      name,
      ...medians.map((system) => (system[name] * 1000).toFixed(1)),
    ]),
    totals: Object.fromEntries(systems.map((system) => [system, total(system)])),
  };
}
