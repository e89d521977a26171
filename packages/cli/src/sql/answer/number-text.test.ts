import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { intervalText } from './interval-text.js';
import { decimalText, doubleText, floatText } from './number-text.js';

const words = (value: bigint) =>
  new Uint32Array(new BigUint64Array([BigInt.asUintN(64, value), BigInt.asUintN(64, value >> 64n)]).buffer);

describe('decimalText', () => {
  it('keeps 39 digits, signs and closing zeros', () => {
    assert.equal(decimalText(words(-(2n ** 127n)), 0, 0), '-170141183460469231731687303715884105728');
    assert.equal(decimalText(words(1250n), 0, 2), '12.50');
    assert.equal(decimalText(words(-5n), 0, 3), '-0.005');
    assert.equal(decimalText(words(5n), 0, -2), '500');
  });
});

describe('doubleText and floatText', () => {
  it('read back as the same number', () => {
    for (const value of [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -0, 1e21, 123456789012345680])
      assert.ok(Object.is(Number(doubleText(value)), value), doubleText(value));
    for (const value of [0.1, 1 / 3, 16_777_216, 3.4e38, 1e-45].map(Math.fround))
      assert.equal(Math.fround(Number(floatText(value))), value);
  });

  it('are as short as they can be and show that they are no integers', () => {
    assert.equal(floatText(Math.fround(0.1)), '0.1');
    assert.deepEqual([doubleText(1), doubleText(Number.NaN), doubleText(-0)], ['1.0', 'NaN', '-0.0']);
  });
});

describe('intervalText', () => {
  it('names months, days and the time', () => {
    const interval = (months: number, days: number, nanos: bigint) => {
      const out = new Int32Array(4);
      out.set([months, days]);
      new BigInt64Array(out.buffer, 8, 1)[0] = nanos;
      return intervalText(out, 0);
    };
    assert.equal(interval(14, 1, 3_600_500_000_000n), '1 year 2 months 1 day 01:00:00.5');
    assert.equal(interval(0, 0, 0n), '00:00:00');
    assert.equal(interval(-1, 0, -1_000_000_000n), '-1 month -00:00:01');
  });
});
