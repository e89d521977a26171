import type { Listener } from '@svc/coordinator';

export interface BannerFacts {
  readonly version: string;
  readonly engineVersion: string;
  readonly listeners: readonly Listener[];
  readonly catalogName: string;
  readonly catalogPath: string;
  readonly passwordPath: string;
  readonly username: string;
  readonly hasSample: boolean;
  readonly isTls: boolean;
  readonly startedInMs: number;
}

/** What a person sees at the start, on standard error: standard output has only log lines. */
export function banner(facts: BannerFacts): string {
  const width = Math.max(...facts.listeners.map((listener) => listener.name.length));
  const listeners = facts.listeners.map(
    (listener) => `  ${listener.name.padEnd(width)}  ${listener.address}`,
  );
  return [
    `svc ${facts.version} (DuckDB ${facts.engineVersion}) is ready after ${(facts.startedInMs / 1000).toFixed(1)} s`,
    '',
    ...listeners,
    '',
    `Catalog "${facts.catalogName}" is the folder ${facts.catalogPath}`,
    `Sign in as "${facts.username}" with the password in ${facts.passwordPath}`,
    '',
    'Three things to try:',
    ...suggestions(facts),
    '',
    'Ctrl-C stops after running queries have finished; a second Ctrl-C stops at once.',
    '',
  ].join('\n');
}

function suggestions(facts: BannerFacts): readonly string[] {
  const flight = facts.listeners.find((listener) => listener.kind === 'flight');
  const health = facts.listeners.find((listener) => listener.kind === 'health');
  const sql = facts.hasSample
    ? 'SELECT origin, count(*) AS flights, avg(delay) FROM samples.flights GROUP BY origin ORDER BY 2 DESC LIMIT 5'
    : 'SHOW SCHEMAS';
  const [host, port] = splitAddress(flight?.address ?? '');
  const encryption = facts.isTls ? '' : '&useEncryption=false';
  return [
    ...(flight
      ? [
          '  Python    pip install adbc-driver-flightsql pyarrow',
          `            import adbc_driver_flightsql.dbapi as d; c = d.connect("${flight.address}",`,
          `              db_kwargs={"username": "${facts.username}", "password": open("${facts.passwordPath}").read().strip()}).cursor()`,
          `            c.execute("${sql}"); print(c.fetch_arrow_table())`,
          `  JDBC      jdbc:arrow-flight-sql://${host}:${port}/?user=${facts.username}${encryption}   (password: "$(cat ${facts.passwordPath})")`,
        ]
      : []),
    ...(health ? [`  Status    curl ${health.address}/api/v1/status`] : []),
  ];
}

function splitAddress(address: string): readonly [string, string] {
  const match = /^[a-z+]+:\/\/(.*):(\d+)$/.exec(address);
  return [match?.[1] ?? '', match?.[2] ?? ''];
}
