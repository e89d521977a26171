// The bars of the benchmarks: what was measured, what it is compared with, and whether it holds.

/** What Sail took for a warm `select 1` where the bars were set: by its time here a limit in milliseconds becomes a ratio. */
export const sailReferenceMs = 1.8;

/** `ratio` is measured / reference. A bar is an upper bound on the ratio (`atMost`), or a lower one (`atLeast`). */
export function ratioBar({ name, measured, reference, unit, atMost, atLeast, aim }) {
  const ratio = measured / reference;
  const passes = atMost === undefined ? ratio >= atLeast : ratio <= atMost;
  const limit = atMost === undefined ? `≥ ${atLeast}` : `≤ ${Number(atMost.toFixed(2))}`;
  return {
    name,
    measured,
    reference,
    unit,
    ratio,
    limit: `${limit} ×`,
    aim: aim === undefined ? '' : `${aim} ×`,
    passes,
  };
}

/** An upper bound on the figure itself. */
export function limitBar({ name, measured, unit, atMost }) {
  return { name, measured, unit, limit: `≤ ${atMost} ${unit}`, aim: '', passes: measured <= atMost };
}

export function exactBar({ name, measured, wanted, unit }) {
  return { name, measured, unit, limit: `= ${wanted} ${unit}`, aim: '', passes: measured === wanted };
}

export function barTable(bars) {
  const rows = bars.map((bar) => [
    bar.passes ? 'PASS' : 'FAIL',
    bar.name,
    figure(bar.measured, bar.unit),
    bar.reference === undefined ? '' : figure(bar.reference, bar.unit),
    bar.ratio === undefined ? '' : bar.ratio.toFixed(2),
    bar.limit,
    bar.aim,
  ]);
  return table(['', 'bar', 'measured', 'reference', 'ratio', 'must be', 'aim'], rows);
}

/** Columns as wide as their widest cell. */
export function table(header, rows) {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => String(row[column]).length)));
  const line = (row) =>
    row
      .map((cell, column) => String(cell).padEnd(widths[column]))
      .join('  ')
      .trimEnd();
  return [line(header), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n');
}

function figure(value, unit) {
  const digits = Math.abs(value) >= 100 ? 0 : 2;
  return `${Number.isInteger(value) ? value : value.toFixed(digits)} ${unit}`;
}
