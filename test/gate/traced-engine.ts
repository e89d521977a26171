/** Runs statements in a process that is watched: by inotify from within, and by strace where there is one. */
import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { readSystemCalls, type SystemCalls, straceArguments } from './system-calls.js';
import type { TracedAnswer, TracedRequest } from './traced-protocol.js';

export interface TracedEngine extends AsyncDisposable {
  /** Whether every system call is seen, or only what is opened in the engine's folder and in /etc. */
  readonly seesSystemCalls: boolean;
  /** Answers in the order of the requests; fewer when the process ended over one of them. */
  run(requests: readonly Omit<TracedRequest, 'kind'>[]): Promise<readonly TracedAnswer[]>;
  /** A text that changes with anything that the engine keeps. */
  state(): Promise<string>;
}

/** Whether strace is there, and may trace. */
export function canTrace(): boolean {
  return spawnSync('strace', ['-f', '--seccomp-bpf', '-o', '/dev/null', 'true']).status === 0;
}

export async function openTracedEngine(options: { readonly trace: boolean }): Promise<TracedEngine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'svc-gate-'));
  const world = mkdtempSync(path.join(folder, 'engine-'));
  const tracePath = path.join(folder, 'trace.txt');
  const command = [process.execPath, path.join(import.meta.dirname, 'traced-engine-main.js'), world];
  const [program = '', ...args] = options.trace
    ? ['strace', ...straceArguments(tracePath), ...command]
    : command;
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'] ?? '', HOME: world, SVC_SECRET: 'QX7CANARY' },
  });
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  // A process that has ended takes no more requests; `ask` sees it end.
  child.stdin.on('error', () => undefined);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let calls: SystemCalls | undefined;
  const ask = async (requests: readonly TracedRequest[]): Promise<readonly TracedAnswer[]> => {
    for (const request of requests) child.stdin.write(`${JSON.stringify(request)}\n`);
    const answered: TracedAnswer[] = [];
    while (answered.length < requests.length) {
      const line = await answers.next();
      if (line.done === true) break;
      answered.push(JSON.parse(line.value));
    }
    return answered;
  };
  const state = async () => {
    const [answer] = await ask([{ kind: 'state', id: 0, sql: '', parameters: [] }]);
    if (answer?.state === undefined) throw new Error(`The traced engine does not answer: ${errors}`);
    return answer.state;
  };
  await state();
  if (options.trace && existsSync(tracePath)) {
    calls = readSystemCalls(tracePath);
    calls.read();
  }
  return {
    seesSystemCalls: calls !== undefined,
    state,
    run: async (requests) => {
      const answered = await ask(requests.map((request) => ({ kind: 'statement', ...request })));
      const made = calls?.read() ?? new Map<number, readonly string[]>();
      return answered.map((answer) => ({
        ...answer,
        findings: [...answer.findings, ...(made.get(answer.id) ?? []).map((call) => `it called ${call}`)],
      }));
    },
    [Symbol.asyncDispose]: async () => {
      calls?.[Symbol.dispose]();
      await end(child);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** The process ends with its input. */
async function end(child: ChildProcessWithoutNullStreams): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.stdin.end();
  await ended;
}
