/** What the process was given from outside. Read once by an entry point and passed on; nothing else reads it. */
export interface ProcessEnvironment {
  /** All variables, for `loadConfig`. */
  readonly variables: Readonly<Record<string, string | undefined>>;
  /** RUST_LOG, for `parseLogFilter`. */
  readonly logLevel: string | undefined;
  /** SVC_USER and SVC_PASSWORD: who the command-line client signs in as. */
  readonly user: string | undefined;
  readonly password: string | undefined;
}

/** An empty variable counts as one that is not set. */
export function readProcessEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): ProcessEnvironment {
  const read = (name: string): string | undefined => variables[name] || undefined;
  return {
    variables,
    logLevel: read('RUST_LOG'),
    user: read('SVC_USER'),
    password: read('SVC_PASSWORD'),
  };
}
