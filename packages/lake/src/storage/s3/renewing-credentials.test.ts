import assert from 'node:assert/strict';
import { test } from 'node:test';
import { QueryError } from '@svc/base';
import { RenewingCredentials } from './renewing-credentials.js';

const refusal = new QueryError('STORAGE_ACCESS_DENIED', 'Expired.');

/** A provider whose credentials live `lifeMs`, at a clock that stands still unless it is moved. */
function provider(lifeMs: number | undefined) {
  const state = { nowMs: 1_000_000, given: 0, failure: undefined as QueryError | undefined };
  const renewing = new RenewingCredentials(
    async () => {
      if (state.failure !== undefined) throw state.failure;
      state.given += 1;
      const expiresAt = lifeMs === undefined ? undefined : new Date(state.nowMs + lifeMs);
      return { accessKeyId: `key${state.given}`, secretAccessKey: 'x', expiresAt };
    },
    () => state.nowMs,
  );
  const key = async () => (await renewing.current()).credentials.accessKeyId;
  return { state, renewing, key };
}

test('one call serves all requests until shortly before the end', async () => {
  for (const [lifeMs, goodForMs] of [
    [20_000, 15_000],
    [3_600_000, 3_540_000],
  ] as const) {
    const { state, key } = provider(lifeMs);
    assert.deepEqual(await Promise.all([key(), key(), key()]), ['key1', 'key1', 'key1']);
    state.nowMs += goodForMs - 1;
    assert.equal(await key(), 'key1');
    state.nowMs += 1;
    assert.deepEqual(await Promise.all([key(), key()]), ['key2', 'key2']);
  }
});

test('credentials that come past their end, by whose clock ever, are used for a second', async () => {
  const { state, key } = provider(-5000);
  for (const wanted of ['key1', 'key1', 'key2', 'key2']) {
    assert.equal(await key(), wanted);
    state.nowMs += 500;
  }
});

test('credentials without an end are kept until they are refused', async () => {
  const { state, renewing, key } = provider(undefined);
  const lease = await renewing.current();
  state.nowMs += 1e12;
  assert.equal(await key(), 'key1');
  renewing.refuse(lease.generation, refusal);
  assert.equal(await key(), 'key2');
  renewing.refuse(lease.generation, refusal);
  assert.equal(await key(), 'key2', 'a late refusal of the old ones is no refusal of the new ones');
});

test('a provider that fails early is asked again before the end, and is heard after it', async () => {
  const { state, key } = provider(60_000);
  await key();
  state.failure = new QueryError('CATALOG_ERROR', 'Down.');
  state.nowMs += 50_000;
  assert.equal(await key(), 'key1');
  state.nowMs += 10_000;
  await assert.rejects(key(), { code: 'CATALOG_ERROR' });
  state.failure = undefined;
  assert.equal(await key(), 'key2');
});

test('the same credentials once more are no new ones', async () => {
  const same = { accessKeyId: 'key', secretAccessKey: 'x' };
  const renewing = new RenewingCredentials(async () => same);
  renewing.refuse((await renewing.current()).generation, refusal);
  await assert.rejects(renewing.current(), refusal);
});

test('a request that is aborted leaves the call to the others', async () => {
  let give = () => {};
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  const renewing = new RenewingCredentials(async () => {
    await given;
    return { accessKeyId: 'key', secretAccessKey: 'x' };
  });
  const abort = new AbortController();
  const aborted = renewing.current(abort.signal);
  const other = renewing.current();
  abort.abort();
  await assert.rejects(aborted, { code: 'CANCELLED' });
  give();
  assert.equal((await other).credentials.accessKeyId, 'key');
});
