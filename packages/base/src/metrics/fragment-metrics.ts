import type { Registry } from 'prom-client';
import {
  type Gauge,
  gauge,
  type LabelledCounter,
  type LabelledHistogram,
  labelledCounter,
  labelledHistogram,
} from './instruments.js';
import {
  type ExecutorKind,
  executorKinds,
  type FragmentOutcome,
  type FragmentPlace,
  fragmentOutcomes,
  fragmentPlaces,
  type SplitOutcome,
  splitOutcomes,
} from './labels.js';

/** What is sent to workers and functions, and what becomes of it. */
export interface FragmentMetrics {
  readonly fragments: LabelledCounter<{ readonly executor: ExecutorKind; readonly outcome: FragmentOutcome }>;
  readonly fragmentDuration: LabelledHistogram<{ readonly executor: ExecutorKind }>;
  readonly fragmentSplits: LabelledCounter<{ readonly outcome: SplitOutcome }>;
  /** `elsewhere`: on workers and functions. */
  readonly fragmentRows: LabelledCounter<{ readonly place: FragmentPlace }>;
  readonly fragmentsRunning: Gauge;
  readonly executorsQuarantined: Gauge;
}

const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export function fragmentMetrics(registry: Registry): FragmentMetrics {
  return {
    fragments: labelledCounter(
      registry,
      { name: 'svc_fragment_tasks_total', help: 'Tasks of splits by where they ran and how they ended.' },
      ['executor', 'outcome'],
      executorKinds.flatMap((executor) => fragmentOutcomes.map((outcome) => ({ executor, outcome }))),
    ),
    fragmentDuration: labelledHistogram(
      registry,
      { name: 'svc_fragment_duration_seconds', help: 'Time of tasks, from sending to their last row.' },
      ['executor'],
      durationBuckets,
    ),
    fragmentSplits: labelledCounter(
      registry,
      {
        name: 'svc_fragment_splits_total',
        help: 'Splits that were answered, and those of them that had been sent before.',
      },
      ['outcome'],
      splitOutcomes.map((outcome) => ({ outcome })),
    ),
    fragmentRows: labelledCounter(
      registry,
      {
        name: 'svc_fragment_rows_total',
        help: 'Rows, after pruning, that fragments and stages had to scan, by where they ran.',
      },
      ['place'],
      fragmentPlaces.map((place) => ({ place })),
    ),
    fragmentsRunning: gauge(registry, {
      name: 'svc_fragment_tasks_running',
      help: 'Tasks that executors have now.',
    }),
    executorsQuarantined: gauge(registry, {
      name: 'svc_fragment_executors_quarantined',
      help: 'Executors that are left alone for a while, since they were lost or failed.',
    }),
  };
}
