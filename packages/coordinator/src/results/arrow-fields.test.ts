import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as arrow from 'apache-arrow';
import { arrowFields } from './arrow-fields.js';

const field = (name: string, type: arrow.DataType) => new arrow.Field(name, type, true);

it('the fields of a result have the names that SQL gives their types', () => {
  const entries = new arrow.Struct<{ key: arrow.Utf8; value: arrow.Int64 }>([
    new arrow.Field('key', new arrow.Utf8(), false),
    new arrow.Field('value', new arrow.Int64(), true),
  ]);
  const types: readonly (readonly [arrow.DataType, string])[] = [
    [new arrow.Bool(), 'BOOLEAN'],
    [new arrow.Int8(), 'TINYINT'],
    [new arrow.Int16(), 'SMALLINT'],
    [new arrow.Int32(), 'INTEGER'],
    [new arrow.Int64(), 'BIGINT'],
    [new arrow.Uint8(), 'UTINYINT'],
    [new arrow.Uint16(), 'USMALLINT'],
    [new arrow.Uint32(), 'UINTEGER'],
    [new arrow.Uint64(), 'UBIGINT'],
    [new arrow.Float32(), 'FLOAT'],
    [new arrow.Float64(), 'DOUBLE'],
    [new arrow.Decimal(2, 12, 128), 'DECIMAL(12,2)'],
    [new arrow.Utf8(), 'VARCHAR'],
    [new arrow.Binary(), 'BLOB'],
    [new arrow.DateDay(), 'DATE'],
    [new arrow.TimeMicrosecond(), 'TIME'],
    [new arrow.TimeNanosecond(), 'TIME_NS'],
    [new arrow.TimestampSecond(), 'TIMESTAMP_S'],
    [new arrow.TimestampMillisecond(), 'TIMESTAMP_MS'],
    [new arrow.TimestampMicrosecond(), 'TIMESTAMP'],
    [new arrow.TimestampNanosecond(), 'TIMESTAMP_NS'],
    [new arrow.TimestampMicrosecond('UTC'), 'TIMESTAMP WITH TIME ZONE'],
    [new arrow.IntervalMonthDayNano(), 'INTERVAL'],
    [new arrow.Dictionary(new arrow.Utf8(), new arrow.Uint8()), 'ENUM'],
    [new arrow.List(field('l', new arrow.Int32())), 'INTEGER[]'],
    [new arrow.FixedSizeList(3, field('l', new arrow.Int32())), 'INTEGER[3]'],
    [new arrow.Map_(new arrow.Field('entries', entries, false)), 'MAP(VARCHAR, BIGINT)'],
    [
      new arrow.Struct([
        field('a', new arrow.Int32()),
        field('b "c"', new arrow.List(field('l', new arrow.Utf8()))),
      ]),
      'STRUCT("a" INTEGER, "b ""c""" VARCHAR[])',
    ],
  ];
  const schema = new arrow.Schema(types.map(([type], index) => field(`c${index}`, type)));
  const bytes = arrow.tableToIPC(new arrow.Table(schema), 'stream');
  assert.deepEqual(
    arrowFields(bytes).map(({ type }) => type),
    types.map(([, name]) => name),
  );
});
