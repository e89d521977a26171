import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { QueryError } from '@svc/base';
import {
  Bool,
  DateDay,
  Decimal,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  Schema,
  Struct,
  Table,
  TimestampMicrosecond,
  tableFromArrays,
  tableFromIPC,
  tableToIPC,
  Utf8,
  vectorFromArray,
} from 'apache-arrow';
import { collectResult, openTemporaryInstance } from '../testing/temporary-instance.js';

const regionBytes = 1024 * 1024;

test('describe answers the schema that query will answer, byte for byte', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const statements = [
    'SELECT * FROM test_all_types()',
    "SELECT 1 AS a, 'x'::ENUM('x', 'y') AS e, [{'k': '1'::BIT}] AS n, NULL AS nothing, now() AS t",
    'EXPLAIN SELECT 1',
    'SHOW TABLES',
    'DESCRIBE SELECT 1 AS a',
  ];
  for (const arrow of ['client', 'lossless'] as const)
    for (const sql of statements) {
      const described = instance.describe(sql, arrow).schema;
      const cursor = instance.query({ sql, arrow });
      assert.deepEqual(Buffer.from(described), Buffer.from(cursor.schema), sql);
      cursor.close();
    }
});

test('describe infers parameters, and says null where it cannot', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  instance.execute(['CREATE TABLE t (a INTEGER, b VARCHAR, d DECIMAL(10, 2), u BIT)']);
  const parameters = (sql: string) => {
    const { parameterSchema, parameterCount } = instance.describe(sql);
    const { fields } = tableFromIPC(parameterSchema).schema;
    assert.equal(fields.length, parameterCount);
    return fields.map((field) => `${field.name}: ${field.type}`);
  };
  assert.deepEqual(parameters('SELECT a FROM t WHERE a = ? AND b LIKE ? AND d > ? AND u = ?'), [
    '1: Int32',
    '2: Utf8',
    '3: Decimal[10e+2]',
    '4: Utf8',
  ]);
  assert.deepEqual(parameters('SELECT $name::BIGINT, ? + 1'.replace('?', '$other')), [
    'name: Int64',
    'other: Null',
  ]);
  assert.deepEqual(parameters('SELECT 1'), []);
});

test('with parameters, describe answers the schema that they lead to', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const sql = 'SELECT ? AS p, 1 AS one';
  const parameters = tableToIPC(tableFromArrays({ p: Float64Array.of(1.5) }), 'stream');
  const described = instance.describe(sql, 'client', parameters).schema;
  const cursor = instance.query({ sql, parameters, arrow: 'client' });
  assert.deepEqual(Buffer.from(described), Buffer.from(cursor.schema));
  cursor.close();
  assert.deepEqual(
    tableFromIPC(instance.describe(sql).schema).schema.fields.map((field) => field.name),
    ['p', 'one'],
  );
});

test('parameters of every kind reach the statement with their types', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const values = [
    { type: new Int32(), value: -7, text: '-7', name: 'INTEGER' },
    { type: new Int64(), value: 9007199254740993n, text: '9007199254740993', name: 'BIGINT' },
    { type: new Float64(), value: 1.5, text: '1.5', name: 'DOUBLE' },
    { type: new Bool(), value: true, text: 'true', name: 'BOOLEAN' },
    { type: new Utf8(), value: "it's ☃", text: "it's ☃", name: 'VARCHAR' },
    { type: new Utf8(), value: '', text: '', name: 'VARCHAR' },
    { type: new Utf8(), value: null, text: null, name: null },
    { type: new DateDay(), value: new Date('2024-02-29'), text: '2024-02-29', name: 'DATE' },
    {
      type: new TimestampMicrosecond(),
      value: new Date('2024-02-29T12:34:56.789Z').getTime(),
      text: '2024-02-29 12:34:56.789',
      name: 'TIMESTAMP',
    },
    {
      type: new Decimal(2, 10, 128),
      value: Uint32Array.of(12345, 0, 0, 0),
      text: '123.45',
      name: 'DECIMAL(10,2)',
    },
    {
      type: new List(new Field('item', new Int32(), true)),
      value: [1, null, 3],
      text: '[1, NULL, 3]',
      name: 'INTEGER[]',
    },
    {
      type: new Struct([new Field('a', new Int32(), true), new Field('b', new Utf8(), true)]),
      value: { a: 1, b: 'x' },
      text: "{'a': 1, 'b': x}",
      name: 'STRUCT(a INTEGER, b VARCHAR)',
    },
  ];
  for (const { type, value, text, name } of values) {
    const parameters = tableToIPC(new Table({ p: vectorFromArray([value], type) }), 'stream');
    const sql = 'SELECT p::VARCHAR AS text, typeof(p) AS name FROM (SELECT ? AS p)';
    const table = tableFromIPC(collectResult(instance, { sql, parameters }).stream);
    assert.equal(table.getChild('text')?.get(0), text);
    if (name !== null) assert.equal(table.getChild('name')?.get(0), name);
  }
});

test('a wrong number of parameters or rows is refused', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const two = tableToIPC(tableFromArrays({ a: Int32Array.of(1), b: Int32Array.of(2) }), 'stream');
  const rows = tableToIPC(tableFromArrays({ a: Int32Array.of(1, 2) }), 'stream');
  const none = tableToIPC(new Table(new Schema([])), 'stream');
  assert.throws(
    () => instance.query({ sql: 'SELECT ?', parameters: two, arrow: 'client' }),
    isInvalidParameter,
  );
  assert.throws(
    () => instance.query({ sql: 'SELECT ?', parameters: rows, arrow: 'client' }),
    isInvalidParameter,
  );
  assert.throws(
    () => instance.query({ sql: 'SELECT 1', parameters: rows, arrow: 'client' }),
    isInvalidParameter,
  );
  instance.query({ sql: 'SELECT 1', parameters: none, arrow: 'client' }).close();
});

test('another thread interrupts a running statement, and the next one runs', async () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const watch = new URL('./watch.js', import.meta.url).href;
  // The thread interrupts over and over, because no message of this thread can tell it that the statement runs. It waits
  // for progress first, which the engine notes between its tasks: on a busy machine one may last for the whole statement.
  const worker = new Worker(
    `const { workerData, parentPort } = require('node:worker_threads');
     import(workerData.watch).then(({ interruptConnection, connectionProgress }) => {
       let isProgressSeen = false;
       let ticks = 0;
       const timer = setInterval(() => {
         isProgressSeen ||= connectionProgress(workerData.connection).rowsTotal > 0n;
         if (isProgressSeen || ++ticks > 200) interruptConnection(workerData.connection);
       }, 5);
       parentPort.on('message', () => { clearInterval(timer); parentPort.close(); });
       parentPort.postMessage('ready');
     });`,
    { eval: true, workerData: { watch, connection: instance.connectionAddress } },
  );
  await new Promise((resolve) => worker.once('message', resolve));
  const sql =
    'SELECT count(*) FROM range(10000000) a(i), range(1000000) b(j) WHERE hash(i) % 7 = hash(j) % 11';
  assert.throws(
    () => collectResult(instance, { sql }),
    (error) => error instanceof QueryError && error.code === 'CANCELLED',
  );
  worker.postMessage('stop');
  await new Promise((resolve) => worker.once('exit', resolve));
  assert.equal(instance.queryText("SELECT 'next'", []), 'next');
  assert.ok(!instance.isUnusable);
});

test('a profile counts rows, memory, spill and processor time', () => {
  using temporary = openTemporaryInstance({ memoryBytes: 64 * 1024 * 1024 });
  const { instance, outputDirectory } = temporary;
  const file = `${outputDirectory}/rows.parquet`;
  instance.execute([`COPY (SELECT i, i % 10 AS k FROM range(100000) t(i)) TO '${file}'`]);
  const profileOf = (sql: string) => {
    const cursor = instance.query({ sql, arrow: 'client' });
    const region = new Uint8Array(new ArrayBuffer(regionBytes));
    while (cursor.next(region) !== undefined);
    return cursor.profile();
  };
  const scan = profileOf(`SELECT k, count(*) FROM '${file}' GROUP BY k`);
  assert.equal(scan.rowsReturned, 10n);
  assert.equal(scan.rowsScanned, 100_000n);
  assert.equal(scan.spilledBytes, 0n);
  assert.ok(scan.peakMemoryBytes > 0n && scan.cpuSeconds > 0);
  const sort = profileOf("SELECT i, repeat('x', 50) || i AS s FROM range(1000000) t(i) ORDER BY hash(i)");
  assert.equal(sort.rowsReturned, 1_000_000n);
  assert.ok(sort.spilledBytes > 0n);
});

test('a cursor that is closed early frees the instance', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const cursor = instance.query({ sql: 'SELECT * FROM range(100000000)', arrow: 'client' });
  assert.ok(cursor.next(new Uint8Array(new ArrayBuffer(regionBytes))));
  assert.throws(() => instance.queryText("SELECT 'x'", []), /busy/);
  cursor.close();
  cursor.close();
  assert.equal(cursor.next(new Uint8Array(new ArrayBuffer(regionBytes))), undefined);
  assert.equal(instance.queryText("SELECT 'x'", []), 'x');
});

test('the plan of the pinned version has the fields that the planner reads', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  instance.execute(['CREATE TABLE t (a INTEGER, b VARCHAR)', "INSERT INTO t VALUES (-1, 'x'), (1, 'y')"]);
  const plan: unknown = JSON.parse(
    instance.queryText('SELECT json_serialize_plan(?::VARCHAR, optimize := true)', [
      'SELECT b, count(*) FROM t WHERE a > 0 GROUP BY b',
    ]),
  );
  assert.deepEqual(keysByType(plan), planFields);
});

test('an instance that is closed refuses, twice closed is closed', () => {
  const temporary = openTemporaryInstance();
  temporary[Symbol.dispose]();
  temporary.instance.close();
  assert.throws(() => temporary.instance.queryText("SELECT 'x'", []), /closed/);
});

/** Field names of every plan node, by type. */
const planFields = {
  LOGICAL_AGGREGATE_AND_GROUP_BY: [
    'type',
    'children',
    'expressions',
    'group_index',
    'aggregate_index',
    'groupings_index',
    'groups',
    'grouping_sets',
    'grouping_functions',
    'distinct_validity',
  ],
  LOGICAL_GET: [
    'type',
    'children',
    'table_index',
    'returned_types',
    'names',
    'projection_ids',
    'table_filters',
    'name',
    'arguments',
    'original_arguments',
    'catalog_name',
    'schema_name',
    'has_serialize',
    'function_data',
    'projected_input',
    'column_indexes',
    'extra_info',
    'ordinality_idx',
    'row_group_order_options',
  ],
  LOGICAL_PROJECTION: ['type', 'children', 'table_index', 'expressions'],
};

function keysByType(value: unknown, found: Record<string, string[]> = {}): Record<string, string[]> {
  if (Array.isArray(value)) for (const item of value) keysByType(item, found);
  else if (typeof value === 'object' && value !== null) {
    const type: unknown = Reflect.get(value, 'type');
    if (typeof type === 'string' && type.startsWith('LOGICAL_')) found[type] = Object.keys(value);
    for (const item of Object.values(value)) keysByType(item, found);
  }
  return found;
}

function isInvalidParameter(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'INVALID_PARAMETER';
}
