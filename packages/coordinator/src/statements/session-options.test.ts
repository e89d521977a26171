import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testSettings } from '../test-support/fake-session.js';
import { withoutSetting, withSetting } from './session-options.js';

const limits = { queryTimeoutMs: 60_000, maxResultBytes: 1_000_000 };

describe('SET', () => {
  it('makes new settings and leaves the old ones, which running queries have', () => {
    const changed = set('timezone', 'Europe/Berlin');
    assert.deepEqual(changed, { ...testSettings, timeZone: 'Europe/Berlin' });
    assert.equal(testSettings.timeZone, 'UTC');
  });

  it('lowers limits down to anything above nothing, up to the configured ones', () => {
    assert.equal(set('svc.query_timeout_secs', '60').queryTimeoutMs, 60_000);
    assert.equal(set('svc.query_timeout_secs', '0.5').queryTimeoutMs, 500);
    assert.equal(set('svc.max_result_bytes', '1e3').maxResultBytes, 1000);
  });

  it('refuses limits above the configured ones, naming them', () => {
    assertRefused('svc.query_timeout_secs', '61', /at most 60 here, not 61/);
    assertRefused('svc.max_result_bytes', '1000001', /at most 1000000 here/);
  });

  it('refuses what is not a number, or not above nothing', () => {
    for (const value of ['', ' ', '0', '-1', 'NaN', 'Infinity', 'ten', '1 s', '1e999']) {
      assertRefused('svc.query_timeout_secs', value, /must be a number of at least/);
      assertRefused('svc.max_result_bytes', value, /must be a number of at least/);
    }
  });

  it('never sets a limit that rounds to nothing', () => {
    for (const [name, value] of [
      ['svc.query_timeout_secs', '0.0001'],
      ['svc.max_result_bytes', '0.5'],
    ] as const) {
      assertRefused(name, value, /at least/);
    }
  });

  it('refuses other names, listing the ones there are, and quotes no long value', () => {
    assertRefused('memory_limit', '1', /no session option memory_limit; there are timezone, svc\./);
    assertRefused('svc.query_timeout_secs', 'x'.repeat(10_000), /^.{0,200}$/);
  });
});

describe('RESET', () => {
  it('brings back the defaults, one by one', () => {
    const changed = {
      ...testSettings,
      timeZone: 'Asia/Tokyo',
      queryTimeoutMs: 1,
      maxResultBytes: 2,
      schema: 'sales',
    };
    const reset = (name: string) => withoutSetting(changed, name, testSettings);
    assert.deepEqual(reset('timezone'), { ...changed, timeZone: 'UTC' });
    assert.deepEqual(reset('svc.query_timeout_secs'), { ...changed, queryTimeoutMs: undefined });
    assert.deepEqual(reset('svc.max_result_bytes'), { ...changed, maxResultBytes: undefined });
    assert.throws(() => reset('threads'), { code: 'INVALID_ARGUMENT' });
  });
});

function set(name: string, value: string) {
  return withSetting(testSettings, name, value, limits);
}

function assertRefused(name: string, value: string, message: RegExp): void {
  assert.throws(() => set(name, value), { code: 'INVALID_ARGUMENT', message });
}
