// A real `svc worker` on free ports, over a folder of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { endGroupWithUs, killGroup } from '../../scripts/support/run-command.mjs';

const startTimeoutMs = 60_000;
const pollMs = 50;
export const workerSecret = 'a secret of the benchmarks, and of nobody else';

/**
 * Answers `{ address, pid, stop }`. `environment` has configuration keys as variables; `nodeArguments` is for a profile of the
 * process.
 */
export async function startWorker({ root, folder, environment = {}, nodeArguments = [] }) {
  mkdirSync(folder, { recursive: true });
  const log = path.join(folder, 'worker.log');
  const output = openSync(log, 'w');
  const main = path.join(root, 'packages', 'cli', 'dist', 'bundle', 'main.mjs');
  const child = spawn(process.execPath, [...nodeArguments, main, 'worker'], {
    cwd: folder,
    env: {
      ...process.env,
      SVC_WORKER__SECRET: workerSecret,
      SVC_WORKER__PORT: '0',
      SVC_METRICS__PROMETHEUS_PORT: '0',
      SVC_SERVER__DATA_DIR: path.join(folder, 'data'),
      ...environment,
    },
    detached: true,
    stdio: ['ignore', 'ignore', output],
  });
  const forget = endGroupWithUs(child);
  const stop = async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGINT');
      await ended;
    }
    killGroup(child, 'SIGKILL');
    forget();
  };
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    const address = /Tasks +grpc:\/\/(\S+)/.exec(readFileSync(log, 'utf8'))?.[1];
    if (address !== undefined) return { address, pid: child.pid, stop };
    if (child.exitCode !== null || Date.now() > deadline) {
      killGroup(child, 'SIGKILL');
      forget();
      throw new Error(`A worker did not start:\n${readFileSync(log, 'utf8').slice(-4000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}
