import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrimitiveType, PrimitiveTypeName } from '../../iceberg/spec/types.js';
import { parseStatistics, recordCountOf, summariseColumn } from './file-statistics.js';

function summarise(type: PrimitiveTypeName | PrimitiveType, min: string, max: string, more = '') {
  const text = `{"numRecords":10,"minValues":{"c":${min}},"maxValues":{"c":${max}}${more}}`;
  const statistics = parseStatistics(text, 's') ?? {};
  return summariseColumn(statistics, ['c'], typeof type === 'string' ? { kind: type } : type, true);
}

function bounds(type: PrimitiveTypeName | PrimitiveType, min: string, max: string) {
  const { lower, upper } = summarise(type, min, max);
  return [lower, upper];
}

test('64-bit bounds keep every digit', () => {
  const [lower, upper] = ['-9223372036854775807', '9223372036854775807'];
  assert.deepEqual(bounds('long', lower, upper), [BigInt(lower), BigInt(upper)]);
});

test('a maximum of text is a prefix, whether it was cut or not', () => {
  const end = (text: string) => Buffer.concat([Buffer.from(text), Buffer.from([255])]);
  assert.deepEqual(bounds('string', '"a"', '"b"'), [Buffer.from('a'), end('b')]);
  for (const sign of ['\uFFFD', '\u{10FFFF}'])
    assert.deepEqual(bounds('string', '"a"', JSON.stringify(`b${sign}`)), [Buffer.from('a'), end('b')]);
});

test('a maximum of times may be cut to milliseconds', () => {
  const text = '"1970-01-01T00:00:00.001Z"';
  assert.deepEqual(bounds('timestamptz', text, text), [1000n, 1999n]);
  assert.deepEqual(bounds('timestamptz', '"1970-01-01T01:00:00.000+01:00"', text), [0n, 1999n]);
  assert.deepEqual(bounds('timestamptz', '"1970-01-01T00:00:00"', text), [undefined, 1999n]);
  assert.deepEqual(bounds('date', '"1970-01-02"', '"1970-01-03"'), [1, 2]);
});

test('bounds of decimals with more digits than a double has are taken with its rounding', () => {
  const wide: PrimitiveType = { kind: 'decimal', precision: 38, scale: 2 };
  const [lower, upper] = bounds(wide, '123456789012345678.9', '123456789012345678.9');
  const exact = 12345678901234567890n;
  assert.ok(Number(lower) < Number(exact) - 1000 && Number(upper) > Number(exact) + 1000);
  assert.deepEqual(bounds({ kind: 'decimal', precision: 10, scale: 2 }, '0.1', '12.5'), [10n, 1250n]);
});

test('bounds that contradict each other, or are of another type, are unknown', () => {
  assert.deepEqual(bounds('long', '5', '4'), [undefined, undefined]);
  assert.deepEqual(bounds('long', '"5"', '1.5'), [undefined, undefined]);
  assert.deepEqual(bounds('double', '"NaN"', '1e400'), [undefined, undefined]);
  assert.deepEqual(bounds('binary', '"a"', '"b"'), [undefined, undefined]);
});

test('counts of nulls tell what they must tell with rows deleted, too', () => {
  const nulls = (count: number) => summarise('long', '1', '2', `,"nullCount":{"c":${count}}`);
  assert.deepEqual([nulls(0).mayHaveNull, nulls(0).mayHaveValue], [false, true]);
  assert.deepEqual([nulls(3).mayHaveNull, nulls(3).mayHaveValue], [true, true]);
  assert.deepEqual([nulls(10).mayHaveNull, nulls(10).mayHaveValue], [true, false]);
  const unknown = summarise('long', '1', '2');
  assert.deepEqual([unknown.mayHaveNull, unknown.mayHaveValue], [true, true]);
});

test('statistics that are no JSON are none', () => {
  for (const text of ['{', '[]', '"x"', '', 'null'])
    assert.equal(parseStatistics(text, 's'), undefined, text);
});

test('rows are counted wherever the count stands', () => {
  assert.equal(recordCountOf('{"numRecords":7}'), 7);
  assert.equal(recordCountOf('{"minValues":{"numRecords":9},"numRecords":7}'), 7);
  assert.equal(recordCountOf('{"minValues":{"numRecords":9}}'), undefined);
  assert.equal(recordCountOf('{"numRecords":-1}'), undefined);
  assert.equal(recordCountOf(undefined), undefined);
});
