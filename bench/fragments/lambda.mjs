// What the function's own bundle takes of its time under the emulator, beside what it computes: a cold start, an invocation of
// a sandbox that is there, a split more. `npm run build` first. See ../README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { never, rowsOfRun, startLambda, tableTask, taskOf } from '../../test/dist/service/support/lambda.js';
import { makeTables, standardTables } from '../../test/dist/service/support/tables.js';

const coldStarts = 3;
const warmUps = 20;
const invocations = 30;

const median = (values) => values.toSorted((left, right) => left - right)[values.length >> 1];
const timed = async (lambda, task) => {
  const since = performance.now();
  await rowsOfRun(await lambda.executor.start(task, never));
  return performance.now() - since;
};
const line = (name, ms) => console.log(`${name.padEnd(34)} ${ms.toFixed(1)} ms`);

const cold = [];
for (let number = 0; number < coldStarts; number += 1) {
  const lambda = await startLambda();
  cold.push(await timed(lambda, taskOf('SELECT 1 AS one')));
  await lambda[Symbol.asyncDispose]();
}
line('cold start and first fragment', median(cold));

const folder = mkdtempSync(path.join(tmpdir(), 'svc-bench-'));
const lambda = await startLambda();
try {
  await makeTables(folder, { 'sales.orders': standardTables['sales.orders'] });
  const ten = await tableTask(folder, 'sales.orders', 'SELECT sum(id) AS n FROM orders');
  const one = { ...ten, request: { ...ten.request, splits: ten.request.splits.slice(0, 1) } };
  const samples = { nothing: [], one: [], ten: [] };
  for (let number = 0; number < warmUps + invocations; number += 1) {
    const taken = {
      nothing: await timed(lambda, taskOf('SELECT 1 AS one')),
      one: await timed(lambda, one),
      ten: await timed(lambda, ten),
    };
    if (number >= warmUps) for (const [name, ms] of Object.entries(taken)) samples[name].push(ms);
  }
  line('warm fragment of nothing', median(samples.nothing));
  line('warm fragment of one split', median(samples.one));
  line('each split more', (median(samples.ten) - median(samples.one)) / (ten.request.splits.length - 1));
} finally {
  await lambda[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
}
