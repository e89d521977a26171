import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { collectResult, openTemporaryInstance } from '../testing/temporary-instance.js';
import type { ArrowMode } from './type-mapping.js';

const modes: readonly ArrowMode[] = ['client', 'lossless'];

/** Everything at once: nulls at odd offsets, nested lists that cross chunk borders, enums, unions, empty texts. */
const mixed = `
  SELECT i,
    CASE WHEN i % 3 = 0 THEN NULL WHEN i % 3 = 1 THEN '' ELSE 'text ' || i END AS s,
    CASE WHEN i % 5 = 0 THEN NULL ELSE i % 2 = 0 END AS b,
    CASE WHEN i % 11 = 0 THEN NULL ELSE [i, NULL, i + 1][:i % 4] END AS l,
    [[i::VARCHAR], [], NULL, ['x', NULL]] AS ll,
    {'a': i, 'b': CASE WHEN i % 7 = 0 THEN NULL ELSE [i::VARCHAR] END} AS st,
    MAP {i: i::VARCHAR} AS m,
    (CASE WHEN i % 13 = 0 THEN NULL WHEN i % 2 = 0 THEN 'x' ELSE 'yy' END)::ENUM('x', 'yy', 'zz') AS e,
    [(CASE WHEN i % 2 = 0 THEN 'x' ELSE 'yy' END)::ENUM('x', 'yy', 'zz'), NULL] AS el,
    array_value(i, NULL, 3)::INTEGER[3] AS ar,
    CASE WHEN i % 2 = 0 THEN union_value(n := i)::UNION(n BIGINT, t VARCHAR) ELSE 't'::UNION(n BIGINT, t VARCHAR) END AS u,
    CASE WHEN i % 4 = 0 THEN NULL ELSE INTERVAL (i) DAY END AS iv,
    (i / 100)::DECIMAL(10, 2) AS d
  FROM range(70000) t(i)`;

for (const mode of modes) {
  test(`every type comes back equal through Arrow in ${mode} form`, () => {
    using temporary = openTemporaryInstance();
    const { instance } = temporary;
    const columns: unknown = JSON.parse(
      instance.queryText(
        'SELECT to_json(list(column_name))::VARCHAR FROM (DESCRIBE SELECT * FROM test_all_types())',
        [],
      ),
    );
    assert.ok(Array.isArray(columns) && columns.length > 50);
    for (const column of columns)
      assertRoundTrip(temporary.instance, `SELECT "${column}" FROM test_all_types(), range(700)`, mode);
  });

  test(`a large mixed result comes back equal in ${mode} form, through small regions too`, () => {
    using temporary = openTemporaryInstance();
    assertRoundTrip(temporary.instance, mixed, mode, 1024 * 1024);
    assertRoundTrip(temporary.instance, `${mixed} LIMIT 5000`, mode, 64 * 1024);
  });
}

test('another implementation reads what is written: values, types and batches', () => {
  using temporary = openTemporaryInstance();
  const { stream, rowCounts, bodyBytes } = collectResult(temporary.instance, { sql: mixed }, 1024 * 1024);
  assert.ok(rowCounts.length > 1);
  assert.ok(bodyBytes.every((byteCount) => byteCount <= 1024 * 1024 && byteCount % 8 === 0));
  const table = tableFromIPC(stream);
  assert.equal(table.numRows, 70_000);
  for (const row of [0, 1, 2047, 2048, 2049, 69_999]) {
    const at = (name: string): unknown => table.getChild(name)?.get(row);
    assert.equal(at('i'), BigInt(row));
    assert.equal(at('s'), row % 3 === 0 ? null : row % 3 === 1 ? '' : `text ${row}`);
    assert.equal(at('b'), row % 5 === 0 ? null : row % 2 === 0);
    assert.equal(at('e'), row % 13 === 0 ? null : row % 2 === 0 ? 'x' : 'yy');
  }
});

test('an empty result has a schema and no batch', () => {
  using temporary = openTemporaryInstance();
  const sql = "SELECT 1 AS a, 'x'::ENUM('x') AS e, [1] AS l WHERE false";
  const { stream, rowCounts } = collectResult(temporary.instance, { sql });
  assert.deepEqual(rowCounts, []);
  const table = tableFromIPC(stream);
  assert.equal(table.numRows, 0);
  assert.deepEqual(
    table.schema.fields.map((field) => field.name),
    ['a', 'e', 'l'],
  );
});

test('rows larger than the region come in memory of their own, up to the largest message', () => {
  using temporary = openTemporaryInstance({ maxMessageBytes: 1024 * 1024 });
  const { instance } = temporary;
  const fits = collectResult(
    instance,
    { sql: "SELECT i, repeat('x', 300000) AS s FROM range(5) t(i)" },
    128 * 1024,
  );
  assert.deepEqual(fits.rowCounts, [1, 1, 1, 1, 1]);
  assert.equal(tableFromIPC(fits.stream).getChild('s')?.get(4)?.length, 300_000);
  assert.throws(
    () => collectResult(instance, { sql: "SELECT repeat('x', 2000000) AS s" }, 128 * 1024),
    (error: { code?: string; message?: string }) =>
      error.code === 'RESULT_TOO_LARGE' && /1048576/.test(error.message ?? ''),
  );
  assert.equal(instance.queryText("SELECT 'still alive'", []), 'still alive');
});

test('a wide chunk is divided by rows', () => {
  using temporary = openTemporaryInstance();
  const sql = "SELECT i, repeat('x', 1000) AS s FROM range(2048) t(i)";
  const { stream, rowCounts } = collectResult(temporary.instance, { sql }, 256 * 1024);
  assert.ok(rowCounts.length >= 8);
  assert.deepEqual(
    [...(tableFromIPC(stream).getChild('i') ?? [])],
    Array.from({ length: 2048 }, (_, row) => BigInt(row)),
  );
});

test('what Arrow cannot carry is text for clients, and refused between engines', () => {
  using temporary = openTemporaryInstance();
  const { instance } = temporary;
  const sql = `SELECT '101'::BIT AS bit, ['11'::BIT] AS bits, 340282366920938463463374607431768211455::UHUGEINT AS huge,
    '10:00:00+02'::TIMETZ AS tz, '12345678901234567890123456789012345678901234567890'::BIGNUM AS big,
    {'v': {'a': 1}::VARIANT} AS v -- no semicolon; needed
    ; -- but one may stand here`;
  const table = tableFromIPC(collectResult(instance, { sql }).stream);
  const at = (name: string) => table.getChild(name)?.get(0);
  assert.equal(at('bit'), '101');
  assert.deepEqual([...at('bits')], ['11']);
  assert.equal(at('huge'), '340282366920938463463374607431768211455');
  assert.equal(at('tz'), '10:00:00+02');
  assert.equal(at('big'), '12345678901234567890123456789012345678901234567890');
  assert.equal(at('v').toJSON().v, '{"a":1}');
  assert.throws(
    () => instance.query({ sql: 'SELECT 1::VARIANT AS v', arrow: 'lossless' }),
    (error: { code?: string; message?: string }) =>
      error.code === 'NOT_SUPPORTED' && /"v"/.test(error.message ?? ''),
  );
});

/** Result → Arrow → table: no row may be missing or new. */
function assertRoundTrip(
  instance: ReturnType<typeof openTemporaryInstance>['instance'],
  sql: string,
  arrow: ArrowMode,
  regionBytes?: number,
): void {
  instance.execute([
    `CREATE OR REPLACE TABLE source AS ${sql}`,
    'CREATE OR REPLACE TABLE target AS FROM source LIMIT 0',
  ]);
  const { stream } = collectResult(instance, { sql: 'FROM source', arrow }, regionBytes);
  const ingest = instance.ingest({ table: 'target' });
  const pieceBytes = 10_007;
  for (let at = 0; at < stream.byteLength; at += pieceBytes)
    ingest.write(stream.subarray(at, at + pieceBytes));
  const rowCount = ingest.finish();
  const difference = instance.queryText(
    `SELECT concat_ws(' ', (SELECT count(*) FROM source),
       (SELECT count(*) FROM (FROM source EXCEPT ALL FROM target)), (SELECT count(*) FROM (FROM target EXCEPT ALL FROM source)))`,
    [],
  );
  assert.equal(difference, `${rowCount} 0 0`, sql);
}
