import type { Registry } from 'prom-client';
import {
  type LabelledCounter,
  type LabelledGauge,
  type LabelledHistogram,
  labelledCounter,
  labelledGauge,
  labelledHistogram,
} from './instruments.js';
import {
  type BreakerState,
  breakerStates,
  type IdentityOperation,
  type IdentityOutcome,
  identityOperations,
  identityOutcomes,
  type SignInOutcome,
  signInOutcomes,
} from './labels.js';

/** What signing in does, and how the identity provider answers. */
export interface IdentityMetrics {
  readonly signIns: LabelledCounter<{ readonly outcome: SignInOutcome }>;
  readonly identityRequests: LabelledCounter<{
    readonly operation: IdentityOperation;
    readonly outcome: IdentityOutcome;
  }>;
  readonly identityRequestDuration: LabelledHistogram<{ readonly operation: IdentityOperation }>;
  readonly identityBreaker: LabelledGauge<BreakerState>;
}

const durationBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export function identityMetrics(registry: Registry): IdentityMetrics {
  return {
    signIns: labelledCounter(
      registry,
      { name: 'svc_sign_ins_total', help: 'Sign-ins by password, by outcome.' },
      ['outcome'],
      signInOutcomes.map((outcome) => ({ outcome })),
    ),
    identityRequests: labelledCounter(
      registry,
      { name: 'svc_identity_requests_total', help: 'Requests to the identity provider.' },
      ['operation', 'outcome'],
      identityOperations.flatMap((operation) => identityOutcomes.map((outcome) => ({ operation, outcome }))),
    ),
    identityRequestDuration: labelledHistogram(
      registry,
      {
        name: 'svc_identity_request_duration_seconds',
        help: 'Time of requests to the identity provider, its answers included.',
      },
      ['operation'],
      durationBuckets,
    ),
    identityBreaker: labelledGauge(
      registry,
      {
        name: 'svc_identity_breaker_state',
        help: 'Circuit breaker of the identity provider: 1 for the state it is in, 0 for the others.',
      },
      'state',
      breakerStates,
    ),
  };
}
