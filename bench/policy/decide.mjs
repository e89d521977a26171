/**
 * What a decision takes among 10,000 policies, 10,000 grants and 1,000 roles, and what reading and arranging all of them does. Prints figures;
 * the bars are 1 ms for a decision and 1 s for a reload. `node bench/policy/decide.mjs`, after `npm run build`.
 */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decide, mayList } from '../../packages/coordinator/dist/policy/decide.js';
import { indexPolicies } from '../../packages/coordinator/dist/policy/index-policies.js';
import { policySet } from '../../packages/coordinator/dist/policy/open-policies.js';
import { createFilePlace } from '../../packages/coordinator/dist/policy/store/file-place.js';
import { openRuleStore } from '../../packages/coordinator/dist/policy/store/rule-store.js';

const roleCount = 1000;
const ruleCount = 10_000;
const tableCount = 500;
const decisions = 5000;
const rounds = 5;
const signal = new AbortController().signal;

const target = (index) => ({ catalog: 'lake', schema: 's', table: `t${index % tableCount}` });
const role = (index) => `role ${index % roleCount}`;
const rules = {
  policies: Array.from({ length: ruleCount }, (_none, index) => ({
    name: `p${index}`,
    origin: 'sql',
    target: index % 10 === 0 ? { catalog: 'lake', schema: 's' } : target(index),
    rule:
      index % 3 === 0
        ? { kind: 'column-mask', column: `c${index}`, expression: `left(c${index}, 3)` }
        : { kind: 'row-filter', expression: `region = 'r${index}'` },
    roles: [role(index), role(index * 7)],
    except: index % 5 === 0 ? [role(index * 13)] : [],
  })),
  grants: Array.from({ length: ruleCount }, (_none, index) => ({
    privilege: 'SELECT',
    target: target(index),
    role: role(index),
    origin: 'sql',
  })),
};

const indexed = indexPolicies(policySet(rules, 'allow'));
const all = Array.from({ length: roleCount }, (_none, index) => role(index));
const figures = [
  ['decision, 1 role', () => perDecision(['role 7'])],
  ['decision, 20 roles', () => perDecision(all.slice(0, 20))],
  ['decision, all 1,000 roles', () => perDecision(all, 200)],
  [
    'decision about a table that nothing names',
    () => perDecision(['role 7'], decisions, { catalog: 'lake', schema: 'other', table: 't' }),
  ],
  ['whether 500 tables are listed, 20 roles', () => listing(all.slice(0, 20))],
  ['whether their schema is listed, 20 roles', () => schemaListing(all.slice(0, 20))],
  ['whether it is listed to a role that none names', () => schemaListing(['nobody'])],
  ['arranging a version', () => timed(() => indexPolicies(policySet(rules, 'allow')))],
  ['reading the file and arranging it', reload],
];
console.log(`${ruleCount} policies, ${ruleCount} grants, ${roleCount} roles, ${tableCount} tables`);
for (const [name, measure] of figures)
  console.log(`${name.padEnd(44)} ${(await measure()).toFixed(4).padStart(12)} ms`);

function identity(roles) {
  return { username: 'u', roles, isNameVerified: true };
}

async function perDecision(roles, count = decisions, table = undefined) {
  const who = identity(roles);
  const run = () => {
    for (let index = 0; index < count; index++) decide(indexed, who, table ?? target(index), 'SELECT');
  };
  return (await timed(run)) / count;
}

function listing(roles) {
  const who = identity(roles);
  return timed(() => {
    for (let index = 0; index < tableCount; index++) mayList(indexed, who, target(index));
  });
}

/** What the rules on the schema refuse, those on its tables may open. */
async function schemaListing(roles, count = 100) {
  const who = identity(roles);
  const run = () => {
    for (let index = 0; index < count; index++) mayList(indexed, who, { catalog: 'lake', schema: 's' });
  };
  return (await timed(run)) / count;
}

async function reload() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-policy-bench-'));
  try {
    const place = createFilePlace(join(folder, 'policies.json'));
    const open = () => openRuleStore(place, { catalogs: ['lake'] }, signal);
    await (await open()).change(() => rules, signal);
    console.log(`policies.json has ${(await stat(place.name)).size} bytes`);
    return await timed(async () => indexPolicies(policySet((await open()).current(), 'allow')));
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Milliseconds, at the median of the rounds. */
async function timed(run) {
  const taken = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    await run();
    taken.push(performance.now() - start);
  }
  return taken.sort((left, right) => left - right)[rounds >> 1];
}
