import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ColumnSource, NestedField } from '@svc/lake';
import { engineColumns, scanViewSql, stubFileSql, stubViewSql } from './view-sql.js';

const name = { catalog: 'lake', schema: 'sales', table: 'orders' };
const columns: readonly NestedField[] = [
  { id: 1, name: 'id', required: true, type: { kind: 'long' } },
  { id: 2, name: 'na"me', required: false, type: { kind: 'string' } },
];
const id: ColumnSource = { kind: 'column', name: 'id', isExactType: true, type: { kind: 'long' } };
const text: ColumnSource = { kind: 'column', name: 'n', isExactType: true, type: { kind: 'string' } };
const options = 'hive_partitioning = false, union_by_name = false, binary_as_string = false';

describe('the SQL of a scan view', () => {
  it('reads all files of one physical schema at once, without guessing from their names', () => {
    const sql = scanViewSql(name, columns, [
      { sources: [id, text], paths: ['/in/a.parquet', "/in/it's"], locations: [] },
    ]);
    assert.equal(
      sql,
      `CREATE VIEW "lake"."sales"."orders" AS SELECT "id" AS "id", "n" AS "na""me" FROM read_parquet(['/in/a.parquet', '/in/it''s'], ${options})`,
    );
  });

  it('joins physical schemas by UNION ALL and leaves out those without files', () => {
    const sql = scanViewSql(name, columns, [
      { sources: [id, text], paths: ['a'], locations: [] },
      { sources: [id, text], paths: [], locations: [] },
      { sources: [id], paths: ['b'], locations: [] },
    ]);
    const [first = '', second = '', ...more] = sql.split(' UNION ALL ');
    assert.deepEqual(more, []);
    assert.ok(first.endsWith(`read_parquet(['a'], ${options})`));
    assert.equal(
      second,
      `SELECT "id" AS "id", CAST(NULL AS VARCHAR) AS "na""me" FROM read_parquet(['b'], ${options})`,
    );
  });

  it('leaves deleted rows out by their original position', () => {
    const group = { sources: [id, text], paths: ['a'], locations: [], deletions: ['a.deleted'] };
    const join = (position: string) =>
      `read_parquet(['a'], ${options}, file_row_number = true, filename = '__svc_file') AS r ANTI JOIN read_parquet(['a.deleted'], ${options}) AS d ON ${position} = d.__deleted_position AND r.__svc_file = d.__deleted_file`;
    assert.ok(scanViewSql(name, columns, [group]).endsWith(` FROM ${join('r.file_row_number')}`));
    const compact = scanViewSql(name, columns, [{ ...group, hasRowDelta: true }]);
    assert.ok(compact.endsWith(` FROM ${join('r.file_row_number + r.__row_delta')}`));
  });

  it('has the columns, their types and no rows when nothing is left to read', () => {
    for (const groups of [[], [{ sources: [id, text], paths: [], locations: [] }]]) {
      assert.equal(
        scanViewSql(name, columns, groups),
        'CREATE VIEW "lake"."sales"."orders" AS SELECT CAST(NULL AS BIGINT) AS "id", CAST(NULL AS VARCHAR) AS "na""me" WHERE false',
      );
    }
  });
});

describe('the SQL of a stub', () => {
  it('writes a file without rows and reads it with the row count of the table', () => {
    assert.equal(
      stubFileSql("/in/o'k", engineColumns(columns)),
      `COPY (SELECT CAST(NULL AS BIGINT) AS "id", CAST(NULL AS VARCHAR) AS "na""me" WHERE false) TO '/in/o''k' (FORMAT parquet)`,
    );
    assert.equal(
      stubViewSql(name, '/in/stub', engineColumns(columns), 2n ** 60n),
      `CREATE VIEW "lake"."sales"."orders" AS SELECT "id", "na""me" FROM read_parquet(['/in/stub'], ${options}, explicit_cardinality = ${2n ** 60n})`,
    );
  });

  it('never claims less than one row: the optimiser would drop the scan', () => {
    assert.match(stubViewSql(name, 's', engineColumns(columns), 0n), /explicit_cardinality = 1\)$/);
  });
});
