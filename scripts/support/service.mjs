// Starts the built service as a user would, on free ports and with a folder of its own, and stops it again.
import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { freeNeighbours } from './free-ports.mjs';
import { descendantsOf, isAlive, processesUsing } from './process-tree.mjs';
import { endGroupWithUs, killGroup } from './run-command.mjs';

const host = '127.0.0.1';
const readyTimeoutMs = 60_000;
const stopTimeoutMs = 45_000;
const pollMs = 50;

/**
 * Answers once `/readyz` does. `settings` are configuration keys in their dotted form; ports and folders are set here.
 * The service's own folder is `<folder>/data`, its output `<folder>/stdout.log` and `<folder>/stderr.log`. `user` is who
 * signs in where there is an identity provider: there is no local user then.
 */
export async function startService({ root, folder, settings = {}, user }) {
  mkdirSync(folder, { recursive: true });
  // The third one is the status's, which has the port after that of the metrics.
  const [flightPort, metricsPort] = await freeNeighbours(3);
  const dataFolder = path.join(folder, 'data');
  const config = path.join(folder, 'svc.toml');
  writeFileSync(
    config,
    toml({
      'server.flight_port': flightPort,
      'server.data_dir': dataFolder,
      'metrics.prometheus_port': metricsPort,
      ...settings,
    }),
  );
  const stdout = openSync(path.join(folder, 'stdout.log'), 'w');
  const stderr = openSync(path.join(folder, 'stderr.log'), 'w');
  const main = path.join(root, 'packages', 'cli', 'dist', 'bundle', 'main.mjs');
  const child = spawn(process.execPath, [main, 'serve', '--config', config], {
    cwd: folder,
    env: withoutOurs(process.env),
    detached: true,
    stdio: ['ignore', stdout, stderr],
  });
  closeSync(stdout);
  closeSync(stderr);
  const forget = endGroupWithUs(child);
  const service = { host, flightPort, metricsPort, statusPort: metricsPort + 1, pid: child.pid, folder };
  try {
    await ready(child, service);
  } catch (error) {
    killGroup(child, 'SIGKILL');
    forget();
    throw error;
  }
  const { username, password } = user ?? localUser(dataFolder);
  return {
    ...service,
    username,
    password,
    stop: () => stop(child, service, forget),
  };
}

function localUser(dataFolder) {
  const password = readFileSync(path.join(dataFolder, 'local-password'), 'utf8').trim();
  return { username: 'local', password };
}

/** Asks the service to stop as Ctrl-C does. Answers what was wrong: its exit code, processes or log lines left behind. */
async function stop(child, service, forget) {
  const family = descendantsOf(child.pid);
  const ended =
    child.exitCode === null && child.signalCode === null
      ? new Promise((resolve) => child.once('exit', (code, signal) => resolve(code ?? signal)))
      : (child.exitCode ?? child.signalCode);
  if (child.exitCode === null) child.kill('SIGINT');
  const status = await Promise.race([ended, later(stopTimeoutMs, 'still running')]);
  const problems = [];
  if (status !== 0) problems.push(`the service ended with ${status}`);
  const left = await goneWithin(() => [...family.filter(isAlive), ...processesUsing(service.folder)], 3000);
  if (left.length > 0) problems.push(`processes are left running: ${[...new Set(left)].join(', ')}`);
  killGroup(child, 'SIGKILL');
  forget();
  return [...problems, ...badLogLines(service.folder)];
}

/** Standard output must be JSON lines and nothing else (specification, section 6.2). */
function badLogLines(folder) {
  const lines = readFileSync(path.join(folder, 'stdout.log'), 'utf8').split('\n').filter(Boolean);
  const bad = lines.filter((line) => !isJsonObject(line));
  return bad.length === 0
    ? []
    : [`${bad.length} lines of standard output are not JSON: ${bad[0].slice(0, 200)}`];
}

function isJsonObject(line) {
  try {
    const value = JSON.parse(line);
    return typeof value === 'object' && value !== null;
  } catch {
    return false;
  }
}

async function ready(child, service) {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The service ended while starting:\n${logTail(service.folder)}`);
    const response = await fetch(`http://${host}:${service.statusPort}/readyz`).catch(() => undefined);
    await response?.body?.cancel();
    if (response?.status === 200) return;
    await later(pollMs);
  }
  throw new Error(`The service was not ready after ${readyTimeoutMs / 1000} s:\n${logTail(service.folder)}`);
}

export function logTail(folder, characters = 4000) {
  return ['stderr.log', 'stdout.log']
    .map((file) => `--- ${file}\n${readFileSync(path.join(folder, file), 'utf8').slice(-characters)}`)
    .join('\n');
}

async function goneWithin(list, ms) {
  const deadline = Date.now() + ms;
  let left = list();
  while (left.length > 0 && Date.now() < deadline) {
    await later(pollMs);
    left = list();
  }
  return left;
}

/** Dotted keys as TOML. JSON spells strings, numbers, booleans and lists of them as TOML does. */
function toml(settings) {
  return Object.entries(settings)
    .map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`)
    .join('');
}

/** The environment overrides configuration keys: what the caller has set for himself must not reach the test. */
function withoutOurs(environment) {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('SVC_')));
}

function later(ms, value) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms, value).unref?.();
  });
}
