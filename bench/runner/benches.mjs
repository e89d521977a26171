// The benchmarks: what each needs to run, and how its samples become bars. The measuring itself is in bench/clients.
import { exactBar, limitBar, ratioBar, sailReferenceMs, table } from './bars.mjs';
import { readFragments, readTrivialFragments } from './read-fragments.mjs';
import { readDecisions, readPolicies } from './read-policies.mjs';
import { median, quantile, statementTimes } from './statistics.mjs';

const memoryLimitMiB = 300;
const MiB = 2 ** 20;
/** What signing in may take, on a machine where Sail answers a warm `select 1` in `sailReferenceMs`. */
const signInMs = 10;

/**
 * `program` is a client in bench/clients, told of the servers it `needs`; it answers samples. `script` is a benchmark that
 * runs on its own and prints its figures; it is given a Python with the clients.
 */
export const benches = [
  { name: 'tpch', program: 'tpch.py', needs: ['service', 'sail'], read: readTpch },
  { name: 'lake', program: 'lake.py', needs: ['lake'], read: readLake },
  { name: 'stream', program: 'stream.py', needs: ['service', 'secured', 'sail with tls'], read: readStream },
  { name: 'memory', program: 'memory.py', needs: ['service'], read: readMemory },
  { name: 'latency', program: 'latency.py', needs: ['samples', 'sail'], read: readLatency },
  { name: 'contexts', program: 'contexts.py', needs: ['service', 'contexts'], read: readContexts },
  { name: 'write', program: 'write.py', needs: ['service'], read: readWrite },
  { name: 'write memory', program: 'write_memory.py', needs: ['limited'], read: readWriteMemory },
  { name: 'ingest', program: 'ingest.py', needs: ['service'], read: readIngest },
  { name: 'sign-in', program: 'sign_in.py', needs: ['samples', 'keycloak', 'sail'], read: readSignIn },
  { name: 'fragments', program: 'fragments.py', needs: ['fragments'], read: readFragments },
  {
    name: 'fragments of nothing',
    program: 'trivial_fragments.py',
    needs: ['worker', 'sail'],
    read: readTrivialFragments,
  },
  { name: 'policies', program: 'policies.py', needs: ['policies'], read: readPolicies },
  { name: 'policy decisions', script: 'policy/decide.mjs', read: readDecisions },
  { name: 'cli', program: 'cli.py', needs: [], read: readCli },
  { name: 'catalog', program: 'catalog.py', needs: ['catalog'], read: readCatalog },
  { name: 'planning', script: 'planning/run.mjs', read: readPlanning },
  { name: 'bytes', script: 'bytes/run.mjs', read: readBytes },
  { name: 'sessions', script: 'sessions/run.mjs', read: readSessions },
  { name: 'late answers', script: 'storage/run.mjs', read: readLateAnswers },
];

function readTpch({ equal, queries, wrong, seconds }) {
  const { rows, totals } = statementTimes(seconds, ['svc', 'sail', 'duckdb']);
  const details = rows.map((row) => [...row, (row[1] / row[3]).toFixed(2), wrong[row[0]] ?? '']);
  return {
    details: table(['query', 'svc ms', 'sail ms', 'duckdb ms', 'svc/duckdb', 'wrong'], details),
    bars: [
      exactBar({ name: 'TPC-H results equal to DuckDB', measured: equal, wanted: queries, unit: 'queries' }),
      ratioBar({
        name: 'TPC-H total against raw DuckDB',
        measured: totals.svc,
        reference: totals.duckdb,
        unit: 's',
        atMost: 1.5,
        aim: 1.15,
      }),
      ratioBar({
        name: 'TPC-H total against Sail',
        measured: totals.svc,
        reference: totals.sail,
        unit: 's',
        atMost: 1.1,
        aim: 0.75,
      }),
    ],
  };
}

function readLake({ equal, queries, wrong, seconds, cold }) {
  const { rows, totals } = statementTimes(seconds, ['svc', 'extension', 'duckdb']);
  const details = rows.map((row) => [...row, (row[1] / row[3]).toFixed(2), wrong[row[0]] ?? '']);
  const against = (name, measured, reference, atMost) =>
    ratioBar({ name: `TPC-H on MinIO, ${name}`, measured, reference, unit: 's', atMost });
  return {
    details: table(['query', 'svc ms', 'extension ms', 'local duckdb ms', 'svc/duckdb', 'wrong'], details),
    bars: [
      exactBar({
        name: 'TPC-H on MinIO equal to DuckDB',
        measured: equal,
        wanted: queries,
        unit: 'queries',
      }),
      against('warm, against DuckDB on local files', totals.svc, totals.duckdb, 1.3),
      against("warm, against DuckDB's extension", totals.svc, totals.extension, 1),
      against("cold, against DuckDB's extension", median(cold.svc), median(cold.extension), 1.5),
    ],
  };
}

function readStream({ samples }) {
  const rate = (name) => median(samples[name].map(({ rows, seconds }) => rows / seconds / 1e6));
  const rows = Object.entries(samples).map(([name, taken]) => [
    name,
    rate(name).toFixed(2),
    median(taken.map(({ bytes, seconds }) => bytes / seconds / 1e6)).toFixed(0),
    median(taken.map(({ seconds }) => seconds)).toFixed(2),
    taken[0].cpu_seconds === null ? '' : median(taken.map((sample) => sample.cpu_seconds)).toFixed(2),
  ]);
  const counts = new Set(Object.values(samples).flatMap((taken) => taken.map((sample) => sample.rows)));
  const bar = (client, tls = '') =>
    ratioBar({
      name: `lineitem to ${client}${tls} against Sail`,
      measured: rate(`svc ${client}${tls}`),
      reference: rate(`sail ${client}${tls}`),
      unit: 'M rows/s',
      atLeast: 0.85,
      aim: 1.2,
    });
  return {
    details: table(['reader', 'M rows/s', 'MB/s', 'seconds', 'server CPU s'], rows),
    bars: [
      exactBar({ name: 'row counts that differ', measured: counts.size - 1, wanted: 0, unit: 'counts' }),
      bar('adbc'),
      bar('pyarrow'),
      bar('adbc', ' tls'),
      bar('pyarrow', ' tls'),
    ],
  };
}

function readMemory({ idle_bytes: idle, samples }) {
  const peak = Math.max(...samples.map(({ peak_bytes: bytes }) => bytes));
  const rows = samples.map((sample, run) => [
    run + 1,
    ...[idle, sample.peak_bytes, sample.after_bytes].map((bytes) => (bytes / MiB).toFixed(0)),
  ]);
  return {
    details: table(['run', 'idle MiB', 'peak MiB', 'after MiB'], rows),
    bars: [
      limitBar({
        name: 'memory above idle, one reader and one sleeper',
        measured: (peak - idle) / MiB,
        unit: 'MiB',
        atMost: memoryLimitMiB,
      }),
    ],
  };
}

function readWrite({ samples }) {
  const rows = Object.entries(samples).map(([name, seconds]) => [name, median(seconds).toFixed(2)]);
  return {
    details: table(['writer', 'seconds'], rows),
    bars: [
      ratioBar({
        name: 'CREATE TABLE AS of lineitem against COPY',
        measured: median(samples.svc),
        reference: median(samples.duckdb),
        unit: 's',
        atMost: 1.3,
      }),
    ],
  };
}

/** The server's own memory beside its engine's limit. */
function readWriteMemory({ idle_bytes: idle, limit_bytes: limit, samples }) {
  const peak = (name) => Math.max(...samples[name].map(({ peak_bytes: bytes }) => bytes));
  const names = Object.keys(samples);
  const rows = names.map((name) => [
    name,
    samples[name][0].rows,
    median(samples[name].map(({ seconds }) => seconds)).toFixed(1),
    (peak(name) / MiB).toFixed(0),
  ]);
  return {
    details: `${table(['table', 'rows', 'seconds', 'peak MiB'], rows)}\nidle ${(idle / MiB).toFixed(0)} MiB, engine limit ${limit / MiB} MiB`,
    bars: names.map((name) =>
      limitBar({
        name: `memory beside the engine's limit, CREATE TABLE AS ${name}`,
        measured: (peak(name) - limit) / MiB,
        unit: 'MiB',
        atMost: memoryLimitMiB,
      }),
    ),
  };
}

function readIngest({ samples, rows, bytes, idle_bytes: idle, peak_bytes: peak }) {
  const rate = (name) => rows / median(samples[name]) / 1e6;
  const figures = Object.keys(samples).map((name) => [
    name,
    median(samples[name]).toFixed(2),
    (bytes / median(samples[name]) / 1e6).toFixed(0),
  ]);
  return {
    details: `${table(['writer', 'seconds', 'MB/s'], figures)}\nmemory above idle ${((peak - idle) / MiB).toFixed(0)} MiB`,
    bars: [
      ratioBar({
        name: 'ingest of lineitem against the engine alone',
        measured: rate('svc'),
        reference: rate('engine'),
        unit: 'M rows/s',
        atLeast: 0.5,
      }),
    ],
  };
}

function readLatency({ select_1: ones, flights, row_groups: [left, all] }) {
  const milliseconds = (values, fraction) => quantile(values, fraction) * 1000;
  const rows = [
    ...Object.entries(ones).map(([name, values]) => [`select 1, ${name}`, values]),
    [`samples.flights, ${left} of ${all} row groups`, flights],
  ].map(([name, values]) => [
    name,
    ...[0.5, 0.9, 0.99].map((fraction) => milliseconds(values, fraction).toFixed(2)),
  ]);
  return {
    details: table(['statement', 'p50 ms', 'p90 ms', 'p99 ms'], rows),
    bars: [
      ratioBar({
        name: 'select 1, p50 against Sail',
        measured: milliseconds(ones.svc, 0.5),
        reference: milliseconds(ones.sail, 0.5),
        unit: 'ms',
        atMost: 3,
        aim: 1,
      }),
      exactBar({
        name: 'row groups that the filter on samples.flights keeps',
        measured: left,
        wanted: 1,
        unit: 'groups',
      }),
      limitBar({
        name: 'filter on samples.flights, p50',
        measured: milliseconds(flights, 0.5),
        unit: 'ms',
        atMost: 40,
      }),
    ],
  };
}

/** The provider's time is what the service says that it has waited for it; all else is our own share, the client's too. */
function readSignIn({ shares, flood }) {
  const milliseconds = (values, fraction) => quantile(values, fraction) * 1000;
  const row = (name, values) => [
    name,
    ...[0.5, 0.9, 0.99].map((fraction) => milliseconds(values, fraction).toFixed(1)),
    values.length,
  ];
  const rows = [
    ...Object.entries(shares).map(([name, values]) => row(`sign-in and select 1: ${name}`, values)),
    ...Object.entries(flood.seconds).map(([name, values]) => row(name, values)),
  ];
  const beside = (who) =>
    ratioBar({
      name: `${who}, p99 beside 1,000 wrong passwords against without`,
      measured: milliseconds(flood.seconds[`${who}, beside wrong passwords`], 0.99),
      reference: milliseconds(flood.seconds[`${who}, alone`], 0.99),
      unit: 'ms',
      atMost: 2,
    });
  return {
    details: table(['what', 'p50 ms', 'p90 ms', 'p99 ms', 'samples'], rows),
    bars: [
      limitBar({
        name: 'sign-in and select 1, own share, median',
        measured: milliseconds(shares['own share'], 0.5),
        unit: 'ms',
        atMost: signInMs,
      }),
      ratioBar({
        name: 'sign-in and select 1, own share, median, against a warm select 1 of Sail',
        measured: milliseconds(shares['own share'], 0.5),
        reference: milliseconds(shares["sail's, warm"], 0.5),
        unit: 'ms',
        atMost: signInMs / sailReferenceMs,
      }),
      limitBar({
        name: 'of 1,000 wrong passwords the provider sees',
        measured: Math.max(...flood.asked),
        unit: 'requests',
        atMost: flood.limit,
      }),
      beside('another user'),
      beside('the same user elsewhere'),
    ],
  };
}

function readContexts(samples) {
  const p50 = (taken) => median(taken) * 1000;
  const rows = Object.entries(samples).map(([what, { service, contexts }]) => [
    what,
    ...[service, contexts].map((taken) => p50(taken).toFixed(2)),
  ]);
  const planning = samples['planning a join of two tables'];
  return {
    details: table(['call', 'asked each time, p50 ms', 'with session contexts, p50 ms'], rows),
    bars: [
      ratioBar({
        name: 'planning with session contexts, p50 against without',
        measured: p50(planning.contexts),
        reference: p50(planning.service),
        unit: 'ms',
        atMost: 1.1,
        aim: 0.8,
      }),
    ],
  };
}

/** Times since the start of a process; reading is timed within a session, as the engine is within its client. */
function readCli({ samples, bytes }) {
  const milliseconds = (name) => median(samples[name]) * 1000;
  const rows = Object.keys(samples).map((name) => [name, milliseconds(name).toFixed(0)]);
  return {
    details: `${table(['what', 'median ms'], rows)}\nthe file has ${(bytes / 1e9).toFixed(2)} GB`,
    bars: [
      limitBar({
        name: 'svc sql, first answer',
        measured: milliseconds('select 1'),
        unit: 'ms',
        atMost: 400,
      }),
      limitBar({
        name: 'svc sql, count of 3 M flights, to the end',
        measured: milliseconds('count of 3 M flights'),
        unit: 'ms',
        atMost: 1000,
      }),
      ratioBar({
        name: 'svc sql, 1 GB of Parquet against the engine',
        measured: milliseconds('1 GB of Parquet, svc sql') / 1000,
        reference: milliseconds('1 GB of Parquet, engine') / 1000,
        unit: 's',
        atMost: 1.15,
      }),
    ],
  };
}

/** The first run of a call finds nothing cached. */
function readCatalog({ idle_bytes: idle, samples }) {
  const milliseconds = (name, pick) => pick(samples[name].map(({ seconds }) => seconds * 1000));
  const peak = (name) => Math.max(...samples[name].map(({ peak_bytes: bytes }) => bytes)) - idle;
  const names = Object.keys(samples);
  const rows = names.map((name) => [
    name,
    samples[name][0].rows,
    milliseconds(name, ([first]) => first).toFixed(0),
    milliseconds(name, median).toFixed(0),
    (peak(name) / MiB).toFixed(0),
  ]);
  const withPatterns = names.filter((name) => /^GetTables.*pattern/.test(name));
  return {
    details: table(['call', 'rows', 'first ms', 'median ms', 'MiB above idle'], rows),
    bars: [
      exactBar({
        name: 'tables that GetTables answers',
        measured: samples['GetTables, all'][0].rows,
        wanted: 10_000,
        unit: 'tables',
      }),
      ...withPatterns.map((name) =>
        limitBar({
          name: `${name}, slowest run`,
          measured: milliseconds(name, (all) => Math.max(...all)),
          unit: 'ms',
          atMost: 1000,
        }),
      ),
      limitBar({
        name: 'memory above idle, GetTables with patterns and of all names',
        measured: Math.max(...[...withPatterns, 'GetTables, all'].map(peak)) / MiB,
        unit: 'MiB',
        atMost: 200,
      }),
    ],
  };
}

/** Reads the lines `<scenario>  empty <ms>  …  pyiceberg <ms>  …`. */
function readPlanning(lines) {
  const figures = lines.flatMap((line) => {
    const found = /^(.+?)\s+empty\s+([\d.]+).*pyiceberg\s+([\d.]+)/.exec(line);
    return found === null
      ? []
      : [{ scenario: found[1], measured: Number(found[2]), reference: Number(found[3]) }];
  });
  const memory = lines.flatMap((line) => {
    const found = /^\d+ files planned, (.+?)\s+(\d+) MiB/.exec(line);
    return found === null
      ? []
      : [{ name: `planning 100,000 files, ${found[1]}`, measured: Number(found[2]) }];
  });
  return {
    details: lines.join('\n'),
    bars: [
      exactBar({
        name: 'planning scenarios measured',
        measured: figures.length,
        wanted: 4,
        unit: 'scenarios',
      }),
      ...figures.map(({ scenario, measured, reference }) =>
        ratioBar({ name: `planning ${scenario}`, measured, reference, unit: 'ms', atMost: 0.4 }),
      ),
      exactBar({ name: 'planning memories measured', measured: memory.length, wanted: 2, unit: 'processes' }),
      ...memory.map(({ name, measured }) =>
        limitBar({ name, measured, unit: 'MiB', atMost: memoryLimitMiB }),
      ),
    ],
  };
}

function readBytes(lines) {
  const figures = lines.flatMap((line) => {
    const found = /^(.+?): .*the query (\d+) in .*at most (\d+)\), again (\d+)$/.exec(line);
    return found === null ? [] : [{ name: found[1], bytes: +found[2], atMost: +found[3], again: +found[4] }];
  });
  return {
    details: lines.join('\n'),
    bars: [
      exactBar({ name: 'bytes of queries measured', measured: figures.length, wanted: 2, unit: 'queries' }),
      ...figures.flatMap(({ name, bytes, atMost, again }) => [
        limitBar({ name: `bytes of ${name}`, measured: bytes, unit: 'bytes', atMost }),
        exactBar({ name: `bytes of ${name}, again`, measured: again, wanted: 0, unit: 'bytes' }),
      ]),
    ],
  };
}

/** The two figures of a line `NAME measured X  reference Y`. */
function figureIn(lines, name, unit) {
  const [, measured, reference] =
    lines
      .find((line) => line.startsWith(name))
      ?.split(/\s(?:measured|reference)\s/)
      .map(Number.parseFloat) ?? [];
  return { measured, reference, unit };
}

function readSessions(lines) {
  const figure = (name) => figureIn(lines, name, 'µs');
  const lookUp = figure('look-up');
  return {
    details: lines.join('\n'),
    bars: [
      limitBar({ name: 'checking a session, of 10,000', measured: lookUp.measured, unit: 'µs', atMost: 100 }),
      ratioBar({ name: 'checking a session against a bare SHA-256', ...lookUp, atMost: 4 }),
      ratioBar({ name: 'open and close, 10,000 against 1,000', ...figure('open and close'), atMost: 3 }),
      ratioBar({ name: 'giving way, 10,000 against 1,000', ...figure('giving way'), atMost: 3 }),
    ],
  };
}

function readLateAnswers(lines) {
  const figure = (name, unit = 'ms') => figureIn(lines, name, unit);
  return {
    details: lines.join('\n'),
    bars: [
      ratioBar({ name: '1 % late, against none late', ...figure('hedged / no faults'), atMost: 1.5 }),
      ratioBar({ name: '1 % late, against waiting for them', ...figure('hedged / not hedged'), atMost: 0.2 }),
      ratioBar({ name: 'requests, 1 % late', ...figure('requests / ranges', 'requests'), atMost: 1.05 }),
    ],
  };
}
