import type { Registry } from 'prom-client';
import { type Histogram, histogram, type LabelledCounter, labelledCounter } from './instruments.js';
import { type RenewalOutcome, renewalOutcomes, type ScanLockOutcome, scanLockOutcomes } from './labels.js';

/** How the tokens of sessions are kept fresh. */
export interface TokenMetrics {
  readonly tokenRenewals: LabelledCounter<{ readonly outcome: RenewalOutcome }>;
  readonly tokenScanDuration: Histogram;
  /** Of scans that share a lock with other coordinators. */
  readonly tokenScanLocks: LabelledCounter<{ readonly outcome: ScanLockOutcome }>;
}

const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export function tokenMetrics(registry: Registry): TokenMetrics {
  return {
    tokenRenewals: labelledCounter(
      registry,
      {
        name: 'svc_token_renewals_total',
        help: 'Sessions whose tokens were about to expire, by what came of it.',
      },
      ['outcome'],
      renewalOutcomes.map((outcome) => ({ outcome })),
    ),
    tokenScanDuration: histogram(
      registry,
      {
        name: 'svc_token_scan_duration_seconds',
        help: 'Time of a scan that had tokens to renew, with its wait for the lock.',
      },
      durationBuckets,
    ),
    tokenScanLocks: labelledCounter(
      registry,
      {
        name: 'svc_token_scan_locks_total',
        help: 'Scans that share a lock with other coordinators, by whether they had it.',
      },
      ['outcome'],
      scanLockOutcomes.map((outcome) => ({ outcome })),
    ),
  };
}
