/** The SQL of views, tried on the engine: what a table column becomes of a file's. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EngineLease } from '@svc/engine';
import type { ColumnSource, IcebergType, NestedField } from '@svc/lake';
import { openTestPool, type TestPool } from '../test-support/test-pool.js';
import { constantSql } from './constant-sql.js';
import { engineType } from './engine-type.js';
import { sessionStatements } from './session-sql.js';
import { engineColumns, gatherSql, rowsTableSql, scanViewSql, stubFileSql, stubViewSql } from './view-sql.js';

const long: IcebergType = { kind: 'long' };
const text: IcebergType = { kind: 'string' };
const never = new AbortController().signal;

let engine: TestPool;
let lease: EngineLease;
before(async () => {
  engine = await openTestPool();
});
after(async () => await engine[Symbol.asyncDispose]());

describe('a column of a file', () => {
  it('is widened to the type of the table', async () => {
    const source: ColumnSource = { kind: 'column', name: 'x', isExactType: false, type: long };
    assert.deepEqual(await readColumn('SELECT 7::INTEGER AS x', source, long), ['BIGINT', '[7]']);
  });

  it('is decoded when it is text without the annotation', async () => {
    const source: ColumnSource = {
      kind: 'column',
      name: 'x',
      isExactType: false,
      conversion: 'decode-utf8',
      type: text,
    };
    const rows = await readColumn("SELECT encode('zürich 💥') AS x", source, text);
    assert.deepEqual(rows, ['VARCHAR', '["zürich 💥"]']);
  });

  it('is an instant in UTC whatever the time zone of the session is', async () => {
    const type: IcebergType = { kind: 'timestamptz' };
    const source: ColumnSource = {
      kind: 'column',
      name: 'x',
      isExactType: false,
      conversion: 'at-utc',
      type,
    };
    const rows = await readColumn("SELECT TIMESTAMP '2024-01-01 12:00:00' AS x", source, type, {
      pick: 'epoch_ms(x)',
    });
    assert.deepEqual(rows, ['TIMESTAMP WITH TIME ZONE', `[${Date.UTC(2024, 0, 1, 12)}]`]);
  });

  it('is found whatever characters its name has, in the file and in the table', async () => {
    for (const odd of ['a"b', 'a.b', "it's", '💥', ' ', 'select', 'e0', '%s']) {
      const source: ColumnSource = { kind: 'column', name: odd, isExactType: true, type: long };
      const rows = await readColumn(`SELECT 1::BIGINT AS "${odd.replaceAll('"', '""')}"`, source, long, {
        column: `new ${odd}`,
      });
      assert.deepEqual(rows, ['BIGINT', '[1]'], odd);
    }
  });
});

describe('a nested column of a file', () => {
  const renamed: ColumnSource = {
    kind: 'struct',
    name: 's',
    type: structOf({ b: text, a: long, added: long }),
    fields: [
      { name: 'b', source: { kind: 'column', name: 'old "b"', isExactType: true, type: text } },
      { name: 'a', source: { kind: 'column', name: 'a', isExactType: false, type: long } },
      { name: 'added', source: { kind: 'constant', value: '5', type: long } },
    ],
  };

  it('is put together again when its fields were renamed, moved, widened and added', async () => {
    const file = `SELECT unnest([{'a': 1::INTEGER, 'old "b"': 'x'}, NULL, {'a': NULL, 'old "b"': NULL}]) AS s`;
    assert.deepEqual(await readColumn(file, renamed, renamed.type), [
      'STRUCT(b VARCHAR, a BIGINT, added BIGINT)',
      '[{"b":"x","a":1,"added":5},null,{"b":null,"a":null,"added":5}]',
    ]);
  });

  it('is put together again inside of lists, NULL and empty ones kept apart', async () => {
    const type: IcebergType = { kind: 'list', elementId: 1, elementRequired: false, element: renamed.type };
    const source: ColumnSource = { kind: 'list', name: 'l', element: { ...renamed, name: 'element' }, type };
    const item = `{'a': 1::INTEGER, 'old "b"': 'x'}`;
    const rows = await readColumn(`SELECT unnest([[${item}, NULL], [], NULL]) AS l`, source, type);
    assert.deepEqual(rows, [
      'STRUCT(b VARCHAR, a BIGINT, added BIGINT)[]',
      '[[{"b":"x","a":1,"added":5},null],[],null]',
    ]);
  });

  it('is put together again inside of lists of lists', async () => {
    const inner: IcebergType = { kind: 'list', elementId: 1, elementRequired: false, element: long };
    const type: IcebergType = { kind: 'list', elementId: 2, elementRequired: false, element: inner };
    const number: ColumnSource = { kind: 'column', name: 'element', isExactType: false, type: long };
    const source: ColumnSource = {
      kind: 'list',
      name: 'e0',
      type,
      element: { kind: 'list', name: 'element', element: number, type: inner },
    };
    const rows = await readColumn('SELECT [[1::INTEGER, NULL], [], NULL] AS e0', source, type);
    assert.deepEqual(rows, ['BIGINT[][]', '[[[1,null],[],null]]']);
  });

  it('is put together again inside of maps, NULL and empty ones kept apart', async () => {
    const type: IcebergType = {
      kind: 'map',
      keyId: 1,
      key: long,
      valueId: 2,
      valueRequired: false,
      value: renamed.type,
    };
    const source: ColumnSource = {
      kind: 'map',
      name: 'm',
      key: { kind: 'column', name: 'key', isExactType: false, type: long },
      value: { ...renamed, name: 'value' },
      type,
    };
    const file = `SELECT unnest([MAP {1::INTEGER: {'a': 2::INTEGER, 'old "b"': 'x'}, 2: NULL}, MAP {}, NULL]) AS m`;
    assert.deepEqual(await readColumn(file, source, type), [
      'MAP(BIGINT, STRUCT(b VARCHAR, a BIGINT, added BIGINT))',
      '[{"1":{"b":"x","a":2,"added":5},"2":null},{},null]',
    ]);
  });
});

describe('a constant column', () => {
  it('has its value in every type that Iceberg gives a default', async () => {
    const cases: readonly (readonly [unknown, IcebergType, string])[] = [
      [false, { kind: 'boolean' }, 'false'],
      ['-7', { kind: 'int' }, '-7'],
      ['9223372036854775807', long, '9223372036854775807'],
      ['1.5', { kind: 'float' }, '1.5'],
      ['1e300', { kind: 'double' }, '1e+300'],
      ['NaN', { kind: 'double' }, 'nan'],
      ['-0.05', { kind: 'decimal', precision: 38, scale: 2 }, '-0.05'],
      ['0001-01-01', { kind: 'date' }, '0001-01-01'],
      ['22:31:08.123456', { kind: 'time' }, '22:31:08.123456'],
      ['2017-11-16T22:31:08.000001', { kind: 'timestamp' }, '2017-11-16 22:31:08.000001'],
      ['2017-11-16T22:31:08.000001+00:00', { kind: 'timestamptz' }, '2017-11-17 04:16:08.000001+05:45'],
      ['2017-11-16T22:31:08.123456789', { kind: 'timestamp_ns' }, '2017-11-16 22:31:08.123456789'],
      ["it's 💥", text, "it's 💥"],
      ['f79c3e09-677c-4bbd-a479-3f349cb785e7', { kind: 'uuid' }, 'f79c3e09-677c-4bbd-a479-3f349cb785e7'],
      ['00ff41', { kind: 'binary' }, '\\x00\\xFFA'],
      ['', { kind: 'binary' }, ''],
      ['ab', { kind: 'fixed', length: 1 }, '\\xAB'],
    ];
    await using scope = await openLease({ TimeZone: 'Asia/Kathmandu' });
    for (const [value, type, expected] of cases) {
      const sql = `SELECT typeof(c) || ' ' || c::VARCHAR FROM (SELECT ${constantSql(value, type)} AS c)`;
      assert.equal(await scope.lease.queryText(sql, [], never), `${engineType(type)} ${expected}`);
    }
  });
});

describe('texts with a NUL', () => {
  it('are constants and filters like all others', async () => {
    await using scope = await openLease();
    const value = constantSql("a\0'b", text);
    const parts = `SELECT concat_ws(' ', typeof(c), length(c), ascii(c[2]), c[3]) FROM (SELECT ${value} AS c)`;
    assert.equal(await scope.lease.queryText(parts, [], never), "VARCHAR 4 0 '");
    const path = await scope.write("SELECT 'a' || chr(0) AS name UNION ALL SELECT 'b'");
    const name: ColumnSource = { kind: 'column', name: 'name', isExactType: true, type: text };
    const columns = [column('name', text)];
    const literal = { type: 'VARCHAR', value: 'a\0' };
    await scope.lease.execute([
      rowsTableSql(table, engineColumns(columns)),
      gatherSql(table, columns, [{ sources: [name], paths: [path], locations: [] }], {
        filters: [
          { kind: 'compare', column: ['name'], operator: '=', literal },
          { kind: 'in', column: ['name'], literals: [literal] },
          { kind: 'starts-with', column: ['name'], prefix: 'a\0' },
        ],
      }),
    ]);
    assert.equal(
      await scope.lease.queryText('SELECT count(*)::VARCHAR FROM "lake"."s.1"."my ""t"""', [], never),
      '1',
    );
  });
});

describe('views over files', () => {
  const columns = [column('id', long), column('name', text)];
  const id: ColumnSource = { kind: 'column', name: 'id', isExactType: true, type: long };

  it('of several physical schemas are one table', async () => {
    await using scope = await openLease();
    const first = await scope.write("SELECT 1::BIGINT AS id, 'one' AS n");
    const second = await scope.write('SELECT 2::BIGINT AS id');
    const third = await scope.write('SELECT 3::BIGINT AS id');
    const name: ColumnSource = { kind: 'column', name: 'n', isExactType: true, type: text };
    await scope.lease.execute([
      scanViewSql(table, columns, [
        { sources: [id, name], paths: [first], locations: [] },
        {
          sources: [id, { kind: 'constant', value: 'none', type: text }],
          paths: [second, third],
          locations: [],
        },
      ]),
    ]);
    const sql = `SELECT string_agg(id || ':' || name, ',' ORDER BY id) FROM "lake"."s.1"."my ""t"""`;
    assert.equal(await scope.lease.queryText(sql, [], never), '1:one,2:none,3:none');
  });

  it('without files have the types of the table and no rows', async () => {
    await using scope = await openLease();
    await scope.lease.execute([scanViewSql(table, columns, [])]);
    const sql = `SELECT count(*) || ' ' || coalesce(any_value(typeof(id)), 'none') FROM "lake"."s.1"."my ""t"""`;
    assert.equal(await scope.lease.queryText(sql, [], never), '0 none');
  });

  it('have the same schema as the stub that was planned with, for every type', async () => {
    const types: readonly IcebergType[] = [
      ...(
        ['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp', 'timestamptz'] as const
      ).map((kind) => ({ kind })),
      ...(['timestamp_ns', 'timestamptz_ns', 'string', 'uuid', 'binary', 'unknown'] as const).map((kind) => ({
        kind,
      })),
      { kind: 'decimal', precision: 9, scale: 2 },
      { kind: 'decimal', precision: 38, scale: 38 },
      { kind: 'fixed', length: 16 },
      structOf({ a: long, 'b.c': { kind: 'list', elementId: 1, elementRequired: true, element: text } }),
      {
        kind: 'map',
        keyId: 1,
        key: text,
        valueId: 2,
        valueRequired: false,
        value: structOf({ x: { kind: 'date' } }),
      },
    ];
    const all = types.map((type, index) => column(`c${index}`, type));
    const select = 'SELECT * FROM "lake"."s.1"."my ""t"""';
    await using scope = await openLease();
    const stub = join(scope.lease.inputDirectory, 'stub.parquet');
    const stubColumns = engineColumns(all);
    await scope.lease.execute([stubFileSql(stub, stubColumns), stubViewSql(table, stub, stubColumns, 1000n)]);
    const planned = await scope.lease.describe({ sql: select }, never);
    await scope.lease.execute(['DROP VIEW "lake"."s.1"."my ""t"""', scanViewSql(table, all, [])]);
    const run = await scope.lease.describe({ sql: select }, never);
    assert.deepEqual(Buffer.from(run.schema), Buffer.from(planned.schema));
  });
});

const table = { catalog: 'lake', schema: 's.1', table: 'my "t"' };

function column(name: string, type: IcebergType): NestedField {
  return { id: 1, name, required: false, type };
}

function structOf(fields: Readonly<Record<string, IcebergType>>): IcebergType {
  return { kind: 'struct', fields: Object.entries(fields).map(([name, type]) => column(name, type)) };
}

interface LeaseScope extends AsyncDisposable {
  readonly lease: EngineLease;
  /** Writes the rows of a query to a new Parquet file of the input folder. */
  write(sql: string): Promise<string>;
}

async function openLease(settings: Readonly<Record<string, string>> = {}): Promise<LeaseScope> {
  lease = await engine.pool.lease({ owner: 'ada', lane: 'query', signal: never });
  const session = { tables: [table], defaultCatalog: 'lake', defaultSchema: 's.1', settings };
  await lease.execute(sessionStatements(session), never);
  let count = 0;
  return {
    lease,
    async write(sql) {
      count += 1;
      const path = join(lease.inputDirectory, `file-${count}.parquet`);
      await lease.execute([`COPY (${sql}) TO '${path}' (FORMAT parquet)`], never);
      return path;
    },
    [Symbol.asyncDispose]: () => lease.release(),
  };
}

/** Reads one column through a view: the engine's name of its type, and its values as JSON. */
async function readColumn(
  file: string,
  source: ColumnSource,
  type: IcebergType,
  { column: name = 'x', pick = '' } = {},
): Promise<readonly [string, string]> {
  await using scope = await openLease({ TimeZone: 'America/New_York' });
  const path = await scope.write(file);
  await scope.lease.execute([
    scanViewSql(table, [column(name, type)], [{ sources: [source], paths: [path], locations: [] }]),
  ]);
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const from = `FROM "lake"."s.1"."my ""t"""`;
  const typeName = await scope.lease.queryText(`SELECT any_value(typeof(${quoted})) ${from}`, [], never);
  const values = await scope.lease.queryText(
    `SELECT to_json(list(${pick === '' ? quoted : pick}))::VARCHAR ${from}`,
    [],
    never,
  );
  return [typeName, values];
}
