// The tests of sessions against real servers, which start Redis and services themselves: test/peers/sessions.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { findFiles } from '../support/find-files.mjs';
import { runNodeTests } from '../support/node-test.mjs';

const tests = path.join('test', 'dist', 'peers', 'sessions');

/**
 * Runs them, or `files` of them, side by side. The environment's SVC_TEST_SESSIONS tells them, as JSON: `keycloak` (what startKeycloak answers),
 * `redisModule` and `serviceModule` to import `startRedis`, `startRedisCluster` and `startService` from, the project's
 * `root`, a `folder` of theirs, and for how many `seconds` a soak goes on.
 */
export async function runSessionTests({ root, folder, signIn, seconds, files }) {
  mkdirSync(folder, { recursive: true });
  const { stop: _stop, ...keycloak } = signIn;
  const module = (...parts) => pathToFileURL(path.join(root, ...parts)).href;
  const told = {
    keycloak,
    redisModule: module('test', 'peers', 'servers', 'redis.mjs'),
    serviceModule: module('scripts', 'support', 'service.mjs'),
    root,
    folder,
    seconds,
  };
  return await runNodeTests({
    name: 'sessions',
    root,
    files: files ?? findFiles(root, tests, (file) => file.endsWith('.test.js')),
    concurrency: 2,
    timeoutMs: (seconds + 600) * 1000,
    testTimeoutMs: (seconds + 300) * 1000,
    env: { ...process.env, SVC_TEST_SESSIONS: JSON.stringify(told) },
    echo: false,
  });
}
