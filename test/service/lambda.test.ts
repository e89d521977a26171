/** The function's own bundle under the emulator, behind the coordinator's executor. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { afterEach, describe, it } from 'node:test';
import { QueryError } from '@svc/base';
import { never, rowsOfRun, startLambda, type TestLambda, taskOf } from './support/lambda.js';

let lambda: TestLambda;
afterEach(async () => await lambda[Symbol.asyncDispose]());

describe('a fragment on a function', () => {
  it('answers its rows in the stream, and again in the same sandbox', async () => {
    lambda = await startLambda();
    for (const n of [3, 4]) {
      const run = await lambda.executor.start(taskOf(`SELECT i::INTEGER AS i FROM range(${n}) r(i)`), never);
      assert.deepEqual(
        (await rowsOfRun(run)).flat(),
        Array.from({ length: n }, (_, i) => i),
      );
    }
    assert.equal(lambda.emulator.counts.coldStarts, 1);
    assert.match(await lambda.metrics(), /svc_lambda_cold_starts_total 1\b/);
    assert.match(await lambda.metrics(), /svc_lambda_invocations_total\{outcome="ok"\} 2\b/);
    assert.deepEqual(lambda.spool.requests, []);
  });

  it('puts what is more than 4 MB to the spool, which is empty afterwards', async () => {
    lambda = await startLambda({ executor: { partBytes: 3_000_000 } });
    const run = await lambda.executor.start(taskOf('SELECT i AS i FROM range(2000000) r(i)'), never);
    const rows = await rowsOfRun(run);
    assert.equal(rows.length, 2_000_000);
    assert.ok(rows.every(([i], index) => i === BigInt(index)));
    assert.ok(lambda.spool.requests.filter((request) => request.startsWith('PUT')).length >= 4);
    assert.equal(lambda.spool.objects.size, 0);
  });

  it('is refused by a function without its key, and taken by one with two', async () => {
    for (const keys of ['none', 'other'] as const) {
      lambda = await startLambda({ keys });
      await assert.rejects(lambda.executor.start(taskOf('SELECT 1'), never), refused);
      await lambda[Symbol.asyncDispose]();
    }
    lambda = await startLambda({ keys: 'both' });
    assert.deepEqual(await rowsOfRun(await lambda.executor.start(taskOf('SELECT 1'), never)), [[1]]);
  });

  it("tells the fragment's own errors", async () => {
    lambda = await startLambda();
    const failing = async () =>
      await rowsOfRun(await lambda.executor.start(taskOf("SELECT 'no number'::INTEGER"), never));
    await assert.rejects(failing, /Could not convert string 'no number' to INT32/);
    assert.match(await lambda.metrics(), /svc_lambda_invocations_total\{outcome="failed"\} 1\b/);
    for (const sandbox of lambda.emulator.sandboxes()) assert.deepEqual(await readdir(sandbox.folder), []);
  });
});

function refused(error: unknown): boolean {
  return error instanceof QueryError && error.code === 'FRAGMENT_REFUSED';
}
