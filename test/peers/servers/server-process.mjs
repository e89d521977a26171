// A server that is not the service, as a child process: started, waited for, and ended with everything it started.
import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { endGroupWithUs, killGroup } from '../../../scripts/support/run-command.mjs';

export const host = '127.0.0.1';
const stopTimeoutMs = 10_000;
const pollMs = 50;

/**
 * Answers once `isReady()` does: `{ pid, stop(), kill() }`. `stop` asks the process to end and ends its whole group after
 * 10 s, `kill` does so at once; both may be called twice. What the process says goes to the file `log`.
 */
export async function startServer({ name, command, args, cwd, env, log, isReady, readyTimeoutMs = 60_000 }) {
  const output = openSync(log, 'w');
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', output, output] });
  closeSync(output);
  const forget = endGroupWithUs(child);
  const ended = new Promise((resolve) => child.once('exit', resolve).once('error', resolve));
  const kill = async () => {
    killGroup(child, 'SIGKILL');
    await ended;
    forget();
  };
  const stop = async () => {
    killGroup(child, 'SIGTERM');
    await Promise.race([ended, later(stopTimeoutMs)]);
    await kill();
  };
  try {
    await ready({ name, isReady, readyTimeoutMs, hasEnded: isSettled(ended) });
  } catch (error) {
    await kill();
    throw new Error(`${error.message}\n${readFileSync(log, 'utf8').slice(-4000)}`);
  }
  return { pid: child.pid, stop, kill };
}

async function ready({ name, isReady, readyTimeoutMs, hasEnded }) {
  const deadline = Date.now() + readyTimeoutMs;
  while (Date.now() < deadline) {
    if (hasEnded()) throw new Error(`${name} ended while starting.`);
    if (await isReady()) return;
    await later(pollMs);
  }
  throw new Error(`${name} was not ready after ${readyTimeoutMs / 1000} s.`);
}

/** Whether a URL answers with success. */
export async function isAnswering(url) {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response?.ok === true;
}

function isSettled(promise) {
  let settled = false;
  promise.then(() => {
    settled = true;
  });
  return () => settled;
}

function later(ms) {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
