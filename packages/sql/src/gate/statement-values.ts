import { quoteString } from '../text/literals.js';

/** What a statement is told about its moment and its user; one answer for planning and for running. */
export interface StatementValues {
  /** Microseconds since 1970, UTC. */
  readonly nowMicros: bigint;
  readonly user: string;
  readonly catalog: string;
  readonly schema: string;
}

/** Functions that the macros below answer. Calling the engine's own by a qualified name is refused. */
export const statementValueFunctions: ReadonlySet<string> = new Set([
  'now',
  'get_current_timestamp',
  'transaction_timestamp',
  'current_date',
  'today',
  'get_current_time',
  'current_localtime',
  'current_localtimestamp',
  'ago',
  'current_user',
  'session_user',
  'user',
  'current_role',
  'current_catalog',
  'current_database',
  'current_schema',
]);

/** Names that mean such a function without brackets, where no column has the name. */
export const statementValueNames: ReadonlySet<string> = new Set([
  'current_date',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
  'current_user',
  'session_user',
  'user',
  'current_role',
  'current_catalog',
  'current_schema',
]);

/**
 * Statements that make now(), current_date, current_user and their kin one constant each, on the connection that plans
 * or runs. Temporary macros come before the engine's functions, so the user's SQL runs as written: result columns keep
 * their names, and whether `user` is a column stays the engine's decision. Dates and local times follow the
 * connection's TimeZone. They replace those of the statement before.
 */
export function statementValueMacros(values: StatementValues): readonly string[] {
  const now = `TIMESTAMPTZ ${quoteString(printMicros(values.nowMicros))}`;
  const user = quoteString(values.user);
  const catalog = quoteString(values.catalog);
  const macros: readonly (readonly [name: string, value: string])[] = [
    ['now', now],
    ['get_current_timestamp', now],
    ['transaction_timestamp', now],
    ['current_date', `CAST(${now} AS DATE)`],
    ['today', `CAST(${now} AS DATE)`],
    ['get_current_time', `CAST(${now} AS TIMETZ)`],
    ['current_localtimestamp', `CAST(${now} AS TIMESTAMP)`],
    ['current_localtime', `CAST(CAST(${now} AS TIMESTAMP) AS TIME)`],
    ['current_user', user],
    ['session_user', user],
    ['"user"', user],
    ['current_role', user],
    ['current_catalog', catalog],
    ['current_database', catalog],
    ['current_schema', quoteString(values.schema)],
  ];
  return macros.map(([name, value]) => `CREATE OR REPLACE TEMPORARY MACRO ${name}() AS ${value}`);
}

/** `2025-01-31 12:00:00.000001+00` */
function printMicros(micros: bigint): string {
  const fraction = ((micros % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = (micros - fraction) / 1_000_000n;
  const text = new Date(Number(seconds) * 1_000).toISOString();
  return `${text.slice(0, 10)} ${text.slice(11, 19)}.${String(fraction).padStart(6, '0')}+00`;
}
