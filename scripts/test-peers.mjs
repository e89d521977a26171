// `npm run test:peers [word…]`: real clients and writers against the built service. Words choose peers by name.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { startIcebergRest } from '../test/peers/servers/iceberg-rest.mjs';
import { startMinio } from '../test/peers/servers/minio.mjs';
import { runFragmentTests } from './peers/fragment-tests.mjs';
import { needsSignIn, peers, serviceVariants, variantsBeside } from './peers/peer-list.mjs';
import { runPeer } from './peers/run-peer.mjs';
import { runSessionTests } from './peers/session-tests.mjs';
import { shownSecrets } from './peers/shown-secrets.mjs';
import { startSignInServers } from './peers/sign-in-servers.mjs';
import { secretsOf } from './peers/sign-in-variants.mjs';
import { prepareTools } from './peers/tools.mjs';
import { runNodeTests } from './support/node-test.mjs';
import { logTail, startService } from './support/service.mjs';
import { endSuite } from './support/suite-summary.mjs';

const root = path.resolve(import.meta.dirname, '..');
const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const keep = process.argv.includes('--keep');
const isWanted = (name) => words.length === 0 || words.some((word) => name.includes(word));
const named = peers.filter(({ name }) => isWanted(name));
const wanted = peers.filter((peer) => named.includes(peer) || named.some(({ needs }) => needs === peer.name));

/** The soak of sessions, beside the other peers; `npm run soak` runs it for longer. */
const soakSeconds = 180;
const folder = mkdtempSync(path.join(tmpdir(), 'svc-peers-'));
let passed = 0;
let failed = 0;

const report = ({ name, ok, detail, seconds }) => {
  if (ok) passed += 1;
  else failed += 1;
  const time = `${(seconds ?? 0).toFixed(2).padStart(7)} s`;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${time}  ${name}${detail ? ` — ${detail}` : ''}`);
};

const testsSessions = isWanted('sessions');
let signIn;
const starting = testsSessions || wanted.some(needsSignIn) ? startSignIn() : undefined;
try {
  const tools = await prepareTools({ root, folder, report });
  await starting;
  // Most of their time they wait for tokens to grow old: meanwhile the others run.
  const sessions = testsSessions && signIn !== undefined ? testSessions() : undefined;
  try {
    await Promise.all([testVariants(tools, (variant) => !variantsBeside.includes(variant)), testLake(tools)]);
  } finally {
    await sessions;
  }
} catch (error) {
  report({ name: 'setting up', ok: false, detail: error.stack ?? String(error) });
} finally {
  await starting;
  await signIn?.stop();
  if (keep) console.log(`Everything is kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
endSuite('peers', passed, failed);

/** Tables in files, then on object storage. Never throws: the others go on. */
async function testLake(tools) {
  try {
    await testVariants(tools, (variant) => variantsBeside.includes(variant));
    if (['s3', 'policies', 'nessie', 'rest', 'shapes'].some(isWanted)) await testStorage(tools);
    if (isWanted('fragments')) await testFragments(tools);
  } catch (error) {
    report({ name: 'tables and object storage', ok: false, detail: error.stack });
  }
}

async function testVariants(tools, isMine) {
  for (const [variant, settings] of Object.entries(serviceVariants(tools, signIn))) {
    const mine = wanted.filter((peer) => peer.variant === variant && isMine(variant));
    if (mine.length > 0) await withService(variant, settings, tools, mine);
  }
}

/** Never throws: it is not waited for from its start. What needs the servers finds them missing. */
async function startSignIn() {
  const began = performance.now();
  const done = (ok, detail) => {
    const seconds = (performance.now() - began) / 1000;
    report({ name: 'set-up: Keycloak and Redis', ok, detail, seconds });
  };
  try {
    signIn = await startSignInServers(path.join(folder, 'sign-in'));
    done(true);
  } catch (error) {
    done(false, error.stack);
  }
}

/** Never throws: it is not waited for while it runs. */
async function testSessions() {
  try {
    const counts = await runSessionTests({
      root,
      folder: path.join(folder, 'sessions'),
      signIn,
      seconds: soakSeconds,
    });
    passed += counts.passed;
    failed += counts.failed;
  } catch (error) {
    report({ name: 'sessions', ok: false, detail: error.stack });
  }
}

/** Object storage, and a catalog over it, are tested with tests of Node's own runner. */
async function testStorage({ python, peersFolder }) {
  const { stop, ...server } = await startMinio(path.join(folder, 'minio'));
  try {
    if (isWanted('s3'))
      await runStorageTests('s3', 'minio', {
        SVC_TEST_S3: JSON.stringify({ ...server, python, peersFolder }),
      });
    if (isWanted('policies'))
      await runStorageTests('policies', 'shared-policies', { SVC_TEST_S3: JSON.stringify(server) });
    if (isWanted('nessie'))
      await runStorageTests('nessie', 'nessie', {
        SVC_TEST_NESSIE: JSON.stringify({ storage: server, nessieModule: moduleOf(peersFolder, 'nessie') }),
      });
    if (isWanted('rest') || isWanted('shapes')) {
      const announcedSeconds = 2; // Short lives, so that tests see several of them.
      const catalog = await startIcebergRest(path.join(folder, 'iceberg-rest'), server, { announcedSeconds });
      const told = { url: catalog.url, storage: server, python };
      try {
        if (isWanted('rest'))
          for (const name of ['rest-catalog', 'rest-users', 'rest-outage'])
            await runStorageTests(name, name, { SVC_TEST_REST: JSON.stringify(told) });
        if (isWanted('shapes')) {
          const classPath = await catalog.compile(path.join(peersFolder, 'shapes'));
          await runStorageTests('shapes', 'table-shapes', {
            SVC_TEST_SHAPES: JSON.stringify({
              ...told,
              peersFolder,
              classPath,
              trinoModule: moduleOf(peersFolder, 'trino'),
            }),
          });
        }
      } finally {
        await catalog.stop();
      }
    }
  } finally {
    await stop();
  }
}

/** Workers and the fragment function. */
async function testFragments({ python, tpch }) {
  const counts = await runFragmentTests({
    ...{ root, python, tables: tpch },
    folder: path.join(folder, 'fragments'),
  });
  passed += counts.passed;
  failed += counts.failed;
}

/** Where a test imports a server from that it starts itself. */
function moduleOf(peersFolder, server) {
  return pathToFileURL(path.join(peersFolder, 'servers', `${server}.mjs`)).href;
}

async function runStorageTests(name, file, env) {
  const counts = await runNodeTests({
    name,
    root,
    files: [path.join('test', 'dist', 'peers', 'storage', `${file}.test.js`)],
    concurrency: 1,
    timeoutMs: 10 * 60_000,
    testTimeoutMs: 8 * 60_000,
    env: { ...process.env, ...env },
  });
  passed += counts.passed;
  failed += counts.failed;
}

async function withService(variant, { settings, user }, tools, mine) {
  const home = path.join(folder, variant);
  mkdirSync(home);
  const secrets = user === undefined ? [] : secretsOf(signIn);
  let service;
  try {
    service = await startService({ root, folder: home, settings, user });
    const told = user === undefined ? service : { ...service, signIn: toldOf(home) };
    for (const peer of mine) await runPeer({ peer, service: told, tools, report });
    if (secrets.length > 0) {
      const detail = (await shownSecrets(service, secrets)).join('; ');
      report({ name: `service (${variant}) shows no secret`, ok: detail === '', detail });
    }
  } catch (error) {
    report({ name: `service (${variant})`, ok: false, detail: error.message });
  } finally {
    const problems = (await service?.stop()) ?? [];
    report({
      name: `service (${variant}) stops cleanly`,
      ok: problems.length === 0 && service !== undefined,
      detail: problems.join('; '),
    });
    if (failed > 0 && existsSync(path.join(home, 'stderr.log'))) console.log(logTail(home));
  }
}

/** What client programs are told of the servers behind a service. */
function toldOf(home) {
  const { stop: _stop, redisUrl: _redisUrl, ...told } = signIn;
  return { ...told, auditLog: path.join(home, 'audit.log') };
}
