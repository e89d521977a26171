import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeBinaryValue, encodeBinaryValue } from './binary-value.js';
import { civilFromDays, daysFromCivil } from './calendar.js';
import { printJsonValue } from './json-value.js';
import { printJson } from './lossless-json.js';
import { parsePrimitiveType, printType } from './type-text.js';
import type { PrimitiveType } from './types.js';
import { compareValues, type PrimitiveValue, toComparable } from './values.js';

const uuid = Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex');

/** Type, value, single-value binary form (Appendix D) in hex, JSON form. */
const forms: readonly (readonly [string, PrimitiveValue, string, string])[] = [
  ['boolean', true, '01', 'true'],
  ['boolean', false, '00', 'false'],
  ['int', -2, 'feffffff', '-2'],
  ['long', 2n ** 53n + 1n, '0100000000002000', '9007199254740993'],
  ['float', -0.5, '000000bf', '-0.5'],
  ['double', 1.5, '000000000000f83f', '1.5'],
  ['double', Number.NaN, '000000000000f87f', '"NaN"'],
  ['double', Number.NEGATIVE_INFINITY, '000000000000f0ff', '"-Infinity"'],
  ['date', 17_486, '4e440000', '"2017-11-16"'],
  ['date', -1, 'ffffffff', '"1969-12-31"'],
  ['time', 81_068_123_456n, '006d06e012000000', '"22:31:08.123456"'],
  ['timestamp', 1n, '0100000000000000', '"1970-01-01T00:00:00.000001"'],
  ['timestamp', -1n, 'ffffffffffffffff', '"1969-12-31T23:59:59.999999"'],
  ['timestamptz', 1_000_000n, '40420f0000000000', '"1970-01-01T00:00:01.000000+00:00"'],
  ['timestamp_ns', 1n, '0100000000000000', '"1970-01-01T00:00:00.000000001"'],
  ['timestamptz_ns', -1n, 'ffffffffffffffff', '"1969-12-31T23:59:59.999999999+00:00"'],
  ['decimal(9, 2)', 1420n, '058c', '"14.20"'],
  ['decimal(9, 2)', -1n, 'ff', '"-0.01"'],
  ['decimal(9, 0)', 128n, '0080', '"128"'],
  ['decimal(38, 10)', -(10n ** 37n), decimalHex(-(10n ** 37n)), '"-1000000000000000000000000000.0000000000"'],
  ['string', 'é😀', 'c3a9f09f9880', '"é😀"'],
  ['uuid', uuid, uuid.toString('hex'), '"f79c3e09-677c-4bbd-a479-3f349cb785e7"'],
  ['fixed[2]', Buffer.from([0, 255]), '00ff', '"00ff"'],
  ['binary', Buffer.from([]), '', '""'],
];

function decimalHex(value: bigint): string {
  return Buffer.from(encodeBinaryValue({ kind: 'decimal', precision: 38, scale: 10 }, value)).toString('hex');
}

for (const [text, value, hex, json] of forms)
  test(`writes and reads the ${text} ${value instanceof Uint8Array ? hex : value}`, () => {
    const type = typeOf(text);
    if (text === 'time') assert.equal(decodeBinaryValue(type, encodeBinaryValue(type, value)), value);
    else assert.equal(Buffer.from(encodeBinaryValue(type, value)).toString('hex'), hex);
    assert.deepEqual(decodeBinaryValue(type, encodeBinaryValue(type, value)), value);
    assert.equal(printJson(printJsonValue(type, value)), json);
  });

test('widens bounds written before a promotion, and takes nothing from bytes that do not fit', () => {
  const four = Uint8Array.of(254, 255, 255, 255);
  assert.equal(decodeBinaryValue({ kind: 'long' }, four), -2n);
  assert.equal(decodeBinaryValue({ kind: 'timestamp' }, four), -172_800_000_000n);
  assert.equal(decodeBinaryValue({ kind: 'double' }, encodeBinaryValue({ kind: 'float' }, 0.5)), 0.5);
  for (const type of ['boolean', 'int', 'long', 'float', 'double', 'date', 'time', 'timestamp', 'uuid'])
    assert.equal(decodeBinaryValue(typeOf(type), new Uint8Array(3)), undefined, type);
  assert.equal(decodeBinaryValue(typeOf('decimal(9, 2)'), new Uint8Array()), undefined);
  assert.throws(() => encodeBinaryValue({ kind: 'int' }, 'text'), TypeError);
});

test('prints and parses the text of every type', () => {
  for (const text of [
    'int',
    'timestamptz_ns',
    'decimal(38, 10)',
    'fixed[16]',
    'variant',
    'geometry(srid:4326)',
    'unknown',
  ])
    assert.equal(printType(typeOf(text)), text);
  assert.deepEqual(parsePrimitiveType('decimal(9,2)'), { kind: 'decimal', precision: 9, scale: 2 });
  for (const text of ['', 'integer', 'decimal(39, 0)', 'decimal(3, 4)', 'fixed[]', 'decimal(9)'])
    assert.equal(parsePrimitiveType(text), undefined, text);
});

test('compares numbers of both kinds exactly, NaN above all, and text by code points', () => {
  assert.ok(compareValues(2n ** 53n + 1n, 2 ** 53) > 0);
  assert.ok(compareValues(1n, 1.5) < 0);
  assert.equal(compareValues(0, -0), 0);
  assert.ok(compareValues(Number.NaN, Number.POSITIVE_INFINITY) > 0);
  assert.ok(compareValues(Number.NEGATIVE_INFINITY, Number.NaN) < 0);
  assert.equal(compareValues(Number.NaN, Number.NaN), 0);
  assert.ok(
    compareValues(toComparable('\uffff'), toComparable('😀')) < 0,
    'UTF-16 order would say otherwise',
  );
});

test('the calendar covers all 32-bit days', () => {
  for (const days of [0, -1, 59, 60, -719_468, 2 ** 31 - 1, -(2 ** 31), 17_486])
    assert.equal(daysFromCivil(civilFromDays(days)), days);
  assert.deepEqual(civilFromDays(-719_528), { year: 0, month: 1, day: 1 });
});

function typeOf(text: string): PrimitiveType {
  const type = parsePrimitiveType(text);
  assert.ok(type !== undefined, text);
  return type;
}
