import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as arrow from 'apache-arrow';
import { parameterLiterals } from './parameter-literals.js';

describe('the SQL of a bound value', () => {
  const values: readonly (readonly [name: string, vector: arrow.Vector, sql: string | undefined])[] = [
    ['a boolean', arrow.vectorFromArray([true], new arrow.Bool()), ' true '],
    ['a negative BIGINT, next to a minus sign', int(-5n, new arrow.Int64()), " CAST('-5' AS BIGINT) "],
    ['a SMALLINT', int(7, new arrow.Int16()), " CAST('7' AS SMALLINT) "],
    ['a UTINYINT', int(255, new arrow.Uint8()), " CAST('255' AS UTINYINT) "],
    ['a UBIGINT', int(2n ** 64n - 1n, new arrow.Uint64()), " CAST('18446744073709551615' AS UBIGINT) "],
    ['a FLOAT', float(0.5, new arrow.Float32()), " CAST('0.5' AS FLOAT) "],
    ['a DOUBLE', float(0.1, new arrow.Float64()), " CAST('0.1' AS DOUBLE) "],
    ['a negative zero', float(-0, new arrow.Float64()), " CAST('-0' AS DOUBLE) "],
    ['NaN', float(Number.NaN, new arrow.Float64()), " CAST('NaN' AS DOUBLE) "],
    ['infinity', float(Number.NEGATIVE_INFINITY, new arrow.Float64()), " CAST('-Infinity' AS DOUBLE) "],
    ['text', arrow.vectorFromArray(["it's"], new arrow.Utf8()), " 'it''s' "],
    ['NULL', arrow.vectorFromArray([null], new arrow.Int64()), ' NULL '],
    ['seconds', timestamp(-1n, arrow.TimeUnit.SECOND), ' CAST(make_timestamp(-1000000) AS TIMESTAMP_S) '],
    ['microseconds', timestamp(1n, arrow.TimeUnit.MICROSECOND), ' make_timestamp(1) '],
    ['nanoseconds', timestamp(1n, arrow.TimeUnit.NANOSECOND), ' make_timestamp_ns(1) '],
    [
      'nanoseconds before 1970 in a zone, cut as the engine cuts them',
      timestamp(-1n, arrow.TimeUnit.NANOSECOND, 'UTC'),
      " (make_timestamp(-1) AT TIME ZONE 'UTC') ",
    ],
    ['a decimal', decimal(-5n, 10, 2), " CAST('-0.05' AS DECIMAL(10,2)) "],
    ['a decimal that is a whole number', decimal(5n, 38, 0), " CAST('5' AS DECIMAL(38,0)) "],
    ['a decimal of a negative scale', decimal(5n, 10, -2), undefined],
    ['binary', arrow.vectorFromArray([Uint8Array.of(1)], new arrow.Binary()), undefined],
  ];
  for (const [name, vector, sql] of values) {
    it(`has the value and the type of the bound one: ${name}`, () => {
      assert.equal(parameterLiterals(rowOf(vector), ['1'])?.get('1'), sql);
    });
  }
});

function int(value: number | bigint, type: arrow.Int): arrow.Vector {
  return arrow.vectorFromArray([value], type);
}

function float(value: number, type: arrow.Float): arrow.Vector {
  return arrow.vectorFromArray([value], type);
}

function timestamp(value: bigint, unit: arrow.TimeUnit, timezone?: string): arrow.Vector {
  const type = new arrow.Timestamp(unit, timezone);
  return arrow.makeVector(arrow.makeData({ type, length: 1, nullCount: 0, data: BigInt64Array.of(value) }));
}

function decimal(unscaled: bigint, precision: number, scale: number): arrow.Vector {
  const type = new arrow.Decimal(scale, precision, 128);
  const data = new Uint32Array(BigInt64Array.of(unscaled, unscaled >> 63n).buffer);
  return arrow.makeVector(arrow.makeData({ type, length: 1, nullCount: 0, data }));
}

function rowOf(vector: arrow.Vector): Uint8Array {
  const schema = new arrow.Schema([new arrow.Field('p', vector.type, true)]);
  const children = vector.data.slice(0, 1);
  const data = arrow.makeData({ type: new arrow.Struct(schema.fields), length: 1, nullCount: 0, children });
  return arrow.tableToIPC(new arrow.Table([new arrow.RecordBatch(schema, data)]), 'stream');
}
