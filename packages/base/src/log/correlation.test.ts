import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogContext } from './context.js';
import { correlationFields } from './correlation.js';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';

describe('correlationFields (spec 2.9, 8)', () => {
  it('takes valid values', () => {
    const headers = {
      traceparent: `00-${trace}-${span}-01`,
      'x-request-id': 'A.z_0:-',
      'x-session-id': 's'.repeat(128),
    };
    assert.deepEqual(fields(headers), {
      trace_id: trace,
      span_id: span,
      request_id: 'A.z_0:-',
      session_id: 's'.repeat(128),
    });
  });

  it('leaves out what is not valid, and goes on (spec 7)', () => {
    for (const value of ['', 'a b', 'a\nb', 'é', 'x'.repeat(129), 'a"', 'a,b'])
      assert.deepEqual(fields({ 'x-request-id': value, 'x-session-id': value }), {}, value);
    assert.deepEqual(fields({}), {});
  });

  it('leaves out what is the credential of the call', () => {
    const bearer = 'a-bearer_of.some-length';
    const headers = { authorization: `Bearer ${bearer}`, 'x-request-id': bearer, 'x-session-id': 'B' };
    assert.deepEqual(fields(headers), { session_id: 'B' });
  });

  it('follows the W3C rules for a traceparent', () => {
    const zero = '0'.repeat(32);
    for (const value of [
      `00-${zero}-${span}-01`,
      `00-${trace}-0000000000000000-01`,
      `00-${trace.toUpperCase()}-${span}-01`,
      `00-${trace}-${span}-01-more`,
      `ff-${trace}-${span}-01`,
      `00-${trace}-${span}`,
      `${trace}-${span}`,
    ])
      assert.deepEqual(fields({ traceparent: value }), {}, value);
    const newer = fields({ traceparent: `01-${trace}-${span}-01-more` });
    assert.deepEqual(newer, { trace_id: trace, span_id: span });
  });
});

function fields(headers: Readonly<Record<string, string>>): LogContext {
  return correlationFields((name) => headers[name]);
}
