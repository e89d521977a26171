import type { Config, Logger, Metrics } from '@svc/base';
import type { ScanLock } from '../identity/lifecycle/scan-lock.js';
import { type SessionUpkeep, startSessionUpkeep } from '../identity/lifecycle/session-upkeep.js';
import { createTokenScan, defaultSpread } from '../identity/lifecycle/token-scan.js';
import type { SessionStore } from '../identity/session-store.js';

export interface UpkeepOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

export interface UpkeepParts {
  readonly sessions: SessionStore;
  /** Closed with the upkeep. */
  readonly lock: ScanLock;
  readonly sweep: () => void;
}

/** What the provider's client adds to the time of its last request: retries, and checking what it got. */
const retriesMs = 10_000;

/** Sweeps what has expired and renews tokens, until it is closed. */
export function startUpkeep(options: UpkeepOptions, { sessions, lock, sweep }: UpkeepParts): SessionUpkeep {
  const { config, metrics, now = Date.now } = options;
  const logger = options.logger.child('svc::identity');
  const random = Math.random;
  const scan = createTokenScan({
    sessions: () => sessions.sessions(),
    lock,
    metrics,
    logger,
    now,
    random,
    timings: { ...defaultSpread, deadlineMs: config['auth.idp_timeout_secs'] * 1000 + retriesMs },
  });
  const upkeep = startSessionUpkeep({ sweep, scan, logger, random });
  return {
    async close() {
      await upkeep.close();
      lock.close();
    },
  };
}
