import { readFileSync } from 'node:fs';
import path from 'node:path';

export interface ScanRecord {
  /** Milliseconds since 1970. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Whether it had the lock. */
  readonly alone: boolean;
}

/** What a coordinator's log says of the tokens of its sessions. */
export interface Upkeep {
  readonly renewalsBySession: ReadonlyMap<string, readonly number[]>;
  readonly scans: readonly ScanRecord[];
  /** Messages about sessions that could not be renewed. */
  readonly expired: readonly string[];
}

interface LogRecord {
  readonly timestamp: string;
  readonly message: string;
  readonly session_id?: string;
  readonly duration_ms?: number;
  readonly alone?: boolean;
  readonly error_message?: string;
}

export function readUpkeep(serviceFolder: string): Upkeep {
  const renewalsBySession = new Map<string, number[]>();
  const scans: ScanRecord[] = [];
  const expired: string[] = [];
  for (const line of readFileSync(path.join(serviceFolder, 'stdout.log'), 'utf8').split('\n')) {
    if (!/token|renewed/.test(line)) continue;
    const record: LogRecord = JSON.parse(line);
    const toMs = Date.parse(record.timestamp);
    const { message, session_id = '', duration_ms = 0, alone = false } = record;
    if (message === 'session tokens renewed')
      renewalsBySession.set(session_id, [...(renewalsBySession.get(session_id) ?? []), toMs]);
    if (message === 'token scan finished') scans.push({ fromMs: toMs - duration_ms, toMs, alone });
    if (message.startsWith('session expired')) expired.push(`${message}: ${record.error_message}`);
  }
  return { renewalsBySession, scans, expired };
}
