import type { Registry } from 'prom-client';
import { type Gauge, gauge, type LabelledCounter, labelledCounter } from './instruments.js';
import { type PolicyOutcome, type PolicySource, policyOutcomes, policySources } from './labels.js';

/** Where the rules about who may see what come from, and whether they can still be had. */
export interface PolicyMetrics {
  readonly policyLoads: LabelledCounter<{ readonly source: PolicySource; readonly outcome: PolicyOutcome }>;
  readonly policyCount: Gauge;
}

export function policyMetrics(registry: Registry): PolicyMetrics {
  return {
    policyLoads: labelledCounter(
      registry,
      {
        name: 'svc_policy_loads_total',
        help: 'Changes of policies and grants that were taken, and looks for them that failed: the rules from before hold.',
      },
      ['source', 'outcome'],
      policySources.flatMap((source) => policyOutcomes.map((outcome) => ({ source, outcome }))),
    ),
    policyCount: gauge(registry, {
      name: 'svc_policies',
      help: 'Row filters, column masks and grants that hold.',
    }),
  };
}
