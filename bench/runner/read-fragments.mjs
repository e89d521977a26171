// How the samples of `fragments` and of `fragments of nothing` become bars.
import { exactBar, limitBar, ratioBar, sailReferenceMs, table } from './bars.mjs';
import { median, quantile, statementTimes, sum } from './statistics.mjs';

const MiB = 2 ** 20;
/** What a fragment of nothing may take on its way to a warm worker and back. */
const roundTripMs = 8;
const leastSpeedups = { 2: 1.8, 4: 3.3 };

export function readFragments({ tpch, scaling }) {
  const parts = [readTpch(tpch), readScaling(scaling)];
  return {
    details: parts.map(({ details }) => details).join('\n\n'),
    bars: parts.flatMap(({ bars }) => bars),
  };
}

function readTpch({ equal, queries, wrong, seconds, cpu }) {
  const { rows, totals } = statementTimes(seconds, ['workers', 'local']);
  const details = rows.map((row) => [...row, (row[1] / row[2]).toFixed(2), wrong[row[0]] ?? '']);
  const against = (name, unit, measured, reference) =>
    ratioBar({
      name: `TPC-H on MinIO through one worker against local hosts, ${name}`,
      measured,
      reference,
      unit,
      atMost: 1.25,
    });
  return {
    details: `${table(['query', 'worker ms', 'local ms', 'worker/local', 'wrong'], details)}\nCPU seconds of coordinator and worker: ${median(cpu.workers).toFixed(1)} through the worker, ${median(cpu.local).toFixed(1)} local`,
    bars: [
      exactBar({
        name: 'TPC-H through one worker equal to local hosts',
        measured: equal,
        wanted: queries,
        unit: 'queries',
      }),
      against('total', 's', totals.workers, totals.local),
    ],
  };
}

export function readTrivialFragments({ sail, trips, merges, fragments }) {
  const seconds = trips.flatMap((taken) => taken.seconds);
  const milliseconds = (values, fraction) => quantile(values, fraction) * 1000;
  const perTrip = (name) => (sum(trips.map((taken) => taken[name])) / seconds.length) * 1000;
  const rows = [
    ['fragment of nothing', seconds],
    ["Sail's select 1", sail],
  ].map(([name, values]) => [
    name,
    ...[0.5, 0.9, 0.99].map((fraction) => milliseconds(values, fraction).toFixed(2)),
  ]);
  const mergeSeconds = median(merges.map((taken) => taken.seconds));
  const [trip, one] = [milliseconds(seconds, 0.5), milliseconds(sail, 0.5)];
  return {
    details: [
      table(['what', 'p50 ms', 'p90 ms', 'p99 ms'], rows),
      `CPU milliseconds of a fragment of nothing: ${perTrip('cpu_seconds').toFixed(2)} of the coordinator, ${perTrip('worker_cpu_seconds').toFixed(2)} of the worker and its engines`,
      `${fragments} at once: ${mergeSeconds.toFixed(2)} s, CPU seconds ${median(merges.map((taken) => taken.cpu_seconds)).toFixed(2)} of the coordinator, ${median(merges.map((taken) => taken.worker_cpu_seconds)).toFixed(2)} of the worker`,
    ].join('\n'),
    bars: [
      limitBar({
        name: 'fragment of nothing, round trip to a warm worker, median',
        measured: trip,
        unit: 'ms',
        atMost: roundTripMs,
      }),
      ratioBar({
        name: 'fragment of nothing, round trip, median, against a warm select 1 of Sail',
        ...{ measured: trip, reference: one, unit: 'ms', atMost: roundTripMs / sailReferenceMs },
      }),
      limitBar({
        name: `${fragments} fragments of nothing, sent and merged`,
        measured: mergeSeconds,
        unit: 's',
        atMost: 3,
      }),
      ratioBar({
        name: `${fragments} fragments of nothing, against a warm select 1 of Sail`,
        ...{ measured: mergeSeconds * 1000, reference: one, unit: 'ms', atMost: 3000 / sailReferenceMs },
      }),
      limitBar({
        name: `${fragments} fragments of nothing, memory of the coordinator's process`,
        measured: Math.max(...merges.map((taken) => taken.peak_bytes)) / MiB,
        unit: 'MiB',
        atMost: 400,
      }),
    ],
  };
}

function readScaling({ seconds, cpu }) {
  const rows = Object.keys(seconds).map((count) => [
    count,
    median(seconds[count]).toFixed(2),
    (median(seconds['1']) / median(seconds[count])).toFixed(2),
    median(cpu[count]).toFixed(2),
  ]);
  return {
    details: table(['workers', 'seconds', 'speedup', 'CPU seconds'], rows),
    bars: Object.entries(leastSpeedups).map(([count, atLeast]) =>
      ratioBar({
        name: `a scan that waits for storage, speedup by ${count} workers`,
        measured: 1 / median(seconds[count]),
        reference: 1 / median(seconds['1']),
        unit: 'scans/s',
        atLeast,
      }),
    ),
  };
}
