/** A sandbox: one process with the function's bundle, one invocation at a time, a /tmp and a memory of limited size. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { frame, framesOf, kindOf, type PipeFrame, type SandboxEvent } from './sandbox-pipe.js';

export interface SandboxLimits {
  readonly memoryBytes: number;
  readonly temporaryBytes: number;
  /** A small disk of its own for /tmp, which root can mount; otherwise who writes more is killed. */
  readonly mountsDisk: boolean;
}

export interface SandboxOptions extends SandboxLimits {
  readonly bundle: string;
  /** Its /tmp; may have been that of one that was killed. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly onLog: (text: string) => void;
}

/** Why a sandbox ended, by Lambda's words. */
export type SandboxDeath =
  | 'Runtime.ExitError'
  | 'Runtime.OutOfMemory'
  | 'Runtime.DiskFull'
  | 'Sandbox.Timedout';

const watchEveryMs = 50;

export class Sandbox {
  readonly folder: string;
  readonly started: Promise<void>;
  readonly exited: Promise<void>;
  readonly #child: ChildProcess;
  readonly #answers: AsyncGenerator<PipeFrame, void, undefined>;
  readonly #watch: NodeJS.Timeout;
  readonly #mountsDisk: boolean;
  #slowing: NodeJS.Timeout | undefined;
  #death: SandboxDeath | undefined;
  #isAlive = true;

  private constructor(options: SandboxOptions) {
    const { folder, bundle, environment, onLog } = options;
    this.folder = folder;
    this.#mountsDisk = options.mountsDisk;
    this.#child = spawn(process.execPath, ['--heapsnapshot-signal=SIGUSR2', mainPath(), bundle], {
      cwd: folder,
      env: {
        ...environment,
        TMPDIR: folder,
        AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(Math.floor(options.memoryBytes / 2 ** 20)),
      },
      stdio: ['ignore', 'pipe', 'pipe', 'pipe', 'pipe'],
    });
    for (const output of [this.#child.stdout, this.#child.stderr])
      output?.setEncoding('utf8').on('data', onLog);
    (this.#child.stdio[3] as Writable).on('error', () => undefined);
    this.#answers = framesOf(this.#child.stdio[4] as Readable as AsyncIterable<Buffer>);
    this.exited = new Promise((resolve) => {
      this.#child.once('exit', () => {
        this.#isAlive = false;
        this.#stopTimers();
        resolve();
      });
    });
    this.#watch = setInterval(() => void this.#look(options), watchEveryMs);
    this.started = this.#answers.next().then(({ value }) => {
      if (value?.kind !== kindOf.ready) throw new Error('The function does not start.');
    });
    this.started.catch(() => undefined);
  }

  static async start(options: SandboxOptions): Promise<Sandbox> {
    await mkdir(options.folder, { recursive: true });
    if (options.mountsDisk) {
      const size = `size=${options.temporaryBytes}`;
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', options.folder]);
      if (mounted.status !== 0) throw new Error(`No disk can be mounted: ${mounted.stderr}`);
    }
    return new Sandbox(options);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  get death(): SandboxDeath {
    return this.#death ?? 'Runtime.ExitError';
  }

  /** What the function answers; ends early when the sandbox dies. */
  async *invoke(event: SandboxEvent): AsyncGenerator<PipeFrame, void, undefined> {
    (this.#child.stdio[3] as Writable).write(frame(0, Buffer.from(JSON.stringify(event))));
    for (;;) {
      const next = await this.#answers.next();
      if (next.done) return;
      yield next.value;
      if (next.value.kind !== kindOf.chunk) return;
    }
  }

  kill(death: SandboxDeath = 'Runtime.ExitError'): void {
    if (!this.#isAlive) return;
    this.#death ??= death;
    this.#child.kill('SIGKILL');
  }

  /** Lets it run for a tenth of the time. */
  slowDown(): void {
    let step = 0;
    this.#slowing = setInterval(() => {
      step = (step + 1) % 10;
      if (step === 1) this.#child.kill('SIGCONT');
      if (step === 2) this.#child.kill('SIGSTOP');
    }, 10);
  }

  speedUp(): void {
    clearInterval(this.#slowing);
    this.#slowing = undefined;
    this.#child.kill('SIGCONT');
  }

  /** What is reachable from its JavaScript, as one text. */
  async heap(): Promise<string> {
    this.#child.kill('SIGUSR2');
    for (;;) {
      const name = (await readdir(this.folder)).find((file) => file.endsWith('.heapsnapshot'));
      const path = join(this.folder, name ?? '');
      const text = name === undefined ? '' : await readFile(path, 'utf8');
      if (text.trimEnd().endsWith('}')) {
        await rm(path);
        return text;
      }
      if (!this.#isAlive) throw new Error('The sandbox has ended.');
      await new Promise((resolve) => setTimeout(resolve, watchEveryMs));
    }
  }

  async close(): Promise<void> {
    this.kill();
    await this.exited;
    if (this.#mountsDisk) spawnSync('umount', ['-l', this.folder]);
  }

  async #look({ memoryBytes, temporaryBytes }: SandboxLimits): Promise<void> {
    const status = await readFile(`/proc/${this.pid}/status`, 'utf8').catch(() => '');
    const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    if (resident > memoryBytes) this.kill('Runtime.OutOfMemory');
    if (!this.#mountsDisk && (await folderBytes(this.folder)) > temporaryBytes) this.kill('Runtime.DiskFull');
  }

  #stopTimers(): void {
    clearInterval(this.#watch);
    clearInterval(this.#slowing);
  }
}

function mainPath(): string {
  return fileURLToPath(new URL('./sandbox-main.js', import.meta.url));
}

async function folderBytes(folder: string): Promise<number> {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        (info) => (info.isFile() ? info.size : 0),
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
