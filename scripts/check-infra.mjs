// `npm run check:infra`: everything about the deployment that can be judged without an account. sst's platform (323 MB, in
// .sst, from the npm registry) is installed once; sst.config.ts is checked with it, run against mocks of the provider, and
// what it would make is asserted by the tests in infra/test.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { build } from 'esbuild';
import { findFiles } from './support/find-files.mjs';
import { runNodeTests } from './support/node-test.mjs';
import { runCommand } from './support/run-command.mjs';
import { endSuite } from './support/suite-summary.mjs';

const root = path.resolve(import.meta.dirname, '..');
const platform = path.join(root, '.sst/platform');
// Below the platform: what is bundled here finds the platform's own packages.
const folder = path.join(platform, 'check');

/** What an owner would give. Names of RFC 2606 and addresses of RFC 5737: they are nobody's. */
const given = {
  SVC_DEPLOY_DOMAIN: 'sql.example.org',
  SVC_DEPLOY_CLIENT_CIDRS: '203.0.113.0/24, 198.51.100.7/32',
  SVC_DEPLOY_ALARM_EMAIL: 'operators@example.org',
  SVC_CATALOG__CATALOG_URL: 'https://catalog.example.org/',
  SVC_AUTH__IDP_URL: 'https://id.example.org/',
  SVC_AUTH__CLIENT_ID: 'svc',
  SST_SECRET_WorkerSecret: 'worker-secret-of-the-mocks-0123456789',
  SST_SECRET_OidcClientSecret: 'client-secret-of-the-mocks',
  SST_SECRET_WorkerCertificate: 'certificate-of-the-mocks',
  SST_SECRET_WorkerCertificateKey: 'certificate-key-of-the-mocks',
  SST_SECRET_FunctionKeys: JSON.stringify({
    keys: [{ kty: 'EC', crv: 'P-256', kid: 'current', x: 'x', y: 'y', d: 'private-part-of-the-mocks' }],
  }),
};
const certificate = { SVC_DEPLOY_CERTIFICATE_ARN: 'arn:aws:mock:::certificate' };
const renderings = [
  { name: 'production', stage: 'production', mode: 'deploy', given: { ...given, ...certificate } },
  { name: 'trial', stage: 'trial', mode: 'deploy', given },
  { name: 'dev', stage: 'ada', mode: 'dev', given },
];

const steps = [
  ['platform of sst', installPlatform],
  ['types', checkTypes],
  ['bundles', bundleAll],
  ...renderings.map((rendering) => [`what ${rendering.name} is made of`, () => render(rendering)]),
];

let passed = 0;
let failed = 0;
for (const [name, step] of steps) {
  const began = performance.now();
  const problem = await step().catch((error) => String(error));
  const seconds = (performance.now() - began) / 1000;
  console.log(`${problem === undefined ? 'ok  ' : 'FAIL'} ${seconds.toFixed(1).padStart(6)} s  ${name}`);
  if (problem === undefined) {
    passed += 1;
    continue;
  }
  failed += 1;
  console.log(`\n${problem.trimEnd()}\n`);
  break;
}
if (failed === 0) {
  const files = findFiles(root, path.join('.sst', 'platform', 'check'), (file) => file.endsWith('.test.mjs'));
  const options = { concurrency: 2, timeoutMs: 300_000, testTimeoutMs: 60_000 };
  const env = { ...process.env, INFRA_RENDERINGS: folder };
  const tests = await runNodeTests({ name: 'infra', root, files, env, ...options });
  passed += tests.passed;
  failed += tests.failed;
}
endSuite('check:infra', passed, failed);

/** Nothing to do where the pinned version has been installed before. */
async function installPlatform() {
  const { devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  const installed = path.join(platform, '.installed');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === devDependencies.sst) return undefined;
  rmSync(platform, { recursive: true, force: true });
  const env = {
    ...process.env,
    // With them it asks for nothing but packages of the npm registry.
    SST_SKIP_DEPENDENCY_CHECK: '1',
    SST_NO_BUN: '1',
    SST_TELEMETRY_DISABLED: '1',
  };
  const sst = path.join(root, 'node_modules/.bin/sst');
  const result = await runCommand(sst, ['install', '--stage', 'check'], {
    cwd: root,
    env,
    timeoutMs: 900_000,
  });
  if (result.code !== 0) return result.output;
  writeFileSync(installed, devDependencies.sst);
  return undefined;
}

async function checkTypes() {
  const tsc = path.join(root, 'node_modules/.bin/tsc');
  const result = await runCommand(tsc, ['-p', 'infra/tsconfig.json'], { cwd: root, timeoutMs: 300_000 });
  return result.code === 0 ? undefined : result.output;
}

/** The program that renders, with the sources of sst's components, and each test file. */
async function bundleAll() {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const tests = findFiles(root, path.join('infra', 'test'), (file) => file.endsWith('.test.ts'));
  await build({
    absWorkingDir: root,
    entryPoints: ['infra/test/render/main.ts', ...tests],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    entryNames: '[name]',
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: {
      js: "import { createRequire as createRequireOfBundle } from 'node:module';\nconst require = createRequireOfBundle(import.meta.url);",
    },
    logLevel: 'warning',
  });
  return undefined;
}

async function render({ name, stage, mode, given: variables }) {
  const file = path.join(folder, `${name}.json`);
  // No credentials, no settings of this machine: what is made follows from what is given.
  const env = { PATH: process.env.PATH, ...variables };
  const result = await runCommand(process.execPath, [path.join(folder, 'main.mjs'), stage, mode, file], {
    cwd: folder,
    env,
    timeoutMs: 300_000,
  });
  if (result.code === 0 && existsSync(file)) return undefined;
  return `${result.output}\n${existsSync(file) ? '' : 'The program ended without an answer.'}`;
}
