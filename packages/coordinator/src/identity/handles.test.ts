import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HandleSigner } from './handles.js';

const session = 'session-key';

describe('a signed handle', () => {
  it('names its id to the session it was issued for, every time', () => {
    const signer = new HandleSigner();
    const { id, handle } = signer.issue(session);
    assert.equal(signer.verify(handle, session), id);
    assert.equal(signer.verify(handle, session), id);
  });

  it('is recognised inside a larger buffer', () => {
    const signer = new HandleSigner();
    const { id, handle } = signer.issue(session);
    const inside = Buffer.concat([Buffer.from('xx'), handle, Buffer.from('yy')]).subarray(
      2,
      2 + handle.length,
    );
    assert.equal(signer.verify(inside, session), id);
  });

  it('is refused when any bit of it is flipped', () => {
    const signer = new HandleSigner();
    const { handle } = signer.issue(session);
    for (let bit = 0; bit < handle.length * 8; bit += 1) {
      const damaged = Uint8Array.from(handle);
      damaged[bit >> 3] = (damaged[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      assert.equal(signer.verify(damaged, session), undefined);
    }
  });

  it('is refused when it is cut, extended, empty or text', () => {
    const signer = new HandleSigner();
    const { handle } = signer.issue(session);
    const wrong = [
      handle.subarray(0, -1),
      handle.subarray(1),
      Buffer.concat([handle, Buffer.of(0)]),
      new Uint8Array(),
      Buffer.from('SELECT 1'),
      new Uint8Array(1_000_000),
    ];
    for (const bytes of wrong) {
      assert.equal(signer.verify(bytes, session), undefined);
    }
  });

  it('is refused to any other session and by any other process', () => {
    const signer = new HandleSigner();
    const { handle } = signer.issue(session);
    assert.equal(signer.verify(handle, 'other'), undefined);
    assert.equal(signer.verify(handle, ''), undefined);
    assert.equal(new HandleSigner().verify(handle, session), undefined);
  });
});
