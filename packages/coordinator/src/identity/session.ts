import type { Identity, RenewTokens, SessionTokens } from './identity-provider.js';
import type { SessionSettings } from './session-settings.js';

/** A signed-in user's session (spec section 2.1). The bearer itself is not kept, only its digest. */
export interface Session {
  /** SHA-256 of the bearer, hex: keys everything that belongs to the session. */
  readonly key: string;
  /** What logs show: the first 16 digits of `key`. */
  readonly label: string;
  /** The user never changes; roles are those of the present tokens. */
  identity: Identity;
  readonly clientAddress: string;
  readonly createdAtMs: number;
  lastUsedAtMs: number;
  settings: SessionSettings;
  /** Replaced by the token scan: whoever calls on behalf of the user asks for them at each call. */
  tokens: SessionTokens | undefined;
  readonly renew: RenewTokens | undefined;
  /** Set when renewing has failed (spec section 3.1): the next call is refused, what runs already goes on. */
  isExpired: boolean;
  /** Aborts with SESSION_EXPIRED or SESSION_LOST when the session ends: whatever runs for it ends too. */
  readonly closed: AbortSignal;
}

/**
 * Whether a session can no longer act for its user: its tokens could not be renewed, or expired and are none that can be.
 * Tokens that can be renewed are the scan's, which may be late by its period.
 */
export function isSpent(session: Pick<Session, 'isExpired' | 'renew' | 'tokens'>, nowMs: number): boolean {
  if (session.isExpired) return true;
  return session.renew === undefined && session.tokens !== undefined && session.tokens.expiresAtMs <= nowMs;
}
