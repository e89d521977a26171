import { errorFields, type Logger, QueryError } from '@svc/base';
import type { TokenScan } from './token-scan.js';

export interface SessionUpkeepOptions {
  /** Ends what has expired. */
  readonly sweep: () => void;
  readonly scan: TokenScan;
  readonly logger: Logger;
  /** From 0 to 1: when in its period this coordinator scans, so that many of them do not scan at once. */
  readonly random: () => number;
  readonly periodMs?: number;
}

export interface SessionUpkeep {
  /** Aborts a scan that is under way, and waits for its end. Idempotent. */
  close(): Promise<void>;
}

/** Spec section 8. */
const defaultPeriodMs = 10_000;

/** Sweeps and scans once a period, from now on. A scan that takes longer than that is not joined by another one. */
export function startSessionUpkeep(options: SessionUpkeepOptions): SessionUpkeep {
  const { sweep, scan, logger, random, periodMs = defaultPeriodMs } = options;
  const stop = new AbortController();
  let scanning: Promise<void> | undefined;

  const scanOnce = async () => {
    try {
      await scan(stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) logger.log('error', 'token scan failed', errorFields(error));
    } finally {
      scanning = undefined;
    }
  };
  const tick = () => {
    try {
      sweep();
    } catch (error) {
      logger.log('error', 'sweeping sessions failed', errorFields(error));
    }
    scanning ??= scanOnce();
  };

  let timer = setTimeout(() => {
    tick();
    timer = setInterval(tick, periodMs).unref();
  }, random() * periodMs).unref();

  return {
    async close() {
      clearTimeout(timer);
      stop.abort(new QueryError('SHUTTING_DOWN', 'The service stops.'));
      await scanning;
    },
  };
}
