import { statementValueMacros } from '@svc/sql';
import type { TimeTravelOptions } from './time-travel.js';

/** Trusted statements that give now(), current_user and their kin one value, in planning and in running. */
export function statementSetup({
  session,
  nowMs,
}: Pick<TimeTravelOptions, 'session' | 'nowMs'>): readonly string[] {
  const { catalog, schema = '' } = session.settings;
  const { username } = session.identity;
  return statementValueMacros({ nowMicros: BigInt(nowMs) * 1000n, user: username, catalog, schema });
}
