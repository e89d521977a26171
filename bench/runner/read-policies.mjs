// How the samples of `policies` and `policy decisions` become bars.
import { exactBar, limitBar, ratioBar, table } from './bars.mjs';
import { median, statementTimes } from './statistics.mjs';

/** How often the time of the same by hand each kind of policies may take. */
const atMost = { leakproof: 1.1, computed: 2.5, mapped: 2.5 };

export function readPolicies(kinds) {
  const parts = Object.entries(kinds).map(([kind, samples]) => readKind(kind, samples));
  return {
    details: parts.map(({ details }) => details).join('\n\n'),
    bars: parts.flatMap(({ bars }) => bars),
  };
}

function readKind(kind, { equal, queries, wrong, seconds, cpu }) {
  const { rows, totals } = statementTimes(seconds, ['policies', 'by hand']);
  const details = rows.map((row) => [...row, (row[1] / row[2]).toFixed(2), wrong[row[0]] ?? '']);
  return {
    details: `${kind} policies\n${table(['query', 'policies ms', 'by hand ms', 'policies/by hand', 'wrong'], details)}\nCPU seconds of the service: ${median(cpu.policies).toFixed(2)} with policies, ${median(cpu['by hand']).toFixed(2)} by hand`,
    bars: [
      exactBar({
        name: `TPC-H under ${kind} policies equal to DuckDB`,
        measured: equal,
        wanted: queries,
        unit: 'queries',
      }),
      ratioBar({
        name: `TPC-H under ${kind} policies against the same by hand`,
        measured: totals.policies,
        reference: totals['by hand'],
        unit: 's',
        atMost: atMost[kind],
      }),
    ],
  };
}

/** Reads the lines `<what>  <ms> ms`. */
export function readDecisions(lines) {
  const figures = lines.flatMap((line) => {
    const found = /^(.+?)\s+([\d.]+) ms$/.exec(line);
    return found === null ? [] : [{ name: found[1], measured: Number(found[2]) }];
  });
  const decisions = figures.filter(({ name }) => name.startsWith('decision'));
  const reloads = figures.filter(({ name }) => name.startsWith('reading the file'));
  return {
    details: lines.join('\n'),
    bars: [
      exactBar({
        name: 'decisions and reloads measured',
        measured: decisions.length + reloads.length,
        wanted: 5,
        unit: 'figures',
      }),
      ...decisions.map(({ name, measured }) =>
        limitBar({ name, measured: measured * 1000, unit: 'µs', atMost: 1000 }),
      ),
      ...reloads.map((figure) => limitBar({ ...figure, unit: 'ms', atMost: 1000 })),
    ],
  };
}
