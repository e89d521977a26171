import { Registry } from 'prom-client';
import { type ErrorCode, errorCodes } from '../errors/codes.js';
import { type FragmentMetrics, fragmentMetrics } from './fragment-metrics.js';
import { type IdentityMetrics, identityMetrics } from './identity-metrics.js';
import {
  type Counter,
  counter,
  type Gauge,
  gauge,
  type LabelledCounter,
  type LabelledGauge,
  type LabelledHistogram,
  labelledCounter,
  labelledGauge,
  labelledHistogram,
  readCounter,
} from './instruments.js';
import {
  type AuditOutcome,
  auditOutcomes,
  type EngineHostState,
  engineHostStates,
  type QueryStatus,
  queryStatuses,
  type S3Operation,
  type S3Status,
  type ScanOutcome,
  type ScanStage,
  type StagingSource,
  type StatementType,
  scanOutcomes,
  scanStages,
  stagingSources,
  statementTypes,
} from './labels.js';
import { type LambdaMetrics, lambdaMetrics } from './lambda-metrics.js';
import { memoryPressure } from './memory-pressure.js';
import { type PolicyMetrics, policyMetrics } from './policy-metrics.js';
import { type TokenMetrics, tokenMetrics } from './token-metrics.js';
import { type WorkerMetrics, workerMetrics } from './worker-metrics.js';

/** Specification section 2.8. Seconds. */
const durationBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60] as const;

export interface MemoryUse {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

/**
 * Every metric of the service, under the names of specification section 2.8 (first group) and our own (second group).
 * Counters are told what happened; gauges ask their owner at each scrape.
 */
export interface Metrics
  extends FragmentMetrics,
    IdentityMetrics,
    LambdaMetrics,
    PolicyMetrics,
    TokenMetrics,
    WorkerMetrics {
  readonly queryCount: LabelledCounter<{
    readonly status: QueryStatus;
    readonly statement_type: StatementType;
  }>;
  readonly queryDuration: LabelledHistogram<{ readonly statement_type: StatementType }>;
  readonly rowsReturned: Counter;
  readonly activeQueries: Gauge;
  readonly activeSessions: Gauge;
  readonly healthyWorkers: Gauge;
  readonly scanFiles: LabelledCounter<{ readonly outcome: ScanOutcome }>;
  readonly scanBytes: LabelledCounter<{ readonly stage: ScanStage }>;
  readonly scanRows: LabelledCounter<{ readonly stage: ScanStage }>;
  /** Only what bloom filters ruled out; `scanRowGroups` counts all pruning. */
  readonly scanRowGroupsPruned: Counter;
  readonly s3Requests: LabelledCounter<{ readonly operation: S3Operation; readonly status: S3Status }>;
  readonly s3BytesRead: Counter;
  readonly s3BytesWritten: Counter;
  /** Feeds the used, limit and pressure gauges. */
  readonly coordinatorMemory: { readFrom(read: () => MemoryUse): void };

  readonly queryErrors: LabelledCounter<{ readonly code: ErrorCode }>;
  readonly auditRecords: LabelledCounter<{ readonly outcome: AuditOutcome }>;
  readonly scanRowGroups: LabelledCounter<{ readonly outcome: ScanOutcome }>;
  readonly stagingBytes: LabelledCounter<{ readonly source: StagingSource }>;
  /** Selected, and then not read: see `FragmentRequest.joinKeys`. */
  readonly scanJoinKeyBytes: Counter;
  readonly queueDepth: Gauge;
  readonly engineHosts: LabelledGauge<EngineHostState>;
  /** Exposed as a counter that the engine pool keeps. */
  readonly engineHostsReplaced: Gauge;

  /** All of it in the Prometheus text format, to be served as `metricsContentType`. */
  text(): Promise<string>;
}

export const metricsContentType: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** A registry of its own per call: nothing is global, so tests and several services in a process do not mix. */
export function createMetrics(): Metrics {
  const registry = new Registry();
  return {
    ...queryMetrics(registry),
    ...scanMetrics(registry),
    ...storageMetrics(registry),
    ...resourceMetrics(registry),
    ...fragmentMetrics(registry),
    ...identityMetrics(registry),
    ...tokenMetrics(registry),
    ...workerMetrics(registry),
    ...lambdaMetrics(registry),
    ...policyMetrics(registry),
    text: () => registry.metrics(),
  };
}

type QueryMetric =
  | 'queryCount'
  | 'queryDuration'
  | 'queryErrors'
  | 'rowsReturned'
  | 'auditRecords'
  | 'activeQueries'
  | 'queueDepth';

function queryMetrics(registry: Registry): Pick<Metrics, QueryMetric> {
  return {
    queryCount: labelledCounter(
      registry,
      { name: 'svc_query_count_total', help: 'Finished queries by status and statement type.' },
      ['status', 'statement_type'],
      queryStatuses.flatMap((status) => statementTypes.map((statement_type) => ({ status, statement_type }))),
    ),
    queryDuration: labelledHistogram(
      registry,
      { name: 'svc_query_duration_seconds', help: 'Time from submission to the end of a query.' },
      ['statement_type'],
      durationBuckets,
    ),
    queryErrors: labelledCounter(
      registry,
      { name: 'svc_query_errors_total', help: 'Failed queries by error code (docs/errors.md).' },
      ['code'],
      (Object.keys(errorCodes) as ErrorCode[]).map((code) => ({ code })),
    ),
    rowsReturned: counter(registry, { name: 'svc_rows_returned_total', help: 'Rows sent to clients.' }),
    auditRecords: labelledCounter(
      registry,
      { name: 'svc_audit_records_total', help: 'Lines of the audit log: written, or lost.' },
      ['outcome'],
      auditOutcomes.map((outcome) => ({ outcome })),
    ),
    activeQueries: gauge(registry, {
      name: 'svc_active_queries',
      help: 'Queries that have not finished or failed, waiting ones included.',
    }),
    queueDepth: gauge(registry, { name: 'svc_queue_depth', help: 'Queries that wait for a place to run.' }),
  };
}

type ScanMetric =
  | 'scanFiles'
  | 'scanBytes'
  | 'scanRows'
  | 'scanRowGroupsPruned'
  | 'scanRowGroups'
  | 'scanJoinKeyBytes'
  | 'stagingBytes';

function scanMetrics(registry: Registry): Pick<Metrics, ScanMetric> {
  const outcomes = scanOutcomes.map((outcome) => ({ outcome }));
  const stages = scanStages.map((stage) => ({ stage }));
  return {
    scanFiles: labelledCounter(
      registry,
      { name: 'svc_scan_files_total', help: 'Data files of scans: planned, read or pruned.' },
      ['outcome'],
      outcomes,
    ),
    scanBytes: labelledCounter(
      registry,
      { name: 'svc_scan_bytes_total', help: 'Bytes of scans: planned, selected after pruning, read.' },
      ['stage'],
      stages,
    ),
    scanRows: labelledCounter(
      registry,
      { name: 'svc_scan_rows_total', help: 'Rows of scans: planned, selected after pruning, read.' },
      ['stage'],
      stages,
    ),
    scanRowGroupsPruned: counter(registry, {
      name: 'svc_scan_row_groups_pruned_total',
      help: 'Row groups that a bloom filter ruled out.',
    }),
    scanRowGroups: labelledCounter(
      registry,
      { name: 'svc_scan_row_groups_total', help: 'Row groups of scans: planned, read or pruned.' },
      ['outcome'],
      outcomes,
    ),
    scanJoinKeyBytes: counter(registry, {
      name: 'svc_scan_join_key_bytes_total',
      help: 'Selected bytes that were not read, as they have no key of a joined table.',
    }),
    stagingBytes: labelledCounter(
      registry,
      { name: 'svc_staging_bytes_total', help: 'Bytes of query input by where they came from.' },
      ['source'],
      stagingSources.map((source) => ({ source })),
    ),
  };
}

function storageMetrics(registry: Registry): Pick<Metrics, 's3Requests' | 's3BytesRead' | 's3BytesWritten'> {
  return {
    s3Requests: labelledCounter(
      registry,
      { name: 'svc_s3_requests_total', help: 'Requests to object storage.' },
      ['operation', 'status'],
      [],
    ),
    s3BytesRead: counter(registry, {
      name: 'svc_s3_bytes_read_total',
      help: 'Bytes read from object storage.',
    }),
    s3BytesWritten: counter(registry, {
      name: 'svc_s3_bytes_written_total',
      help: 'Bytes written to object storage.',
    }),
  };
}

type ResourceMetric =
  | 'activeSessions'
  | 'healthyWorkers'
  | 'coordinatorMemory'
  | 'engineHosts'
  | 'engineHostsReplaced';

function resourceMetrics(registry: Registry): Pick<Metrics, ResourceMetric> {
  const used = gauge(registry, {
    name: 'svc_coordinator_memory_used_bytes',
    help: 'Memory that queries and caches of this node hold.',
  });
  const limit = gauge(registry, {
    name: 'svc_coordinator_memory_limit_bytes',
    help: 'Memory that queries and caches of this node may hold.',
  });
  const pressure = gauge(registry, {
    name: 'svc_coordinator_memory_pressure',
    help: 'Used share of the memory limit: 0 below 70 %, 1 from 70 %, 2 from 85 %, 3 from 95 %.',
  });
  return {
    activeSessions: gauge(registry, {
      name: 'svc_active_sessions',
      help: 'Sessions that would answer a call.',
    }),
    healthyWorkers: gauge(registry, {
      name: 'svc_healthy_workers',
      help: 'Nodes that can run query fragments; on one node the node itself.',
    }),
    coordinatorMemory: {
      readFrom(read) {
        used.readFrom(() => read().usedBytes);
        limit.readFrom(() => read().limitBytes);
        pressure.readFrom(() => {
          const memory = read();
          return memoryPressure(memory.usedBytes, memory.limitBytes);
        });
      },
    },
    engineHosts: labelledGauge(
      registry,
      { name: 'svc_engine_hosts', help: 'Engine processes by state.' },
      'state',
      engineHostStates,
    ),
    engineHostsReplaced: readCounter(registry, {
      name: 'svc_engine_hosts_replaced_total',
      help: 'Engine processes recycled, crashed or killed since the start.',
    }),
  };
}
