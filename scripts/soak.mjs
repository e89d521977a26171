// `npm run soak [-- --short] [word…]`: long mixed runs with cancels, crashes and sleepers. CI runs the short, seeded form. The
// long one ends with the soaks that need other servers, and that `npm run test:peers` runs for a shorter time: fragments
// elsewhere on MinIO and Iceberg's REST catalog, and sessions against Keycloak and Redis; and the proof that policies hide what they
// hide is made with ten times as many statements as `npm test` makes, behind every form of filter, and on workers and functions; and
// four times as many generated statements are divided into stages.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { soakFragments } from './peers/fragment-tests.mjs';
import { runSessionTests } from './peers/session-tests.mjs';
import { startSignInServers } from './peers/sign-in-servers.mjs';
import { findFiles } from './support/find-files.mjs';
import { runNodeTests } from './support/node-test.mjs';
import { endSuite } from './support/suite-summary.mjs';

const root = path.resolve(import.meta.dirname, '..');
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, seed: { type: 'string' } },
});
const seed = values.seed ?? (values.short ? '1' : String(Date.now() % 1_000_000));
const isSoak = (file) =>
  /\.(soak|test)\.js$/.test(file) &&
  (positionals.length === 0 || positionals.some((word) => file.includes(word)));

const sessionSoak = path.join('test', 'dist', 'peers', 'sessions', 'token-soak.test.js');
const sessionSoakSeconds = 600;
const files = findFiles(root, path.join('test', 'dist', 'soak'), isSoak);
const policyFiles = values.short
  ? []
  : ['long', 'generate', 'non-interference', 'places'].flatMap((name) =>
      findFiles(root, path.join('test', 'dist', 'policy'), (file) => isSoak(file) && file.includes(name)),
    );
const stageFiles = values.short
  ? []
  : findFiles(root, path.join('test', 'dist', 'sql'), (file) => isSoak(file) && file.includes('stages'));
const fragmentSoak = path.join('test', 'dist', 'peers', 'fragments', 'faults.test.js');
const soaksFragments = !values.short && isSoak(fragmentSoak);
const soaksSessions = !values.short && isSoak(sessionSoak);
console.log(
  `${values.short ? 'Short' : 'Long'} soak of ${files.length + policyFiles.length + stageFiles.length + Number(soaksFragments) + Number(soaksSessions)} files, seed ${seed}`,
);
const results = [];
if (files.length > 0) results.push(await soak());
if (policyFiles.length > 0) results.push(await soakPolicies());
if (stageFiles.length > 0) results.push(await soakStages());
if (soaksFragments)
  results.push(await withFolder((folder) => soakFragments({ root, folder, seed: Number(seed) })));
if (soaksSessions) results.push(await withFolder(soakSessions));
const total = (name) => results.reduce((sum, result) => sum + result[name], 0);
endSuite('soak', total('passed'), total('failed'));

async function soak() {
  return await runNodeTests({
    name: 'soak',
    root,
    files,
    concurrency: 1,
    timeoutMs: values.short ? 10 * 60_000 : 6 * 3_600_000,
    testTimeoutMs: values.short ? 5 * 60_000 : 3 * 3_600_000,
    // What the tests read: how long to go on, and what to repeat a run by.
    env: { ...process.env, SOAK: values.short ? 'short' : 'long', SOAK_SEED: seed },
  });
}

async function soakPolicies() {
  return await runNodeTests({
    name: 'policies',
    root,
    files: policyFiles,
    concurrency: 1,
    timeoutMs: 3 * 3_600_000,
    testTimeoutMs: 3_600_000,
    env: { ...process.env, POLICY_STATEMENTS: '5000', POLICY_SEED: seed, POLICY_FILTERS: 'all' },
  });
}

async function soakStages() {
  return await runNodeTests({
    name: 'stages',
    root,
    files: stageFiles,
    concurrency: 1,
    timeoutMs: 3_600_000,
    testTimeoutMs: 3_600_000,
    env: { ...process.env, STAGE_QUERIES: '2000', STAGE_SEED: seed },
  });
}

async function withFolder(run) {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-soak-'));
  try {
    return await run(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function soakSessions(folder) {
  let signIn;
  try {
    signIn = await startSignInServers(path.join(folder, 'sign-in'));
    return await runSessionTests({
      ...{ root, folder: path.join(folder, 'sessions'), signIn },
      ...{ seconds: sessionSoakSeconds, files: [sessionSoak] },
    });
  } finally {
    await signIn?.stop();
  }
}
