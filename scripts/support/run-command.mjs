// Runs a child process to its end, with a bound on its time and on what is kept of its output.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

const keptCharacters = 1 << 20;
const killAfterMs = 5000;

/**
 * Answers `{ code, output, seconds, timedOut }`; never throws on a failing command. `output` is stdout and stderr as they
 * came, the last million characters. The child leads its own process group, so that a timeout ends what it started too;
 * `endSignal` is for a child that has groups of its own to end when we end.
 */
export async function runCommand(command, args, options = {}) {
  const { cwd, env, timeoutMs = 600_000, onLine, onErrorLine, echo = false, endSignal } = options;
  const began = process.hrtime.bigint();
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  let timedOut = false;
  const take = (text) => {
    output = (output + text).slice(-keptCharacters);
    if (echo) process.stdout.write(text);
  };
  const lines = splitLines(onLine);
  const errorLines = splitLines(onErrorLine);
  child.stdout.setEncoding('utf8').on('data', (text) => {
    take(text);
    lines.push(text);
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    take(text);
    errorLines.push(text);
  });
  const stopGroup = endGroupWithUs(child, endSignal);
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child, 'SIGTERM');
    setTimeout(() => killGroup(child, 'SIGKILL'), killAfterMs).unref();
  }, timeoutMs);
  try {
    const code = await new Promise((resolve) => {
      child.once('error', (error) => {
        take(`${command}: ${error.message}\n`);
        resolve(127);
      });
      // As a shell tells it: 128 and the signal's number.
      child.once('close', (status, signal) => resolve(status ?? 128 + (constants.signals[signal] ?? 0)));
    });
    lines.end();
    errorLines.end();
    return { code, output, timedOut, seconds: Number(process.hrtime.bigint() - began) / 1e9 };
  } finally {
    clearTimeout(timer);
    stopGroup();
  }
}

/** Signals the process group a detached child leads; one that is gone already is fine. */
export function killGroup(child, signal) {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

/** Detached groups outlive a Ctrl-C on us: end them as we end. Answers the undo. */
export function endGroupWithUs(child, endSignal = 'SIGKILL') {
  const end = () => killGroup(child, endSignal);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const onSignal = (signal) => {
    end();
    process.exit(signal === 'SIGINT' ? 130 : 143);
  };
  process.once('exit', end);
  for (const signal of signals) process.once(signal, onSignal);
  return () => {
    process.off('exit', end);
    for (const signal of signals) process.off(signal, onSignal);
  };
}

function splitLines(onLine = () => undefined) {
  let rest = '';
  return {
    push(text) {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      for (const part of parts) onLine(part);
    },
    end() {
      if (rest !== '') onLine(rest);
      rest = '';
    },
  };
}
