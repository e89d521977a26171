import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { type FragmentTable, fragmentProtocolVersion } from '../request.js';
import { type Damage, damaged } from '../test-support/damage.js';
import { plainRequest, richTask } from '../test-support/test-task.js';
import { decodeTask, encodeTask } from './task-codec.js';

describe('a task on its way', () => {
  it('arrives as it was sent, whatever is in it', () => {
    const task = richTask();
    assert.deepEqual(decodeTask(encodeTask(task)), task);
    const plain = { request: plainRequest(), grants: [] };
    assert.deepEqual(decodeTask(encodeTask(plain)), plain);
  });

  it('is small', () => {
    assert.ok(encodeTask({ request: plainRequest(), grants: [] }).byteLength < 200);
  });

  it('has the bytes that executors of this version know', () => {
    // Other bytes of the same task are another version of the protocol: a field that is added leaves these as they are.
    const digest = createHash('sha256').update(encodeTask(richTask())).digest('hex');
    assert.equal(digest, 'ff85fe1d01fe5d027691bf90ffb84a6149776c152a07dc1035ff70ca112b729b');
  });

  it('does not share memory with what it was read from', () => {
    const bytes = encodeTask(richTask());
    const task = decodeTask(bytes);
    bytes.fill(0);
    assert.deepEqual(task, richTask());
  });

  it('does not go when it is too large', () => {
    const rows = { kind: 'bytes', stream: new Uint8Array(65 * 1024 * 1024) } as const;
    const table = { kind: 'input', catalog: 'c', schema: 's', table: 't', columns: [], rows } as const;
    const request = plainRequest({ tables: [table] });
    assert.throws(() => encodeTask({ request, grants: [] }), { code: 'NOT_SUPPORTED' });
  });

  it('does not take rows that are still being made, and files that a statement names', () => {
    const name = { catalog: 'c', schema: 's', table: 't' };
    const tables: readonly FragmentTable[] = [
      { kind: 'input', ...name, columns: [], rows: { kind: 'stream', open: () => assert.fail() } },
      { kind: 'files', ...name, columns: [], call: '', files: [], unread: [] },
    ];
    for (const table of tables)
      assert.throws(() => encodeTask({ request: plainRequest({ tables: [table] }), grants: [] }), {
        code: 'NOT_SUPPORTED',
      });
  });

  it('is refused when its parts do not fit each other', () => {
    const { request, grants } = richTask();
    const [first] = request.splits;
    assert.ok(first);
    const misfits = [
      { request: { ...request, splitTable: 9 }, grants },
      { request: { ...request, splitTable: 1 }, grants },
      { request: { ...request, splits: [] }, grants },
      { request: { ...request, splits: [first, first] }, grants },
      { request: { ...request, wholeColumns: { columns: [2], schema: new Uint8Array() } }, grants },
      { request: plainRequest({ joinKeys: request.joinKeys ?? [] }), grants: [] },
      { request: plainRequest(), grants },
    ];
    for (const misfit of misfits) assertRefused(encodeTask(misfit));
  });
});

describe('a task of another version', () => {
  const versionAt = 4;
  const minimumAt = 5;
  const of = (version: number, minimum: number, more: readonly number[] = []): Uint8Array => {
    const bytes = Uint8Array.of(...encodeTask(richTask()), ...more);
    bytes[versionAt] = version;
    bytes[minimumAt] = minimum;
    return bytes;
  };
  /** A field that nobody here knows. */
  const newer = [77, 2, 1, 1];

  it('one newer is understood where it says so, without what is new in it', () => {
    const task = decodeTask(of(fragmentProtocolVersion + 1, fragmentProtocolVersion, newer));
    assert.deepEqual(task, richTask());
  });

  it('one newer that must not be read by this one is refused, naming both', () => {
    assert.throws(() => decodeTask(of(fragmentProtocolVersion + 1, fragmentProtocolVersion + 1, newer)), {
      code: 'FRAGMENT_REFUSED',
      message: /version 3.*version 2 /,
    });
  });

  it('one older is understood, and is of this version then', () => {
    assert.deepEqual(decodeTask(of(fragmentProtocolVersion - 1, fragmentProtocolVersion - 1)), richTask());
  });

  it('two off is refused', () => {
    for (const version of [0, fragmentProtocolVersion + 2, 127]) assertRefused(of(version, 1));
  });

  it('this one has no fields that are not known', () => {
    assertRefused(of(fragmentProtocolVersion, 1, newer));
  });
});

describe('garbage instead of a task', () => {
  it('is refused', () => {
    assertRefused(new Uint8Array());
    assertRefused(Buffer.from('{"request": {}}'));
    assertRefused(encodeTask(richTask()).subarray(0, 6));
    assertRefused(new Uint8Array(70 * 1024 * 1024));
  });

  it('that is nested without end is refused', () => {
    const depth = 100_000;
    const head = encodeTask({ request: plainRequest(), grants: [] }).subarray(0, 6);
    // Lengths that fit each other: each slice is all that is left.
    const nested: number[] = [];
    for (let level = 0; level < depth; level += 1) nested.push(1, 0x7f);
    assertRefused(Buffer.concat([head, Uint8Array.from(nested)]));
  });

  for (const seed of [1, 2, 3])
    it(`is refused or is another task, and nothing else happens (seed ${seed})`, () => {
      const bytes = encodeTask(richTask());
      const counts: Record<Damage['kind'] | 'read', number> = { flip: 0, cut: 0, splice: 0, read: 0 };
      for (const each of damaged(bytes, { seed, count: 3000 })) {
        counts[each.kind] += 1;
        try {
          decodeTask(each.bytes);
          counts.read += 1;
        } catch (error) {
          assert.ok(error instanceof QueryError && error.code === 'FRAGMENT_REFUSED', String(error));
          assert.ok(error.message.length < 1000);
        }
      }
      // A flipped letter of a name is a name.
      assert.ok(counts.flip > 0 && counts.cut > 0 && counts.splice > 0 && counts.read < 3000);
    });
});

function assertRefused(bytes: Uint8Array): void {
  assert.throws(() => decodeTask(bytes), { code: 'FRAGMENT_REFUSED' });
}
