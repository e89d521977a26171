import { statementValueMacros } from '@svc/sql';
import type { Session } from '../identity/session.js';
import type { SessionSettings } from '../identity/session-settings.js';

export interface StatementMoment {
  readonly session: Session;
  /** The session's, as the statement found them. */
  readonly settings: SessionSettings;
  readonly nowMs: number;
}

/** Trusted statements that give now(), current_user and their kin one value, in planning and in running. */
export function statementSetup({ session, settings, nowMs }: StatementMoment): readonly string[] {
  const { catalog, schema = '' } = settings;
  const { username } = session.identity;
  return statementValueMacros({ nowMicros: BigInt(nowMs) * 1000n, user: username, catalog, schema });
}
