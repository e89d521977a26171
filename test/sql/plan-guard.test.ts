/** Which plans need a barrier: those in which the statement computes what may fail, and not those in which only a policy does. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { guardFacts, guardProblem, readPlan, scanRequests } from '@svc/sql';
import { openStageOracle, type StageOracle } from './stage-oracle.js';

let oracle: StageOracle;
before(() => {
  oracle = openStageOracle(
    ["CREATE TABLE a AS SELECT i AS id, 'EU' AS region, 'x' AS ssn FROM range(9) r(i)"],
    ['a'],
  );
});
after(() => oracle.close());

/** Of a statement over the view of a policy, which is planned like the statement's own. */
function problemOf(filter: string, condition: string) {
  const view = `SELECT id, region, ssn FROM a WHERE ${filter}`;
  const alone = readPlan(oracle.planText(view));
  const plan = readPlan(oracle.planText(`SELECT sum(id) FROM (${view}) WHERE ${condition}`));
  const stubs = new Set(scanRequests(alone).map(({ stubFile }) => stubFile));
  const facts = guardFacts([{ plan: alone, hasBarrier: false }], stubs);
  return facts === undefined ? 'broken' : guardProblem(plan, facts);
}

describe('a plan in which policies hide rows', () => {
  it('needs no barrier for what a policy computes itself', () => {
    assert.equal(problemOf('id % 2 = 0', "region = 'EU'"), undefined);
    assert.equal(problemOf("upper(region) <> 'US'", 'id > 3'), undefined);
  });

  it('needs none where the engine asks a condition of the statement together with the policy', () => {
    assert.equal(problemOf("upper(region) <> 'US'", "region = 'EU'"), undefined);
    assert.equal(problemOf("region <> 'US'", "region IN ('EU', 'US') AND region LIKE 'E%'"), undefined);
  });

  it('needs one for what the statement computes, also of the same column', () => {
    assert.equal(problemOf("upper(region) <> 'US'", 'ssn::INT > 3'), 'needs-barrier');
    assert.equal(problemOf("upper(ssn) <> 'US'", 'ssn::INT > 3'), 'needs-barrier');
    assert.equal(problemOf("upper(ssn) <> 'US'", "ssn = 'x' AND lower(ssn) = 'x'"), 'needs-barrier');
  });
});
