import { type Config, type Logger, type Metrics, QueryError } from '@svc/base';
import type { EndedQuery, QueryAudit } from '../tracker/query-tracker.js';
import { auditLine } from './audit-entry.js';
import { openAuditFile } from './audit-file.js';
import { AuditLog } from './audit-log.js';
import { UnfetchedPlans } from './unfetched-plans.js';

/** The audit log of one service (spec section 6.1; docs/audit.md). */
export interface Audit extends QueryAudit {
  /** Throws AUDIT_UNAVAILABLE while `audit.on_failure` lets nothing run. */
  throwIfUnavailable(): void;
  /** Lines from now on go to the file that has the configured name then. */
  reopen(): void;
  /** Writes what is left, within the deadline (a duration). Idempotent. */
  close(deadlineMs: number): Promise<void>;
}

export interface AuditOptions {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Metrics;
}

const maxPendingBytes = 64 * 2 ** 20;
/** Each write costs as much as the lines of many queries. */
const gatherMs = 20;
const retryMs = 1000;

/** A run that follows its plan follows at once; a client that only wanted the schema never sends one. */
const plans = { graceMs: 10_000, maxBytes: 32 * 2 ** 20 };

/** Undefined where none is configured. Throws CONFIGURATION_ERROR when the file cannot be opened. */
export async function openAudit({ config, logger, metrics }: AuditOptions): Promise<Audit | undefined> {
  const path = config['metrics.audit_log_path'];
  if (path === undefined) return undefined;
  const open = () => openAuditFile(path);
  const file = await open().catch((cause: unknown) => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new QueryError(
      'CONFIGURATION_ERROR',
      `The audit log ${path} (\`metrics.audit_log_path\`) cannot be opened for writing: ${reason}.`,
      { cause },
    );
  });
  const log = new AuditLog(file, {
    open,
    path,
    onFailure: config['audit.on_failure'],
    maxPendingBytes,
    gatherMs,
    retryMs,
    elapsed: () => performance.now(),
    metrics,
    logger: logger.child('svc::audit'),
  });
  return auditOf(log);
}

function auditOf(log: AuditLog): Audit {
  const ended = (query: EndedQuery) =>
    log.add(auditLine(query), query.record.errorCode === 'AUDIT_UNAVAILABLE');
  const unfetched = new UnfetchedPlans<EndedQuery>({
    ...plans,
    bytesOf: ({ sentSql }) => 1000 + 2 * sentSql.length,
    notFetched: ended,
  });
  return {
    ended,
    planned: (query) => unfetched.planned(query.record.queryId, query),
    begun: (queryId) => unfetched.fetched(queryId),
    throwIfUnavailable: () => log.throwIfUnavailable(),
    reopen: () => log.reopen(),
    async close(deadlineMs) {
      unfetched.flush();
      await log.close(deadlineMs);
    },
  };
}
