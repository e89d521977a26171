import type { Session } from '../identity/session.js';
import type { SessionSettings } from '../identity/session-settings.js';

export const testSettings: SessionSettings = {
  catalog: 'lake',
  schema: undefined,
  timeZone: 'UTC',
  queryTimeoutMs: undefined,
  maxResultBytes: undefined,
  execution: 'auto',
};

/** A session of the user `ada` that nothing ends. */
export function fakeSession(settings: Partial<SessionSettings> = {}): Session {
  return {
    key: 'ab'.repeat(32),
    label: 'ab'.repeat(8),
    identity: { username: 'ada', roles: [] },
    clientAddress: '127.0.0.1',
    createdAtMs: 0,
    lastUsedAtMs: 0,
    settings: { ...testSettings, ...settings },
    tokens: undefined,
    renew: undefined,
    isExpired: false,
    closed: new AbortController().signal,
  };
}
