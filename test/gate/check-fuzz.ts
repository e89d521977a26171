import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { type FuzzOptions, fuzzGate } from './fuzz.js';

/** Of all statements, how many have to bind for the others to say anything: a fuzz whose statements all fail finds nothing. */
const leastBound = 0.15;
/** Names of functions and operators that have to be in what ran. */
const leastFunctions = 200;

/** Fuzzes the gate, says how deep it came, and fails over what was found. */
export async function checkFuzz(context: TestContext, { seed, count }: FuzzOptions): Promise<void> {
  const crashes: string[] = [];
  const report = await fuzzGate({ seed, count, onCrash: (sql) => crashes.push(sql) });
  const { counts, ends, functions, findings, seesSystemCalls } = report;
  context.diagnostic(
    `seed ${seed}: ${JSON.stringify({ ...counts, functions: functions.size, seesSystemCalls })}`,
  );
  context.diagnostic(`ends: ${JSON.stringify(Object.fromEntries([...ends].sort(([, a], [, b]) => b - a)))}`);
  for (const sql of crashes.slice(0, 5)) context.diagnostic(`the engine ended over: ${sql}`);
  assert.equal(findings.join('\n'), '');
  assert.equal(counts.generated, count);
  assert.ok(counts.bound >= count * leastBound, `only ${counts.bound} of ${count} statements were bound`);
  assert.ok(functions.size >= leastFunctions, `only ${functions.size} functions were in what ran`);
}
