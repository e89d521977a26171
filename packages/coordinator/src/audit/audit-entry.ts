import { hash } from 'node:crypto';
import { jsonLine } from '@svc/base';
import type { EndedQuery } from '../tracker/query-tracker.js';

/** The line of one query, with its line feed: the fields of spec section 6.1, and the policies that were applied. */
export function auditLine({ record, sentSql, clientAddress }: EndedQuery): string {
  const text = sentSql.toWellFormed();
  const line = jsonLine({
    timestamp: new Date(record.startedAtMs).toISOString(),
    username: record.user.toWellFormed(),
    session_id: record.sessionLabel,
    query_text: text,
    query_hash: `sha256:${hash('sha256', text, 'hex')}`,
    statement_type: record.statementType,
    client_ip: clientAddress,
    duration_ms: Math.max(0, Math.round(record.elapsedMs)),
    rows_returned: Number(record.rows),
    policies: record.policies,
    status: record.errorCode === undefined ? 'ok' : 'error',
  });
  return `${line}\n`;
}
