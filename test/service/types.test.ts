/** What GetFlightInfo promises is what DoGet sends, for every type. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { FlightClient } from '@svc/flight';
import { tableFromIPC } from 'apache-arrow';
import { getTablesCommand } from './support/messages.js';
import { framed, query, readTicket, rowsOf } from './support/results.js';
import { startService, type TestService } from './support/service.js';

/** An expression of each type, and the Arrow type that clients get. */
const expressions: readonly (readonly [expression: string, arrowType: string])[] = [
  ['true', 'Bool'],
  ['1::TINYINT', 'Int8'],
  ['1::SMALLINT', 'Int16'],
  ['1::INTEGER', 'Int32'],
  ['1::BIGINT', 'Int64'],
  ['1::HUGEINT', 'Decimal[38e0]'],
  ['1::UTINYINT', 'Uint8'],
  ['1::USMALLINT', 'Uint16'],
  ['1::UINTEGER', 'Uint32'],
  ['1::UBIGINT', 'Uint64'],
  ['1::UHUGEINT', 'Utf8'],
  ['1.5::FLOAT', 'Float32'],
  ['1.5::DOUBLE', 'Float64'],
  ['1.5::DECIMAL(4, 1)', 'Decimal[4e+1]'],
  ['1.5::DECIMAL(9, 1)', 'Decimal[9e+1]'],
  ['1.5::DECIMAL(18, 1)', 'Decimal[18e+1]'],
  ['1.5::DECIMAL(38, 1)', 'Decimal[38e+1]'],
  ["'x'", 'Utf8'],
  ["'\\x00\\xff'::BLOB", 'Binary'],
  ["'101'::BIT", 'Utf8'],
  ["DATE '2024-01-01'", 'Date32<DAY>'],
  ["TIME '01:02:03.123456'", 'Time64<MICROSECOND>'],
  ["TIMETZ '01:02:03+01:30'", 'Utf8'],
  ["'01:02:03.123456789'::TIME_NS", 'Time64<NANOSECOND>'],
  ["'2024-01-01 01:02:03'::TIMESTAMP_S", 'Timestamp<SECOND>'],
  ["'2024-01-01 01:02:03.123'::TIMESTAMP_MS", 'Timestamp<MILLISECOND>'],
  ["TIMESTAMP '2024-01-01 01:02:03.123456'", 'Timestamp<MICROSECOND>'],
  ["'2024-01-01 01:02:03.123456789'::TIMESTAMP_NS", 'Timestamp<NANOSECOND>'],
  ["TIMESTAMPTZ '2024-01-01 01:02:03+00'", 'Timestamp<MICROSECOND, UTC>'],
  ["INTERVAL '1 month 2 days 3 seconds'", 'Interval<MONTH_DAY_NANO>'],
  ["'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID", 'Utf8'],
  ["'a'::ENUM('a', 'b')", 'Dictionary<Uint8, Utf8>'],
  ['[1, 2, NULL]', 'List<Int32>'],
  ['[]::INTEGER[]', 'List<Int32>'],
  ['[[1], NULL, []]', 'List<List<Int32>>'],
  ['[1, NULL, 3]::INTEGER[3]', 'FixedSizeList[3]<Int32>'],
  ["{'a': 1, 'b': 'x'}", 'Struct<{a:Int32, b:Utf8}>'],
  ["[{'a': [NULL, {'b': DATE '2024-01-01'}]}]", 'List<Struct<{a:List<Struct<{b:Date32<DAY>}>>}>>'],
  ["MAP {'k': 1, 'l': NULL}", 'Map<{key:Utf8, value:Int32}>'],
  ['MAP {1: [2]}', 'Map<{key:Int32, value:List<Int32>}>'],
  ["union_value(str := 'a')::UNION(num INTEGER, str VARCHAR)", 'Union<Int32 | Utf8>'],
  ['NULL', 'Int32'],
  ['12345678901234567890123456789::BIGNUM', 'Utf8'],
  ['\'{"a": 1}\'::JSON', 'Utf8'],
];

let service: TestService;
let client: FlightClient;
before(async () => {
  service = await startService({
    tables: {
      'types.all': `SELECT true AS b, 1::INTEGER AS i, 1::BIGINT AS l, 1.5::FLOAT AS f, 1.5::DOUBLE AS d,
        1.5::DECIMAL(4, 1) AS d4, 1.5::DECIMAL(38, 1) AS d38, DATE '2024-01-01' AS dt, TIME '01:02:03' AS tm,
        TIMESTAMP '2024-01-01 01:02:03' AS ts, TIMESTAMPTZ '2024-01-01 01:02:03+00' AS tz, 'x' AS s,
        'f79c3e09-677c-4bbd-a479-3f349cb785e7'::UUID AS u, '\\x00'::BLOB AS bin,
        {'a': 1, 'b c': ['x']} AS st, [1] AS li, MAP {'k': {'v': 1::BIGINT}} AS m`,
    },
  });
  client = await service.client();
});
after(async () => await service[Symbol.asyncDispose]());

describe('a value of each type', () => {
  for (const [expression, arrowType] of expressions) {
    it(`has the schema that was promised: ${expression}`, async () => {
      const sql = `SELECT ${expression} AS v UNION ALL SELECT NULL UNION ALL SELECT ${expression}`;
      const { schema, tickets } = await client.planStatement(sql);
      assert.deepEqual(await firstMessage(client, tickets[0]), Buffer.from(schema));
      const table = await readTicket(client, tickets[0]);
      assert.equal(String(table.schema.fields[0]?.type), arrowType);
      const [first, none, last] = rowsOf(table).map(([value]) => JSON.stringify(value, bigintAsText));
      assert.equal(none, 'null');
      assert.equal(first, last);
      assert.equal(first === 'null', expression === 'NULL');
    });
  }

  it('has it also when there is no row, and when they are all in one', async () => {
    const columns = expressions.map(([expression], index) => `${expression} AS c${index}`).join(', ');
    for (const filter of ['', ' WHERE false']) {
      const { schema, tickets } = await client.planStatement(`SELECT * FROM (SELECT ${columns})${filter}`);
      assert.deepEqual(await firstMessage(client, tickets[0]), Buffer.from(schema));
    }
  });
});

describe('a table of each type', () => {
  it('has the same columns in GetTables, GetFlightInfo and DoGet', async () => {
    const { schema, tickets } = await client.planStatement('SELECT * FROM types.all');
    assert.deepEqual(await firstMessage(client, tickets[0]), Buffer.from(schema));
    const { tickets: listed } = await client.plan(getTablesCommand({ includeSchema: true }));
    const [row] = rowsOf(await readTicket(client, listed[0]));
    const inTables = row?.[4];
    assert.ok(inTables instanceof Uint8Array);
    assert.deepEqual(fieldTexts(inTables), fieldTexts(schema));
  });

  it('has its values back', async () => {
    const table = await query(client, 'SELECT COLUMNS(*)::VARCHAR FROM types.all');
    assert.deepEqual(rowsOf(table), [
      [
        'true',
        '1',
        '1',
        '1.5',
        '1.5',
        '1.5',
        '1.5',
        '2024-01-01',
        '01:02:03',
        '2024-01-01 01:02:03',
        '2024-01-01 01:02:03+00',
        'x',
        'f79c3e09-677c-4bbd-a479-3f349cb785e7',
        '\\x00',
        "{'a': 1, 'b c': [x]}",
        '[1]',
        "{k={'v': 1}}",
      ],
    ]);
  });
});

async function firstMessage(from: FlightClient, ticket: Uint8Array | undefined): Promise<Buffer> {
  for await (const { header } of from.read(ticket ?? new Uint8Array())) return Buffer.from(framed(header));
  throw new TypeError('The result has no schema message.');
}

function fieldTexts(schema: Uint8Array): readonly string[] {
  return tableFromIPC(schema).schema.fields.map(({ name, type }) => `${name} ${type}`);
}

function bigintAsText(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}` : value;
}
