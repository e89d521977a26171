import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrimitiveType, PrimitiveTypeName } from '../../iceberg/spec/types.js';
import { parseDecimal, parsePartitionValue } from './parse-value.js';

const decimal: PrimitiveType = { kind: 'decimal', precision: 5, scale: 2 };

function parse(type: PrimitiveTypeName | PrimitiveType, text: string) {
  return parsePartitionValue(typeof type === 'string' ? { kind: type } : type, text);
}

test('partition values are read as their types', () => {
  assert.equal(parse('long', '-9223372036854775808'), -(2n ** 63n));
  assert.equal(parse('int', '2147483647'), 2147483647);
  assert.equal(parse('boolean', 'false'), false);
  assert.equal(parse('float', '0.1'), Math.fround(0.1));
  assert.equal(parse('double', '-1.5E-7'), -1.5e-7);
  assert.equal(parse('double', '-Infinity'), Number.NEGATIVE_INFINITY);
  assert.equal(parse(decimal, '-12.3'), -1230n);
  assert.equal(parse('date', '1969-12-31'), -1);
  assert.equal(parse('string', 'a/ü'), 'a/ü');
  assert.deepEqual(parse('binary', 'ab'), Buffer.from('ab'));
});

test('times are in UTC unless they say otherwise', () => {
  assert.equal(parse('timestamptz', '1970-01-01 00:00:01'), 1_000_000n);
  assert.equal(parse('timestamptz', '1970-01-01T00:00:00.000001Z'), 1n);
  assert.equal(parse('timestamptz', '1970-01-01T01:00:00.5+01:00'), 500_000n);
  assert.equal(parse('timestamp', '1969-12-31 23:59:59.999999'), -1n);
  assert.equal(parse('timestamp', '1970-01-02'), 86_400_000_000n);
});

test('what is no value of the type is none', () => {
  const wrong: readonly (readonly [PrimitiveTypeName | PrimitiveType, string])[] = [
    ['long', '9223372036854775808'],
    ['int', '2147483648'],
    ['int', '1.0'],
    ['int', ' 1'],
    ['boolean', 'yes'],
    ['double', '1,5'],
    ['double', '0x10'],
    [decimal, '1.234'],
    [decimal, '1000'],
    [decimal, '0.-1'],
    ['date', '2023-02-29'],
    ['date', '2024-13-01'],
    ['timestamp', '1970-01-01 24:00:00'],
    ['timestamp', 'now'],
    ['uuid', 'x'],
  ];
  for (const [type, text] of wrong)
    assert.equal(parse(type, text), undefined, `${JSON.stringify(type)} ${text}`);
});

test('decimals between two values of a scale have both as neighbours', () => {
  assert.deepEqual(parseDecimal('1.255', 2), { low: 125n, high: 126n });
  assert.deepEqual(parseDecimal('-1.255', 2), { low: -126n, high: -125n });
  assert.deepEqual(parseDecimal('1e3', 2), { low: 100_000n, high: 100_000n });
  assert.deepEqual(parseDecimal('125e-2', 2), { low: 125n, high: 125n });
  assert.equal(parseDecimal('1e9999', 2), undefined);
});
