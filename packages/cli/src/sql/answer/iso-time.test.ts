import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeUnit } from 'apache-arrow';
import { isoDate, isoTime, isoTimestamp, zoneOffsets } from './iso-time.js';

describe('isoDate', () => {
  it('agrees with JavaScript on every day of four centuries', () => {
    for (let day = -73_000; day < 73_100; day += 1)
      assert.equal(isoDate(day), new Date(day * 86_400_000).toISOString().slice(0, 10));
  });

  it('writes years of more than four digits with a sign, and the infinities by name', () => {
    assert.equal(isoDate(2_932_897), '+010000-01-01');
    assert.equal(isoDate(-719_529), '-000001-12-31');
    assert.equal(isoDate(2 ** 31 - 1), 'infinity');
    assert.equal(isoDate(-(2 ** 31 - 1)), '-infinity');
  });
});

describe('isoTimestamp', () => {
  it('keeps every digit of every unit', () => {
    assert.equal(isoTimestamp(1n, TimeUnit.SECOND, 'T'), '1970-01-01T00:00:01');
    assert.equal(isoTimestamp(1n, TimeUnit.MILLISECOND, ' '), '1970-01-01 00:00:00.001');
    assert.equal(isoTimestamp(-1n, TimeUnit.MICROSECOND, 'T'), '1969-12-31T23:59:59.999999');
    assert.equal(
      isoTimestamp(1_700_000_000_123_456_789n, TimeUnit.NANOSECOND, 'T'),
      '2023-11-14T22:13:20.123456789',
    );
    assert.equal(
      isoTimestamp(9_007_199_254_740_993n, TimeUnit.MICROSECOND, 'T'),
      '2255-06-05T23:47:34.740993',
    );
    assert.equal(
      isoTimestamp(-9_007_199_254_740_993n, TimeUnit.MICROSECOND, 'T'),
      '1684-07-28T00:12:25.259007',
    );
  });

  it('shows the time of a zone with its offset', () => {
    const summer = 1_720_000_000n;
    assert.equal(
      isoTimestamp(summer, TimeUnit.SECOND, 'T', zoneOffsets('Europe/Berlin')),
      '2024-07-03T11:46:40+02:00',
    );
    assert.equal(
      isoTimestamp(0n, TimeUnit.SECOND, 'T', zoneOffsets('America/St_Johns')),
      '1969-12-31T20:30:00-03:30',
    );
    assert.equal(isoTimestamp(0n, TimeUnit.SECOND, 'T', zoneOffsets('UTC')), '1970-01-01T00:00:00Z');
  });
});

describe('isoTime', () => {
  it('drops closing zeros of the fraction', () => {
    assert.equal(isoTime(45_296_500_000n, TimeUnit.MICROSECOND), '12:34:56.5');
    assert.equal(isoTime(86_400_000_000n, TimeUnit.MICROSECOND), '24:00:00');
  });
});
