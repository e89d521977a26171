// `npm run test:peers [word…]`: real clients and writers against the built service. Words choose peers by name.
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startMinio } from '../test/peers/servers/minio.mjs';
import { peers, serviceVariants } from './peers/peer-list.mjs';
import { runPeer } from './peers/run-peer.mjs';
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

const folder = mkdtempSync(path.join(tmpdir(), 'svc-peers-'));
let passed = 0;
let failed = 0;

const report = ({ name, ok, detail, seconds }) => {
  if (ok) passed += 1;
  else failed += 1;
  const time = `${(seconds ?? 0).toFixed(2).padStart(7)} s`;
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${time}  ${name}${detail ? ` — ${detail}` : ''}`);
};

try {
  const tools = await prepareTools({ root, folder, report });
  for (const [variant, settings] of Object.entries(serviceVariants(tools))) {
    const mine = wanted.filter((peer) => peer.variant === variant);
    if (mine.length > 0) await withService(variant, settings, tools, mine);
  }
  if (isWanted('s3')) await testStorage(tools);
} catch (error) {
  report({ name: 'setting up', ok: false, detail: error.stack ?? String(error) });
} finally {
  if (keep) console.log(`Everything is kept in ${folder}`);
  else rmSync(folder, { recursive: true, force: true });
}
endSuite('peers', passed, failed);

/** Object storage is tested below the service, with tests of Node's own runner. */
async function testStorage({ python, peersFolder }) {
  const { stop, ...server } = await startMinio(path.join(folder, 'minio'));
  try {
    const counts = await runNodeTests({
      name: 's3',
      root,
      files: [path.join('test', 'dist', 'peers', 'storage', 'minio.test.js')],
      concurrency: 1,
      timeoutMs: 10 * 60_000,
      testTimeoutMs: 5 * 60_000,
      env: { ...process.env, SVC_TEST_S3: JSON.stringify({ ...server, python, peersFolder }) },
    });
    passed += counts.passed;
    failed += counts.failed;
  } finally {
    await stop();
  }
}

async function withService(variant, settings, tools, mine) {
  const home = path.join(folder, variant);
  mkdirSync(home);
  let service;
  try {
    service = await startService({ root, folder: home, settings });
    for (const peer of mine) await runPeer({ peer, service, tools, report });
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
