import type { Listener, SignInFacts } from '@svc/coordinator';

export interface BannerFacts {
  readonly version: string;
  readonly engineVersion: string;
  readonly listeners: readonly Listener[];
  readonly catalogName: string;
  /** `the folder …` or `at https://…`. */
  readonly catalogPlace: string;
  readonly signIn: SignInFacts;
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
    `Catalog "${facts.catalogName}" is ${facts.catalogPlace}`,
    howToSignIn(facts.signIn),
    '',
    'Three things to try:',
    ...suggestions(facts),
    '',
    'Ctrl-C stops after running queries have finished; a second Ctrl-C stops at once.',
    '',
  ].join('\n');
}

function howToSignIn(signIn: SignInFacts): string {
  switch (signIn.kind) {
    case 'local':
      return `Sign in as "${signIn.username}" with the password in ${signIn.passwordPath}`;
    case 'password':
      return `Sign in with your user name and password at ${signIn.providerUrl}, or with an access token from there`;
    case 'client_credentials':
      return signIn.needsPassword
        ? 'Sign in with any user name and the password of auth.handshake_password'
        : 'Sign in with any user name and any password: WHOEVER REACHES THE PORT acts as the service principal';
  }
}

/** User and password as the examples have them: in Python, and as what a JDBC client is told. */
function exampleCredentials(signIn: SignInFacts): { username: string; python: string; jdbc: string } {
  if (signIn.kind !== 'local') return { username: 'YOU', python: '"PASSWORD"', jdbc: 'PASSWORD' };
  const { username, passwordPath } = signIn;
  return { username, python: `open("${passwordPath}").read().strip()`, jdbc: `"$(cat ${passwordPath})"` };
}

function suggestions(facts: BannerFacts): readonly string[] {
  const flight = facts.listeners.find((listener) => listener.kind === 'flight');
  const health = facts.listeners.find((listener) => listener.kind === 'health');
  const sql = facts.hasSample
    ? 'SELECT origin, count(*) AS flights, avg(delay) FROM samples.flights GROUP BY origin ORDER BY 2 DESC LIMIT 5'
    : 'SHOW SCHEMAS';
  const [host, port] = splitAddress(flight?.address ?? '');
  const { username, python, jdbc } = exampleCredentials(facts.signIn);
  const encryption = facts.isTls ? '' : '&useEncryption=false';
  return [
    ...(flight
      ? [
          '  Python    pip install adbc-driver-flightsql pyarrow',
          `            import adbc_driver_flightsql.dbapi as d; c = d.connect("${flight.address}",`,
          `              db_kwargs={"username": "${username}", "password": ${python}}).cursor()`,
          `            c.execute("${sql}"); print(c.fetch_arrow_table())`,
          `  JDBC      jdbc:arrow-flight-sql://${host}:${port}/?user=${username}${encryption}   (password: ${jdbc})`,
        ]
      : []),
    ...(health ? [`  Status    curl ${health.address}/api/v1/status`] : []),
  ];
}

function splitAddress(address: string): readonly [string, string] {
  const match = /^[a-z+]+:\/\/(.*):(\d+)$/.exec(address);
  return [match?.[1] ?? '', match?.[2] ?? ''];
}
