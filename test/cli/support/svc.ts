/** The built program as a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export const svcProgram = new URL('../../../../packages/cli/dist/bundle/main.mjs', import.meta.url).pathname;

export interface SvcOptions {
  readonly cwd?: string | undefined;
  /** All that the program gets, besides where temporary files go. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Standard input: a text, or open for what the test writes. Absent: none. */
  readonly input?: string | undefined;
  readonly hasOpenInput?: boolean | undefined;
}

export interface RunningSvc {
  readonly process: ChildProcess;
  /** Exit code and signal. */
  readonly exit: Promise<readonly unknown[]>;
  stdout(): string;
  stderr(): string;
}

export function startSvc(
  args: readonly string[],
  { cwd, env, input, hasOpenInput = false }: SvcOptions,
): RunningSvc {
  const child = spawn(process.execPath, [svcProgram, ...args], {
    cwd,
    stdio: [input === undefined && !hasOpenInput ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    env: { ...env },
  });
  const exit = once(child, 'close');
  if (input !== undefined) child.stdin?.end(input);
  let stdout = '';
  let stderr = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  return { process: child, exit, stdout: () => stdout, stderr: () => stderr };
}

export interface SvcRun {
  readonly code: unknown;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs to the end. */
export async function runSvc(args: readonly string[], options: SvcOptions): Promise<SvcRun> {
  const svc = startSvc(args, options);
  const [code] = await svc.exit;
  return { code, stdout: svc.stdout(), stderr: svc.stderr() };
}

export interface StartedService {
  readonly address: string;
  stop(): Promise<void>;
}

/** `svc serve` over the folder's `.svc`, on free ports, with more lines of the section `[server]`. */
export async function startService(folder: string, settings = ''): Promise<StartedService> {
  const config = join(folder, 'serve.toml');
  await writeFile(config, `[server]\nflight_port = 0\n${settings}[metrics]\nprometheus_port = 0\n`);
  const svc = startSvc(['serve', '--config', config], { cwd: folder });
  await until(() => svc.stderr().includes('Ctrl-C stops') || svc.process.exitCode !== null);
  const [address] = /grpc(?:\+tls)?:\/\/127\.0\.0\.1:\d+/.exec(svc.stderr()) ?? [];
  if (address === undefined) throw new Error(`The service did not start: ${svc.stderr()}`);
  return {
    address,
    async stop() {
      svc.process.kill('SIGINT');
      await svc.exit;
    },
  };
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('The condition did not come true within 60 s.');
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
