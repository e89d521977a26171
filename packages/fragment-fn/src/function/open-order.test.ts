import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { exportJWK, generateKeyPair } from 'jose';
import { plainRequest } from '../test-support/test-task.js';
import { encodeTask } from '../wire/task-codec.js';
import { functionProtocolVersion, type InvocationOrder } from './invocation.js';
import { openOrder } from './open-order.js';
import { packOrder, readOpeningKeys, readSealingKey, seal } from './sealing.js';

const nowMs = Date.parse('2026-01-01T12:00:00Z');
const protocol = functionProtocolVersion;
const order: InvocationOrder = {
  functionName: 'svc-fragment',
  queryId: 'q',
  owner: 'ada 1',
  notAfterMs: nowMs + 1000,
  inlineBytes: 10,
  partBytes: 10,
  partUrls: ['https://spool.example/part-0?signature'],
};

async function newKeys(kid?: string) {
  const pair = await generateKeyPair('ECDH-ES', { crv: 'P-256', extractable: true });
  const named = kid === undefined ? {} : { kid };
  const publicJson = JSON.stringify({ ...(await exportJWK(pair.publicKey)), ...named });
  const privateKey = { ...(await exportJWK(pair.privateKey)), ...named };
  return { publicJson, privateKey, privateJson: JSON.stringify({ keys: [privateKey] }) };
}

async function open(
  changes: Partial<InvocationOrder> = {},
  change = (sealed: string) => sealed,
  atMs = nowMs,
) {
  const { publicJson, privateJson } = await newKeys();
  const task = encodeTask({ request: plainRequest(), grants: [] });
  const sealed = await seal(packOrder({ ...order, ...changes }, task), await readSealingKey(publicJson));
  const opener = { keys: await readOpeningKeys(privateJson), functionName: 'svc-fragment', nowMs: atMs };
  return await openOrder({ protocol, sealed: change(sealed) }, opener, new AbortController().signal);
}

describe('an order', () => {
  it('is opened by the function that it is for', async () => {
    const opened = await open();
    assert.deepEqual(opened.order, order);
    assert.equal(opened.task.request.sql, 'SELECT 1 AS one');
  });

  it('is refused for another function, query or user, and when it is old', async () => {
    await assert.rejects(open({ functionName: 'other' }), refused(/another function/));
    await assert.rejects(open({ queryId: 'r' }), refused(/another query or user/));
    await assert.rejects(open({ owner: 'bob 1' }), refused(/another query or user/));
    await assert.rejects(open({}, undefined, nowMs + 62_000), refused(/too old/));
    await open({}, undefined, nowMs + 59_000);
  });

  it('is refused with any byte changed, and when it is none', async () => {
    const flip = (at: number) => (sealed: string) =>
      `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`;
    for (let at = 0; at < 400; at += 7) await assert.rejects(open({}, flip(at)), refused(/./), `byte ${at}`);
    for (const text of ['', 'a.b.c.d.e', 'eyJhbGciOiJkaXIifQ....', 'no order'])
      await assert.rejects(
        open({}, () => text),
        refused(/./),
      );
    const opener = { keys: new Map(), functionName: 'svc-fragment', nowMs };
    for (const event of [undefined, null, 1, 'x', [], {}, { protocol: 99, sealed: 'x' }, { protocol }])
      await assert.rejects(openOrder(event, opener, new AbortController().signal), refused(/./));
  });

  it('is opened by either of two keys, by their names or thumbprints', async () => {
    const [old, next] = await Promise.all([newKeys('2026-01'), newKeys()]);
    const keys = await readOpeningKeys(JSON.stringify({ keys: [old.privateKey, next.privateKey] }));
    const task = encodeTask({ request: plainRequest(), grants: [] });
    for (const { publicJson } of [old, next]) {
      const sealed = await seal(packOrder(order, task), await readSealingKey(publicJson));
      await openOrder(
        { protocol, sealed },
        { keys, functionName: 'svc-fragment', nowMs },
        new AbortController().signal,
      );
    }
  });
});

describe('a key', () => {
  it('must be of its kind, and is not told of', async () => {
    const { privateKey, publicJson } = await newKeys();
    await assert.rejects(readSealingKey(JSON.stringify(privateKey)), wrongKey(String(privateKey.d)));
    for (const text of ['', '{}', 'null', '{"keys":[]}', `{"keys":[${publicJson}]}`])
      await assert.rejects(readOpeningKeys(text), wrongKey('none'));
    for (const text of ['', '{}', '{"kty":"EC","crv":"P-256","x":"!"}', '{"kty":"oct","k":"AAAA"}'])
      await assert.rejects(readSealingKey(text), wrongKey('none'));
  });
});

function refused(says: RegExp): (error: unknown) => boolean {
  return (error) =>
    error instanceof QueryError && error.code === 'FRAGMENT_REFUSED' && says.test(error.message);
}

function wrongKey(secret: string): (error: unknown) => boolean {
  return (error) =>
    error instanceof QueryError && error.code === 'CONFIGURATION_ERROR' && !error.message.includes(secret);
}
