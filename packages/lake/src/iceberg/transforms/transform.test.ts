import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePrimitiveType } from '../spec/type-text.js';
import type { PrimitiveType } from '../spec/types.js';
import type { PrimitiveValue } from '../spec/values.js';
import { applyTransform, bucketHash } from './apply-transform.js';
import { murmur3 } from './murmur3.js';
import { parseTransform, transformResultType } from './transform.js';

const nov16 = 17_486;
const evening = BigInt(Date.UTC(2017, 10, 16, 22, 31, 8)) * 1000n;
const uuid = Buffer.from('f79c3e09677c4bbda4793f349cb785e7', 'hex');

/** Specification, Appendix B, "32-bit Hash Requirements". */
const hashes: readonly (readonly [string, PrimitiveValue, number])[] = [
  ['int', 34, 2017239379],
  ['long', 34n, 2017239379],
  ['decimal(9, 2)', 1420n, -500754589],
  ['date', nov16, -653330422],
  ['time', (22n * 3600n + 31n * 60n + 8n) * 1_000_000n, -662762989],
  ['timestamp', evening, -2047944441],
  ['timestamp', evening + 1n, -1207196810],
  ['timestamptz', evening, -2047944441],
  ['timestamptz', evening + 1n, -1207196810],
  ['timestamp_ns', evening * 1000n, -2047944441],
  ['timestamp_ns', (evening + 1n) * 1000n + 1n, -1207196810],
  ['timestamptz_ns', evening * 1000n, -2047944441],
  ['string', 'iceberg', 1210000089],
  ['uuid', uuid, 1488055340],
  ['fixed[4]', Uint8Array.of(0, 1, 2, 3), -188683207],
  ['binary', Uint8Array.of(0, 1, 2, 3), -188683207],
];

for (const [type, value, expected] of hashes)
  test(`hashes ${type} as the specification says`, () => {
    assert.equal(bucketHash(typeOf(type), value), expected);
    assert.equal(apply('bucket[100]', type, value), (expected & 0x7fffffff) % 100);
  });

test('murmur3 handles every length of tail', () => {
  const expected = [
    0, 0xfd6cf10d, 0x96c86850, 0xd2bef2dc, 0xf4127e6f, 0x2abf9cbb, 0x519f29ab, 0x611e6bb0, 0xf1682af1,
  ];
  const descending = (length: number) => Uint8Array.from({ length }, (_unused, index) => 255 - index);
  const found = expected.map((_hash, length) => murmur3(descending(length)) >>> 0);
  assert.deepEqual(found, expected);
});

/** Type, transform, value, result. */
const results: readonly (readonly [string, string, PrimitiveValue, PrimitiveValue])[] = [
  ['int', 'truncate[10]', 1, 0],
  ['int', 'truncate[10]', -1, -10],
  ['long', 'truncate[10]', -10n, -10n],
  ['long', 'truncate[10]', -11n, -20n],
  ['decimal(9, 2)', 'truncate[50]', 1065n, 1050n],
  ['decimal(9, 2)', 'truncate[10]', -5n, -10n],
  ['string', 'truncate[3]', 'iceberg', 'ice'],
  ['string', 'truncate[3]', 'ic', 'ic'],
  ['string', 'truncate[2]', '😀é😀', '😀é'],
  ['string', 'truncate[1]', '', ''],
  ['binary', 'truncate[2]', Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2)],
  ['date', 'year', nov16, 47],
  ['date', 'month', nov16, 574],
  ['date', 'day', nov16, nov16],
  ['date', 'year', -1, -1],
  ['date', 'month', -1, -1],
  ['date', 'month', -32, -2],
  ['timestamp', 'year', evening, 47],
  ['timestamp', 'month', evening, 574],
  ['timestamp', 'day', evening, nov16],
  ['timestamp', 'hour', evening, nov16 * 24 + 22],
  ['timestamp', 'hour', -1n, -1],
  ['timestamp', 'day', -1n, -1],
  ['timestamp', 'day', -86_400_000_000n, -1],
  ['timestamptz_ns', 'hour', evening * 1000n, nov16 * 24 + 22],
  ['timestamp_ns', 'year', -1n, -1],
  ['boolean', 'identity', true, true],
];

for (const [type, transform, value, expected] of results)
  test(`${transform} of the ${type} ${value} is ${expected}`, () => {
    assert.deepEqual(apply(transform, type, value), expected);
  });

test('years and months agree with the calendar over eight thousand years', () => {
  for (let days = -1_500_000; days < 1_500_000; days += 997) {
    const date = new Date(days * 86_400_000);
    assert.equal(apply('year', 'date', days), date.getUTCFullYear() - 1970);
    assert.equal(apply('month', 'date', days), (date.getUTCFullYear() - 1970) * 12 + date.getUTCMonth());
  }
});

test('void makes null of everything, an unknown transform nothing', () => {
  assert.equal(apply('void', 'int', 1), null);
  assert.equal(apply('zorder[3]', 'int', 1), undefined);
  assert.deepEqual(parseTransform('zorder[3]'), { kind: 'unknown', text: 'zorder[3]' });
  for (const text of ['bucket[0]', 'bucket[-1]', 'bucket', 'truncate[]', 'bucket[99999999999]'])
    assert.equal(parseTransform(text).kind, 'unknown', text);
});

test('knows the result types, and which sources a transform takes', () => {
  const resultOf = (transform: string, type: string) =>
    transformResultType(parseTransform(transform), typeOf(type));
  assert.deepEqual(resultOf('bucket[4]', 'string'), { kind: 'int' });
  assert.deepEqual(resultOf('day', 'timestamptz'), { kind: 'date' });
  assert.deepEqual(resultOf('truncate[4]', 'decimal(5, 1)'), { kind: 'decimal', precision: 5, scale: 1 });
  for (const [transform, type] of [
    ['bucket[4]', 'double'],
    ['bucket[4]', 'boolean'],
    ['truncate[4]', 'date'],
    ['hour', 'date'],
    ['year', 'int'],
    ['other', 'int'],
  ] as const)
    assert.equal(resultOf(transform, type), undefined, `${transform} ${type}`);
});

function typeOf(text: string): PrimitiveType {
  const type = parsePrimitiveType(text);
  assert.ok(type !== undefined, text);
  return type;
}

function apply(transform: string, type: string, value: PrimitiveValue): PrimitiveValue | null | undefined {
  return applyTransform(parseTransform(transform), typeOf(type), value);
}
