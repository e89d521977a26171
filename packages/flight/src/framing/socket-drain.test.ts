import assert from 'node:assert/strict';
import type { Http2Session } from 'node:http2';
import { test } from 'node:test';
import { socketDrained } from './socket-drain.js';

function sessionThat(onDestroy: () => void): Http2Session {
  const session = {
    destroyed: false,
    destroy() {
      session.destroyed = true;
      onDestroy();
    },
  };
  return session as unknown as Http2Session;
}

test('waits until the kernel has taken everything', async () => {
  const sizes = [3000, 2000, 2000, 0];
  let looks = 0;
  const session = sessionThat(() => assert.fail('a peer that reads keeps its connection'));
  await socketDrained({ session, pendingBytes: () => sizes[looks++] ?? 0, stalledAfterMs: 60_000 });
  assert.equal(looks, 4);
});

test('a peer that takes nothing loses its connection', async () => {
  let pending = 5000;
  const session = sessionThat(() => {
    pending = 0;
  });
  await socketDrained({ session, pendingBytes: () => pending, stalledAfterMs: 5 });
  assert.equal(session.destroyed, true);
});
