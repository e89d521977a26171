import type { Registry } from 'prom-client';
import { type Counter, counter, type LabelledCounter, labelledCounter } from './instruments.js';
import { type InvocationOutcome, invocationOutcomes } from './labels.js';

/** What functions that run fragments do, as the coordinator sees them. */
export interface LambdaMetrics {
  readonly lambdaInvocations: LabelledCounter<{ readonly outcome: InvocationOutcome }>;
  readonly lambdaColdStarts: Counter;
  readonly lambdaThrottles: Counter;
}

export function lambdaMetrics(registry: Registry): LambdaMetrics {
  return {
    lambdaInvocations: labelledCounter(
      registry,
      { name: 'svc_lambda_invocations_total', help: 'Invocations of the fragment function, by outcome.' },
      ['outcome'],
      invocationOutcomes.map((outcome) => ({ outcome })),
    ),
    lambdaColdStarts: counter(registry, {
      name: 'svc_lambda_cold_starts_total',
      help: 'Invocations that were the first of their sandbox.',
    }),
    lambdaThrottles: counter(registry, {
      name: 'svc_lambda_throttles_total',
      help: 'Invocations that Lambda refused because there were too many.',
    }),
  };
}
