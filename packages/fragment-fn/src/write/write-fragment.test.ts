import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import type { IcebergType, NestedField, PrimitiveType } from '@svc/lake';
import { Int32, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { field, openTestWriter, type TestWriter } from '../test-support/test-writer.js';
import type { WrittenFragment } from './write-fragment.js';

let writer: TestWriter;
before(async () => {
  writer = await openTestWriter();
});
after(async () => await writer[Symbol.asyncDispose]());

const write: TestWriter['write'] = (...args) => writer.write(...args);
const writeAndRead: TestWriter['writeAndRead'] = (...args) => writer.writeAndRead(...args);

describe('rows that are written', () => {
  it('become one file, whose columns have the types and ids of the table', async () => {
    const types: readonly (readonly [IcebergType, string, string])[] = [
      [{ kind: 'boolean' }, 'true', 'BOOLEAN'],
      [{ kind: 'int' }, '7', 'INT32'],
      [{ kind: 'long' }, '7', 'INT64'],
      [{ kind: 'float' }, '1.5', 'FLOAT'],
      [{ kind: 'double' }, '1.5', 'DOUBLE'],
      [{ kind: 'decimal', precision: 9, scale: 2 }, '1.25', 'INT32'],
      [{ kind: 'decimal', precision: 18, scale: 2 }, '1.25', 'INT64'],
      [{ kind: 'decimal', precision: 38, scale: 2 }, '1.25', 'FIXED_LEN_BYTE_ARRAY'],
      [{ kind: 'date' }, "DATE '2024-05-06'", 'INT32'],
      [{ kind: 'time' }, "TIME '10:11:12'", 'INT64'],
      [{ kind: 'timestamp' }, "TIMESTAMP '2024-05-06 10:11:12'", 'INT64'],
      [{ kind: 'timestamptz' }, "TIMESTAMPTZ '2024-05-06 10:11:12+02'", 'INT64'],
      [{ kind: 'timestamp_ns' }, "TIMESTAMP_NS '2024-05-06 10:11:12.123456789'", 'INT64'],
      [{ kind: 'string' }, "'zürich 💥'", 'BYTE_ARRAY'],
      [{ kind: 'uuid' }, "'f79c3e09-677c-4bbd-a479-3f349cb785e7'", 'FIXED_LEN_BYTE_ARRAY'],
      [{ kind: 'fixed', length: 2 }, "unhex('00ff')", 'FIXED_LEN_BYTE_ARRAY'],
      [{ kind: 'binary' }, "unhex('00ff')", 'BYTE_ARRAY'],
    ];
    const columns = types.map(([type], index) => field(index + 101, `c${index}`, type));
    const sql = `SELECT ${types.map(([, value]) => value).join(', ')}`;
    const schema = await writeAndRead(
      sql,
      { columns },
      (path) =>
        `SELECT list([name, CAST(field_id AS VARCHAR), type]) FROM parquet_schema(${path}) WHERE name <> 'duckdb_schema'`,
    );
    assert.deepEqual(
      schema,
      types.map(([, , physical], index) => [`c${index}`, String(index + 101), physical]),
    );
    const values = types.map(([, value], index) => `c${index} = ${value}`).join(' AND ');
    assert.equal(
      await writeAndRead(sql, { columns }, (path) => `SELECT ${values} FROM read_parquet(${path})`),
      true,
    );
  });

  it('carry the ids of everything within structs, lists and maps', async () => {
    const deep: IcebergType = {
      kind: 'map',
      keyId: 11,
      key: { kind: 'string' },
      valueId: 12,
      valueRequired: false,
      value: {
        kind: 'list',
        elementId: 13,
        elementRequired: false,
        element: {
          kind: 'struct',
          fields: [field(14, 'a "x".y', { kind: 'double' }), field(15, 'b', { kind: 'date' })],
        },
      },
    };
    const { files } = await write(
      `SELECT MAP {'k': [{'b': DATE '2024-01-01', 'a "x".y': 'nan'::DOUBLE}, NULL]}`,
      { columns: [field(1, 'm', deep)] },
    );
    assert.deepEqual([...(files[0]?.hasNan ?? [])], [[14, true]]);
    const ids = await writeAndRead(
      `SELECT MAP {'k': [{'b': DATE '2024-01-01', 'a "x".y': 1}]}`,
      { columns: [field(1, 'm', deep)] },
      (path) =>
        `SELECT list([name, CAST(field_id AS VARCHAR)]) FROM parquet_schema(${path}) WHERE field_id IS NOT NULL`,
    );
    assert.deepEqual(ids, [
      ['m', '1'],
      ['key', '11'],
      ['value', '12'],
      ['element', '13'],
      ['a "x".y', '14'],
      ['b', '15'],
    ]);
  });

  it('are cast to the types of the table, whatever the query answers', async () => {
    const columns = [
      field(1, 'a', { kind: 'decimal', precision: 38, scale: 0 }),
      field(2, 'b', { kind: 'long' }),
      field(3, 'c', { kind: 'string' }),
    ];
    const row = await writeAndRead(
      'SELECT sum(170141183460469231::HUGEINT), 7::UTINYINT, 1.50',
      { columns },
      (path) => `SELECT [CAST(a AS VARCHAR), typeof(a), typeof(b), c] FROM read_parquet(${path})`,
    );
    assert.deepEqual(row, ['170141183460469231', 'DECIMAL(38,0)', 'BIGINT', '1.50']);
  });

  it('take the columns of the query by position, and defaults where they have none', async () => {
    const columns = [
      { field: field(1, 'a', { kind: 'int' }), position: 1 },
      { field: field(2, 'b', { kind: 'int' }) },
      { field: { ...field(3, 'c', { kind: 'string' }), writeDefault: "it's" } },
      { field: field(4, 'nothing', { kind: 'unknown' }), position: 0 },
      { field: field(5, 'd', { kind: 'int' }), position: 0 },
    ];
    const row = await writeAndRead(
      'SELECT 1 AS a, 2 AS a; -- the end',
      { columns },
      (path) => `SELECT [CAST(t AS VARCHAR)] FROM read_parquet(${path}) AS t`,
    );
    assert.deepEqual(row, ["{'a': 2, 'b': NULL, 'c': 'it\\'s', 'd': 1}"]);
  });

  it('keep names of every kind', async () => {
    for (const name of [
      'a"b',
      'a.b',
      "it's",
      '💥',
      ' ',
      'select',
      'p',
      'n',
      'y0',
      'filename',
      'file_row_number',
      'c0',
      'x'.repeat(1000),
    ]) {
      const columns = [field(1, name, { kind: 'int' }), field(2, 'p_', { kind: 'double' })];
      const partitions = [{ sourceId: 1, transform: 'bucket[4]' }];
      const found = await writeAndRead(
        'SELECT 1, 2',
        { columns, partitions },
        (path) =>
          `SELECT list([name, CAST(field_id AS VARCHAR)]) FROM parquet_schema(${path}) WHERE field_id IS NOT NULL`,
      );
      assert.deepEqual(found, [
        [name, '1'],
        ['p_', '2'],
      ]);
    }
  });

  it('may hang on the parameters of the fragment', async () => {
    const parameters = tableToIPC(new Table({ '1': vectorFromArray([3], new Int32()) }), 'stream');
    const { rowCount, statistics } = await write(
      'SELECT i FROM range(10) AS t(i) WHERE i <> ?',
      { columns: [field(1, 'a', { kind: 'int' })] },
      { parameters },
    );
    assert.deepEqual([rowCount, statistics.rowsReturned], [9n, 9n]);
  });

  it('say of each floating column whether it has a NaN', async () => {
    const columns = [
      field(1, 'a', { kind: 'double' }),
      field(2, 'b', { kind: 'float' }),
      field(3, 'c', { kind: 'int' }),
    ];
    const { files } = await write("SELECT 'nan'::DOUBLE, 1, 1", { columns });
    assert.deepEqual(
      [...(files[0]?.hasNan ?? [])],
      [
        [1, true],
        [2, false],
      ],
    );
  });

  it('are none: then there is no file, partitioned or not', async () => {
    const columns = [field(1, 'a', { kind: 'int' })];
    for (const partitions of [[], [{ sourceId: 1, transform: 'identity' }]]) {
      const { files, rowCount } = await write('SELECT 1 WHERE false', { columns, partitions });
      assert.deepEqual([files, rowCount], [[], 0n]);
    }
  });
});

describe('the files of many rows', () => {
  const columns = [field(1, 'a', { kind: 'long' }), field(2, 'b', { kind: 'string' })];
  const sql = 'SELECT i, md5(i::VARCHAR) FROM range(200000) AS t(i)';

  it('end soon after the target size', async () => {
    const { files } = await write(sql, { columns, rowGroupRows: 10_240, targetFileBytes: 1_000_000 });
    assert.ok(files.length > 3, `${files.length} files`);
    for (const file of files) assert.ok(file.sizeBytes < 1_800_000, `${file.sizeBytes} bytes`);
    assert.equal(sumOfRows(files), 200_000);
  });

  it('end near the target size within a partition too', async () => {
    const partitions = [{ sourceId: 1, transform: 'truncate[1000000]' }];
    for (const columnsOfTable of [columns, columns.slice(0, 1)]) {
      const { files } = await write(sql, {
        columns: columnsOfTable,
        partitions,
        rowGroupRows: 10_240,
        targetFileBytes: 200_000,
      });
      assert.ok(files.length > 1, `${files.length} files`);
      assert.equal(sumOfRows(files), 200_000);
      assert.deepEqual(new Set(files.map((file) => file.partition[0])), new Set([0n]));
    }
  });
});

describe('a partitioned table', () => {
  it('has one file for each combination of values, and NULL is one', async () => {
    const columns = [
      field(1, 'a', { kind: 'int' }),
      field(2, 's', { kind: 'string' }),
      field(3, 't', { kind: 'timestamptz' }),
    ];
    const partitions = [
      { sourceId: 2, transform: 'identity' },
      { sourceId: 3, transform: 'day' },
      { sourceId: 1, transform: 'void' },
    ];
    const sql = `SELECT * FROM (VALUES (1, 'n', TIMESTAMPTZ '1969-12-31 23:00:00+00'), (2, NULL, TIMESTAMPTZ '1970-01-01 01:00:00+02'),
      (3, '', NULL), (4, 'n', TIMESTAMPTZ '1969-12-31 00:00:00+00'), (5, '1:n', NULL), (6, '../x', NULL), (7, '${'x'.repeat(5000)}', NULL))`;
    const { files, rowCount } = await write(sql, { columns, partitions });
    assert.equal(rowCount, 7n);
    const found = files.map(({ partition, rowCount: rows }) => [...partition, rows]).sort();
    assert.deepEqual(
      found,
      [
        ['', null, null, 1],
        ['../x', null, null, 1],
        ['1:n', null, null, 1],
        ['n', -1, null, 2],
        ['x'.repeat(5000), null, null, 1],
        [null, -1, null, 1],
      ].sort(),
    );
  });

  it('refuses a row whose partition would be out of range', async () => {
    const partitions = [{ sourceId: 1, transform: 'truncate[5]' }];
    for (const [kind, value, below] of [
      ['int', -(2n ** 31n), '-2147483650'],
      ['long', -(2n ** 63n), '-9223372036854775810'],
    ] as const)
      await assert.rejects(write(`SELECT ${value}`, { columns: [field(1, 'a', { kind })], partitions }), {
        code: 'EVALUATION_ERROR',
        message: new RegExp(`its partition would be ${below}, which is no ${kind}`),
      });
    await writer.assertNothingIsLeft();
  });

  it('may be partitioned by a field of a struct', async () => {
    const columns = [field(1, 's', { kind: 'struct', fields: [field(2, 'k', { kind: 'int' })] })];
    const { files } = await write("SELECT {'k': i % 2} FROM range(10) AS t(i)", {
      columns,
      partitions: [{ sourceId: 2, transform: 'identity' }],
    });
    assert.deepEqual(files.map((file) => file.partition[0]).sort(), [0, 1]);
  });

  it('keeps its partition columns in the files', async () => {
    const columns = [field(1, 'a', { kind: 'int' })];
    const found = await writeAndRead(
      'SELECT 5',
      { columns, partitions: [{ sourceId: 1, transform: 'identity' }] },
      (path) => `SELECT [CAST(t AS VARCHAR)] FROM read_parquet(${path}, hive_partitioning = false) AS t`,
    );
    assert.deepEqual(found, ["{'a': 5}"]);
  });

  it('of more partitions than are open at a time gets all rows', async () => {
    const columns = [field(1, 'a', { kind: 'int' })];
    const { files } = await write('SELECT i % 300 FROM range(30000) AS t(i)', {
      columns,
      partitions: [{ sourceId: 1, transform: 'identity' }],
    });
    assert.equal(sumOfRows(files), 30_000);
    assert.equal(new Set(files.map((file) => file.partition[0])).size, 300);
  });

  it('answers identity values as the lake knows them', async () => {
    const values: readonly (readonly [PrimitiveType, string, unknown])[] = [
      [{ kind: 'boolean' }, 'true', true],
      [{ kind: 'date' }, "DATE '1969-12-31'", -1],
      [{ kind: 'time' }, "TIME '00:00:01'", 1_000_000n],
      [{ kind: 'decimal', precision: 5, scale: 2 }, '-0.05', -5n],
      [{ kind: 'double' }, "'-inf'", Number.NEGATIVE_INFINITY],
      [
        { kind: 'uuid' },
        "'f79c3e09-677c-4bbd-a479-3f349cb785e7'",
        Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex'),
      ],
      [{ kind: 'binary' }, "unhex('00ff')", Buffer.of(0, 255)],
    ];
    const columns = values.map(([type], index) => field(index + 1, `c${index}`, type));
    const partitions = values.map((_value, index) => ({ sourceId: index + 1, transform: 'identity' }));
    const { files } = await write(`SELECT ${values.map(([, sql]) => sql).join(', ')}`, {
      columns,
      partitions,
    });
    assert.deepEqual(
      files[0]?.partition,
      values.map(([, , value]) => value),
    );
  });
});

describe('rows that the table cannot have', () => {
  const int: IcebergType = { kind: 'int' };
  const cases: readonly (readonly [string, NestedField, string, RegExp])[] = [
    [
      'text that is no number',
      field(1, 'a "b"', int),
      "SELECT 'x' FROM range(3)",
      /^Column "a \\"b\\"": the value "x" of type VARCHAR cannot be written as INTEGER/,
    ],
    [
      'a number that is too large',
      field(1, 'a', int),
      'SELECT 2147483648',
      /^Column "a": the value "2147483648" of type BIGINT/,
    ],
    [
      'a wrong element',
      field(1, 'a', { kind: 'list', elementId: 2, element: int, elementRequired: false }),
      "SELECT ['1', 'x']",
      /^Column "a": the value "\[1, x\]" of type VARCHAR\[\]/,
    ],
    [
      'NULL',
      field(1, 'a', int, true),
      'SELECT i FROM (VALUES (1), (NULL)) AS t(i)',
      /^Column "a" must not be null/,
    ],
    [
      'NULL in a struct',
      field(1, 'a', { kind: 'struct', fields: [field(2, 'b', int, true)] }),
      "SELECT {'b': NULL::INTEGER}",
      /^Column "a\.b" must not be null/,
    ],
    [
      'NULL in a list',
      field(1, 'a', { kind: 'list', elementId: 2, element: int, elementRequired: true }),
      'SELECT [1, NULL]',
      /^Column "a\.element" must not be null/,
    ],
    [
      'NULL in a map',
      field(1, 'a', { kind: 'map', keyId: 2, key: int, valueId: 3, value: int, valueRequired: true }),
      'SELECT MAP {1: NULL}',
      /^Column "a\.value" must not be null/,
    ],
    [
      'bytes of another length',
      field(1, 'a', { kind: 'fixed', length: 2 }),
      "SELECT unhex('00')",
      /^Column "a": every value must have exactly 2 bytes/,
    ],
    [
      'an infinite date',
      field(1, 'a', { kind: 'date' }),
      "SELECT DATE 'infinity'",
      /^Column "a": a table's date cannot be infinite/,
    ],
  ];
  for (const [what, column, sql, message] of cases)
    it(`${what}: the error names the column, and nothing is left`, async () => {
      await assert.rejects(write(sql, { columns: [column] }), { code: 'EVALUATION_ERROR', message });
      await writer.assertNothingIsLeft();
    });

  it('a NULL struct is no NULL of its required fields', async () => {
    const column = field(1, 'a', { kind: 'struct', fields: [field(2, 'b', int, true)] });
    assert.equal((await write('SELECT NULL::STRUCT(b INTEGER)', { columns: [column] })).rowCount, 1n);
  });

  it('of a type that has no cast: the error names the column', async () => {
    const column = field(1, 'a', { kind: 'struct', fields: [field(2, 'b', int)] });
    await assert.rejects(write("SELECT {'c': 1}", { columns: [column] }), {
      code: 'BINDING_ERROR',
      message: /^Column "a" cannot take the values/,
    });
  });

  it('of structs with fields that the table has no place for: the error names the field', async () => {
    const struct: IcebergType = { kind: 'struct', fields: [field(2, 'b', int)] };
    const list: IcebergType = { kind: 'list', elementId: 3, element: struct, elementRequired: false };
    const map: IcebergType = {
      kind: 'map',
      keyId: 4,
      key: int,
      valueId: 5,
      value: list,
      valueRequired: false,
    };
    for (const [type, sql, lost] of [
      [struct, "SELECT {'B': 1, 'z': 2}", 'a.z'],
      [list, "SELECT [{'b': 1, 'z': 2}]", 'a.element.z'],
      [map, "SELECT MAP {1: [{'b': 1, 'z': 2}]}", 'a.value.element.z'],
    ] as const)
      await assert.rejects(write(sql, { columns: [field(1, 'a', type)] }), {
        code: 'BINDING_ERROR',
        message: new RegExp(`^Column "a" .* "${lost}"`),
      });
    assert.equal((await write("SELECT MAP {1: [{'B': 1}]}", { columns: [field(1, 'a', map)] })).rowCount, 1n);
    assert.equal((await write('SELECT ROW(7)', { columns: [field(1, 'a', struct)] })).rowCount, 1n);
  });

  it('for want of a value of a required column are refused before anything runs', async () => {
    await assert.rejects(write('SELECT 1 WHERE false', { columns: [{ field: field(1, 'a', int, true) }] }), {
      code: 'EVALUATION_ERROR',
      message: /"a" must not be null/,
    });
  });

  it('columns that cannot be written are refused by name', async () => {
    for (const type of [
      { kind: 'timestamptz_ns' },
      { kind: 'unsupported', text: 'variant' },
      { kind: 'list', elementId: 2, element: { kind: 'unknown' }, elementRequired: false },
    ] as const)
      await assert.rejects(write('SELECT 1', { columns: [field(1, 'a', type)] }), {
        code: 'NOT_SUPPORTED',
        message: /^Column "a/,
      });
    await assert.rejects(write('SELECT 1, 2', { columns: [field(1, 'a', int), field(2, 'A', int)] }), {
      code: 'NOT_SUPPORTED',
      message: /by case/,
    });
  });

  it("an error of the query itself stays the query's", async () => {
    await assert.rejects(write('SELECT nothing', { columns: [field(1, 'a', int)] }), {
      code: 'BINDING_ERROR',
      message: /"nothing"/,
    });
    await assert.rejects(
      write("SELECT CAST('x' || i AS INTEGER) FROM range(2) AS t(i)", { columns: [field(1, 'a', int)] }),
      { code: 'EVALUATION_ERROR', message: /Could not convert string 'x0'/ },
    );
  });
});

describe('a fragment that writes and ends early', () => {
  const columns = [field(1, 'a', { kind: 'long' }), field(2, 'b', { kind: 'string' })];
  const endless = 'SELECT i, md5(i::VARCHAR) FROM range(100000000000) AS t(i)';

  it('by its caller in the middle leaves no file behind', async () => {
    const caller = new AbortController();
    const writing = write(endless, { columns, rowGroupRows: 2048 }, { signal: caller.signal });
    const rejected = assert.rejects(writing, /gone/);
    while (writer.outputDirectory === undefined || bytesIn(writer.outputDirectory) === 0) await nextTurn();
    caller.abort(new QueryError('CANCELLED', 'gone'));
    await rejected;
    await writer.assertNothingIsLeft();
  });

  it('by its time limit leaves no file behind', async () => {
    await assert.rejects(write(endless, { columns }, { timeoutMs: 200 }), { code: 'QUERY_TIMEOUT' });
    await writer.assertNothingIsLeft();
  });

  it('because its files cannot be taken passes the error on', async () => {
    const take = () => Promise.reject(new Error('no place'));
    await assert.rejects(write('SELECT 1, 2', { columns }, { take }), /no place/);
    await writer.assertNothingIsLeft();
  });
});

function sumOfRows(files: WrittenFragment['files']): number {
  return files.reduce((sum, file) => sum + file.rowCount, 0);
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(`${entry.parentPath}/${entry.name}`).size, 0);
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
