import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { TableScan } from '@svc/lake';
import type { ScanRequest } from '@svc/sql';
import { answerColumn } from '../test-support/read-answer.js';
import { answerExplain } from './explain.js';

const scan: TableScan = {
  tableName: 'lake.sales.orders',
  tableUuid: '00000000-0000-0000-0000-000000000001',
  snapshotId: 9_223_372_036_854_775_807n,
  columns: [
    { id: 1, name: 'id', required: true, type: { kind: 'long' } },
    { id: 2, name: 'name', required: false, type: { kind: 'string' } },
  ],
  groups: [],
  counts: {
    manifestsTotal: 4,
    manifestsRead: 1,
    filesTotal: 10,
    filesPlanned: 2,
    filesPruned: 8,
    rowGroupsTotal: 6,
    rowGroupsPlanned: 3,
    rowGroupsPrunedByStatistics: 2,
    rowGroupsPrunedByBloom: 1,
    bytesTotal: 3_000_000,
    bytesPlanned: 1024,
    rowsPlanned: 0,
  },
};

describe('EXPLAIN', () => {
  it('says what is read of a table and why', () => {
    const lines = explain({
      columns: [['id'], ['name', 'first']],
      filters: [
        { kind: 'is-not-null', column: ['name'] },
        { kind: 'compare', column: ['id'], operator: '>', literal: { type: 'BIGINT', value: 5n } },
      ],
    });
    assert.deepEqual(lines, [
      'Runs on one node as one fragment',
      'Scan lake.sales.orders (snapshot 9223372036854775807)',
      '  columns: id, name.first (of 2)',
      '  filters: name IS NOT NULL AND id > 5',
      '  manifests: 1 of 4 read',
      '  files: 2 of 10 planned, 8 pruned',
      '  row groups: 3 of 6 planned, 2 pruned by statistics, 1 by bloom filters',
      '  bytes: 1024 of 3000000 planned',
      '  less when it runs: customer among the keys of lake.sales.customers.id',
      'SQL: SELECT 1 FROM t',
    ]);
  });

  it('says what lists deleted rows', () => {
    const file = { location: 'a', sizeBytes: 1, recordCount: 1, version: '1', rowGroups: undefined };
    const files = [
      { ...file, columnNames: [], selectedBytes: 1 },
      {
        ...{ ...file, columnNames: [], selectedBytes: 1 },
        deletedRows: { rowCount: 1, bitmap: { kind: 'inline', base64: '' } } as const,
      },
    ];
    const lines = explain(
      { columns: [], filters: [] },
      { ...scan, groups: [{ sources: [], files }], counts: { ...scan.counts, deleteFilesPlanned: 3 } },
    );
    assert.ok(lines.includes('  row-level deletes: 3 delete files, 1 files with deletion vectors'));
  });

  it('tells all columns, none and no filter apart', () => {
    assert.ok(explain({ columns: undefined, filters: [] }).includes('  columns: all 2'));
    assert.ok(explain({ columns: [], filters: [] }).includes('  columns: none of 2 (row count only)'));
    assert.ok(explain({ columns: [], filters: [] }).includes('  filters: none'));
  });

  it('says when a table has no snapshot', () => {
    const lines = explain({ columns: [], filters: [] }, { ...scan, snapshotId: undefined });
    assert.ok(lines.includes('Scan lake.sales.orders (no snapshot)'));
  });

  it('says why nothing was pushed down, and when no table is read', () => {
    const answer = answerExplain({
      scans: [],
      withoutPushdown: 'an unknown operator',
      isWholeColumns: false,
      ...{ hereReason: undefined, stages: undefined, run: undefined },
      sql: 'SELECT 1',
    });
    assert.deepEqual(answerColumn(answer), [
      'Runs on one node as one fragment',
      'Pushdown: none (an unknown operator)',
      'Reads no table',
      'SQL: SELECT 1',
    ]);
  });
});

function explain(request: ScanRequest, ofScan: TableScan = scan) {
  const table = { kind: 'scan', catalog: 'lake', schema: 'sales', table: 'orders', scan: ofScan } as const;
  return answerColumn(
    answerExplain({
      scans: [{ table, request, keys: [{ column: 'customer', source: 'lake.sales.customers.id' }] }],
      withoutPushdown: undefined,
      isWholeColumns: false,
      ...{ hereReason: undefined, stages: undefined, run: undefined },
      sql: ' SELECT 1\n  FROM t ',
    }),
  );
}
