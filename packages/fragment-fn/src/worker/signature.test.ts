import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { SignJWT } from 'jose';
import {
  callKey,
  clockToleranceSecs,
  digestOf,
  signFacts,
  signHeartbeat,
  signTask,
  verifyCall,
  verifyFacts,
} from './signature.js';
import { UsedIds } from './used-ids.js';

const key = callKey('a secret that is long enough for this');
const otherKey = callKey('another secret, which is long enough too');
const startMs = 1_800_000_000_000;
const task = Buffer.from('the bytes of a task');
const subject = { owner: 'ada 1', queryId: 'query-1', bootId: 'worker-a' };
const coordinator = 'coordinator-1';

function worker(offsetMs = 0, bootId = 'worker-a') {
  const now = () => startMs + offsetMs;
  return { key, now, bootId, usedIds: new UsedIds(now) };
}

const sign = (options: { readonly key?: typeof key; readonly atMs?: number } = {}) =>
  signTask(task, subject, { key: options.key ?? key, coordinator, now: () => options.atMs ?? startMs });

async function claimsSigned(
  changes: Readonly<Record<string, unknown>>,
  header: Readonly<Record<string, string>> = {},
) {
  const seconds = startMs / 1000;
  const claims = {
    own: digestOf('ada 1'),
    qid: 'query-1',
    hash: digestOf(task),
    len: task.byteLength,
    iss: coordinator,
    aud: 'worker-a',
    jti: 'id-1',
    iat: seconds,
    exp: seconds + 30,
    ...changes,
  };
  return await new SignJWT(claims)
    .setProtectedHeader({ alg: 'HS256', typ: 'svc-task+jwt', ...header })
    .sign(key);
}

describe('the signature of a task', () => {
  it('says whose the task is, and which', async () => {
    assert.deepEqual(await verifyCall(await sign(), worker()), {
      kind: 'task',
      coordinator,
      owner: digestOf('ada 1'),
      queryId: 'query-1',
      hash: createHash('sha256').update(task).digest('base64url'),
      byteLength: task.byteLength,
    });
  });

  it('has nothing of the task or its user in it', async () => {
    const [, claims = ''] = (await sign()).split('.');
    assert.doesNotMatch(Buffer.from(claims, 'base64url').toString('utf8'), /ada|bytes of/);
  });

  const minute = 60_000;
  const accepted: readonly (readonly [string, number])[] = [
    ['at once', 0],
    ['by a clock that is a minute ahead', minute],
    ['by a clock that is a minute behind', -minute],
    ['at the end of its life by a clock that is a minute ahead', 30_000 + minute],
  ];
  for (const [name, offsetMs] of accepted)
    it(`is taken ${name}, and once only`, async () => {
      const token = await sign();
      const verifier = worker(offsetMs);
      assert.equal((await verifyCall(token, verifier)).kind, 'task');
      await assert.rejects(verifyCall(token, verifier), { code: 'FRAGMENT_REFUSED', message: /used before/ });
    });

  it('cannot be used again for as long as it would be taken', async () => {
    const token = await sign();
    let offsetMs = 0;
    const now = () => startMs + offsetMs;
    const verifier = { key, now, bootId: 'worker-a', usedIds: new UsedIds(now) };
    await verifyCall(token, verifier);
    for (; offsetMs < (30 + clockToleranceSecs + 5) * 1000; offsetMs += 1000)
      await assert.rejects(verifyCall(token, verifier), { code: 'FRAGMENT_REFUSED' });
  });

  const refused: readonly (readonly [string, () => Promise<string | undefined>, RegExp])[] = [
    ['missing', async () => undefined, /not signed/],
    ['no token', async () => 'x', /malformed/],
    ['old', () => sign({ atMs: startMs - 5 * minute }), /expired/],
    ['of the future', () => sign({ atMs: startMs + 5 * minute }), /iat|future/],
    ['of another secret', () => sign({ key: otherKey }), /another secret/],
    ['for another worker', () => claimsSigned({ aud: 'worker-b' }), /another worker/],
    ['for any worker', () => claimsSigned({ aud: 'svc-worker' }), /another worker/],
    ['for nobody', () => claimsSigned({ aud: undefined }), /another worker/],
    ['too long-lived', () => claimsSigned({ exp: startMs / 1000 + 86_400 }), /exp/],
    ['without an end', () => claimsSigned({ exp: undefined }), /exp/],
    ['without an id', () => claimsSigned({ jti: undefined }), /not complete/],
    ['without a user', () => claimsSigned({ own: undefined }), /not complete/],
    ['without a hash', () => claimsSigned({ hash: undefined }), /not complete/],
    ['of a negative length', () => claimsSigned({ len: -1 }), /not complete/],
    ['of a length that is no number', () => claimsSigned({ len: '19' }), /not complete/],
    ['of another type', () => claimsSigned({}, { typ: 'JWT' }), /another worker|claim/],
    ['changed in its claims', async () => changed(await sign(), 1), /another secret|malformed/],
    ['changed in its signature', async () => changed(await sign(), 2), /another secret|malformed/],
    ['unsigned by its own word', async () => unsigned(await sign()), /malformed/],
  ];
  for (const [name, token, message] of refused)
    it(`is refused when it is ${name}`, async () => {
      const text = await token();
      await assert.rejects(verifyCall(text, worker()), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'FRAGMENT_REFUSED');
        assert.match(error.message, message);
        return text === undefined || text.length < 8 || !error.message.includes(text);
      });
    });

  it('is none of a heartbeat, nor the other way round', async () => {
    const { token, id } = await signHeartbeat({ key, coordinator, now: () => startMs });
    const call = await verifyCall(token, worker());
    assert.deepEqual(call, { kind: 'heartbeat', coordinator, id });
  });
});

describe('what a worker says of itself', () => {
  const options = { key, now: () => startMs };
  const asked = { kind: 'heartbeat', coordinator, id: 'h-1' } as const;

  it('is believed where it answers the heartbeat that asked', async () => {
    const facts = await verifyFacts(await signFacts({ slots: 2 }, asked, options), asked, options);
    const { slots } = facts;
    assert.equal(slots, 2);
  });

  it('is not believed from who does not know the secret, nor a second time', async () => {
    const wrong = [
      await signFacts({ slots: 2 }, asked, { ...options, key: otherKey }),
      await signFacts({ slots: 2 }, { ...asked, id: 'h-0' }, options),
      await signFacts({ slots: 2 }, { ...asked, coordinator: 'coordinator-2' }, options),
      (await signHeartbeat({ ...options, coordinator })).token,
      '',
    ];
    for (const token of wrong)
      await assert.rejects(verifyFacts(token, asked, options), { code: 'EXECUTOR_LOST' });
  });
});

describe('a secret', () => {
  it('has at least 32 bytes', () => {
    assert.throws(() => callKey('x'.repeat(31)), { code: 'CONFIGURATION_ERROR' });
    callKey('x'.repeat(32));
  });
});

function changed(token: string, part: number): string {
  const parts = token.split('.');
  const text = parts[part] ?? '';
  parts[part] = `${text[0] === 'A' ? 'B' : 'A'}${text.slice(1)}`;
  return parts.join('.');
}

function unsigned(token: string): string {
  const header = Buffer.from(JSON.stringify({ alg: 'none', typ: 'svc-task+jwt' })).toString('base64url');
  return `${header}.${token.split('.')[1]}.`;
}
