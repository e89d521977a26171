import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { memoryPressure } from './memory-pressure.js';
import { createMetrics } from './metrics.js';

describe('metrics', () => {
  it('are those of specification section 2.8, by name and type', async () => {
    const text = await createMetrics().text();
    for (const line of specified) assert.ok(text.includes(`# TYPE ${line}\n`), line);
    for (const name of text.matchAll(/^# TYPE (\S+)/gm)) assert.match(name[1] ?? '', /^svc_/);
  });

  it('count queries by status and statement type, from zero', async () => {
    const metrics = createMetrics();
    metrics.queryCount.inc({ status: 'error', statement_type: 'ctas' }, 2);
    const text = await metrics.text();
    assert.ok(text.includes('svc_query_count_total{status="error",statement_type="ctas"} 2\n'));
    assert.ok(text.includes('svc_query_count_total{status="ok",statement_type="utility"} 0\n'));
  });

  it('have the duration buckets of the specification', async () => {
    const metrics = createMetrics();
    metrics.queryDuration.observe({ statement_type: 'query' }, 0.3);
    const bounds = [...(await metrics.text()).matchAll(/query_duration_seconds_bucket\{le="([^"]+)"/g)].map(
      (match) => match[1],
    );
    assert.equal(bounds.join(' '), '0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 +Inf');
  });

  it('take bigint amounts', async () => {
    const metrics = createMetrics();
    metrics.rowsReturned.inc(6_001_215n);
    metrics.scanBytes.inc({ stage: 'read' }, 10n);
    const text = await metrics.text();
    assert.ok(text.includes('svc_rows_returned_total 6001215\n'));
    assert.ok(text.includes('svc_scan_bytes_total{stage="read"} 10\n'));
  });

  it('never fail the work that they count', async () => {
    const metrics = createMetrics();
    for (const amount of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      metrics.rowsReturned.inc(amount);
      metrics.queryDuration.observe({ statement_type: 'query' }, amount);
    }
    assert.ok((await metrics.text()).includes('svc_rows_returned_total 0\n'));
  });

  it('ask the owner of a gauge at each scrape', async () => {
    const metrics = createMetrics();
    assert.ok((await metrics.text()).includes('svc_active_queries 0\n'));
    let queries = 1;
    metrics.activeQueries.readFrom(() => queries++);
    metrics.engineHosts.readFrom(() => ({ idle: 3, leased: 4 }));
    metrics.engineHostsReplaced.readFrom(() => 5);
    await metrics.text();
    const text = await metrics.text();
    assert.ok(text.includes('svc_active_queries 2\n'));
    assert.ok(text.includes('svc_engine_hosts{state="leased"} 4\n'));
    assert.ok(text.includes('svc_engine_hosts_replaced_total 5\n'));
  });

  it('survive an owner that fails', async () => {
    const metrics = createMetrics();
    metrics.activeSessions.readFrom(() => {
      throw new Error('closed');
    });
    metrics.healthyWorkers.readFrom(() => 1);
    const text = await metrics.text();
    assert.match(text, /^svc_active_sessions nan$/im);
    assert.ok(text.includes('svc_healthy_workers 1\n'));
  });

  it('derive the memory pressure from use and limit', async () => {
    const metrics = createMetrics();
    metrics.coordinatorMemory.readFrom(() => ({ usedBytes: 90, limitBytes: 100 }));
    const text = await metrics.text();
    assert.ok(text.includes('svc_coordinator_memory_used_bytes 90\n'));
    assert.ok(text.includes('svc_coordinator_memory_limit_bytes 100\n'));
    assert.ok(text.includes('svc_coordinator_memory_pressure 2\n'));
    const levels = [0, 69, 70, 84, 85, 94, 95, 200].map((used) => memoryPressure(used, 100));
    assert.deepEqual(levels, [0, 0, 1, 1, 2, 2, 3, 3]);
    assert.equal(memoryPressure(5, 0), 0);
  });

  it('are apart from those of another service in the process', async () => {
    createMetrics().rowsReturned.inc(5);
    assert.ok((await createMetrics().text()).includes('svc_rows_returned_total 0\n'));
  });

  it('do not compile with a wrong, missing or superfluous label', () => {
    const compiles = (): void => {
      const metrics = createMetrics();
      // @ts-expect-error there is no such outcome
      metrics.scanFiles.inc({ outcome: 'skipped' });
      // @ts-expect-error the label is missing
      metrics.scanFiles.inc(1);
      // @ts-expect-error the statement type is missing
      metrics.queryCount.inc({ status: 'ok' });
      // @ts-expect-error this one has no labels
      metrics.rowsReturned.inc({ status: 'ok' });
    };
    assert.equal(typeof compiles, 'function');
  });
});

const specified = [
  'svc_query_count_total counter',
  'svc_query_duration_seconds histogram',
  'svc_rows_returned_total counter',
  'svc_active_queries gauge',
  'svc_active_sessions gauge',
  'svc_healthy_workers gauge',
  'svc_scan_files_total counter',
  'svc_scan_bytes_total counter',
  'svc_scan_rows_total counter',
  'svc_scan_row_groups_pruned_total counter',
  'svc_s3_requests_total counter',
  'svc_s3_bytes_read_total counter',
  'svc_s3_bytes_written_total counter',
  'svc_coordinator_memory_used_bytes gauge',
  'svc_coordinator_memory_limit_bytes gauge',
  'svc_coordinator_memory_pressure gauge',
] as const;
