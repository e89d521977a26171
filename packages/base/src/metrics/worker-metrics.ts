import type { Registry } from 'prom-client';
import { type Gauge, gauge, type LabelledCounter, labelledCounter } from './instruments.js';
import { type WorkerTaskOutcome, workerTaskOutcomes } from './labels.js';

/** Of `svc worker`; elsewhere they stay 0. */
export interface WorkerMetrics {
  readonly workerTasks: LabelledCounter<{ readonly outcome: WorkerTaskOutcome }>;
  readonly workerRunningTasks: Gauge;
  readonly workerWaitingTasks: Gauge;
}

export function workerMetrics(registry: Registry): WorkerMetrics {
  return {
    workerTasks: labelledCounter(
      registry,
      { name: 'svc_worker_tasks_total', help: 'Tasks that a worker took, by what became of them.' },
      ['outcome'],
      workerTaskOutcomes.map((outcome) => ({ outcome })),
    ),
    workerRunningTasks: gauge(registry, {
      name: 'svc_worker_running_tasks',
      help: 'Tasks that a worker runs.',
    }),
    workerWaitingTasks: gauge(registry, {
      name: 'svc_worker_waiting_tasks',
      help: 'Tasks that wait for a slot of a worker.',
    }),
  };
}
