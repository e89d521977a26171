/**
 * AWS Lambda on this machine, as far as InvokeWithResponseStream goes: its HTTP API and event streams for the unmodified
 * SDK, real bundles in processes of their own, and the quotas that a function meets.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventStreamCodec } from '@smithy/eventstream-codec';
import { randomFrom } from '../../random.js';
import { Pace, type PaceOptions, Ramp, type RampOptions } from './limits.js';
import { Sandbox, type SandboxDeath, type SandboxLimits } from './sandbox.js';
import { kindOf } from './sandbox-pipe.js';

export interface Faults {
  readonly seed: number;
  /** Shares of the invocations, 0 to 1. */
  readonly kill?: number;
  readonly throttle?: number;
  /** Ten times slower than it could be. */
  readonly slow?: number;
}

export interface EmulatorOptions extends Partial<SandboxLimits>, Partial<PaceOptions>, Partial<RampOptions> {
  /** Of the function: index.mjs and what it needs. */
  readonly bundleFolder: string;
  readonly functionName: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Where the sandboxes' /tmp lie. */
  readonly folder: string;
  readonly maxRequestBytes?: number;
  readonly timeoutMs?: number;
  /** Beside what starting a process takes. */
  readonly coldStartMs?: number;
  readonly faults?: Faults;
}

export interface EmulatorCounts {
  invocations: number;
  coldStarts: number;
  throttled: number;
  killed: number;
  slowed: number;
  tooLarge: number;
  peakConcurrency: number;
  /** Of the largest event that came. */
  largestEventBytes: number;
}

export interface LambdaEmulator extends AsyncDisposable {
  readonly endpoint: string;
  readonly counts: Readonly<EmulatorCounts>;
  /** All that functions and their processes have written. */
  log(): string;
  sandboxes(): readonly Sandbox[];
  setFaults(faults: Faults | undefined): void;
}

const megabyte = 2 ** 20;
const defaults = {
  memoryBytes: 2048 * megabyte,
  temporaryBytes: 512 * megabyte,
  mountsDisk: false,
  burstBytes: 6 * megabyte,
  bytesPerSecond: 2 * megabyte,
  maxBytes: 200 * megabyte,
  maxConcurrency: 1000,
  startsPerTenSeconds: 1000,
  maxRequestBytes: 6 * megabyte,
  timeoutMs: 60_000,
  coldStartMs: 0,
  environment: {},
};
/** A killed one ends at a time that is drawn below this. */
const maxKillDelayMs = 150;
const details: Readonly<Record<SandboxDeath, string>> = {
  'Runtime.ExitError': 'Runtime exited with error: signal: killed',
  'Runtime.OutOfMemory': 'Runtime exited with error: signal: killed',
  'Runtime.DiskFull': 'Runtime exited with error: signal: killed',
  'Sandbox.Timedout': 'Task timed out',
};
const path = /^\/2021-11-15\/functions\/([^/]+)\/response-streaming-invocations$/;
const codec = new EventStreamCodec(
  (bytes) => (typeof bytes === 'string' ? bytes : Buffer.from(bytes).toString('utf8')),
  (text) => Buffer.from(text, 'utf8'),
);

export async function startLambdaEmulator(options: EmulatorOptions): Promise<LambdaEmulator> {
  const emulator = new Emulator(options);
  const server = createServer((request, response) => {
    emulator.answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts: emulator.counts,
    log: () => emulator.log,
    sandboxes: () => emulator.idle,
    setFaults: (faults) => emulator.setFaults(faults),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await emulator.close();
    },
  };
}

type Draw = 'kill' | 'throttle' | 'slow' | undefined;

class Emulator {
  readonly counts: EmulatorCounts = {
    invocations: 0,
    coldStarts: 0,
    throttled: 0,
    killed: 0,
    slowed: 0,
    tooLarge: 0,
    peakConcurrency: 0,
    largestEventBytes: 0,
  };
  log = '';
  idle: Sandbox[] = [];
  readonly #options: EmulatorOptions & typeof defaults;
  readonly #ramp: Ramp;
  readonly #all = new Set<Sandbox>();
  /** Of sandboxes that died: the next one gets what they left. */
  #folders: string[] = [];
  #nextFolder = 0;
  #running = 0;
  #faults: Faults | undefined;
  #random: () => number = Math.random;

  constructor(options: EmulatorOptions) {
    this.#options = { ...defaults, ...options };
    this.#ramp = new Ramp(this.#options);
    this.setFaults(options.faults);
  }

  setFaults(faults: Faults | undefined): void {
    this.#faults = faults;
    if (faults !== undefined) this.#random = randomFrom(faults.seed);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = path.exec(request.url ?? '')?.[1];
    const event = await this.#readEvent(request);
    if (request.headers.authorization?.startsWith('AWS4-HMAC-SHA256') !== true)
      return refuse(response, 403, 'MissingAuthenticationTokenException', { message: 'No signature.' });
    if (request.method !== 'POST' || name !== this.#options.functionName)
      return refuse(response, 404, 'ResourceNotFoundException', { Message: `Function not found: ${name}` });
    if (event === undefined) {
      this.counts.tooLarge += 1;
      return refuse(response, 413, 'RequestTooLargeException', {
        message: 'Request must be smaller than 6291456 bytes for the InvokeFunction operation',
      });
    }
    const draw = this.#draw();
    const sandbox = draw === 'throttle' ? undefined : this.#take();
    if (sandbox === undefined) {
      this.counts.throttled += 1;
      return refuse(response, 429, 'TooManyRequestsException', {
        message: 'Rate Exceeded.',
        Reason: 'ConcurrentInvocationLimitExceeded',
        Type: 'User',
      });
    }
    this.counts.invocations += 1;
    try {
      await this.#invoke(await sandbox, JSON.parse(event), response, draw);
    } finally {
      this.#running -= 1;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#all].map((sandbox) => sandbox.close()));
    await rm(this.#options.folder, { recursive: true, force: true });
  }

  /** Undefined where it is too large. */
  async #readEvent(request: IncomingMessage): Promise<string | undefined> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of request as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes <= this.#options.maxRequestBytes) chunks.push(chunk);
    }
    this.counts.largestEventBytes = Math.max(this.counts.largestEventBytes, bytes);
    return bytes > this.#options.maxRequestBytes ? undefined : Buffer.concat(chunks).toString();
  }

  #draw(): Draw {
    const { kill = 0, throttle = 0, slow = 0 } = this.#faults ?? {};
    const drawn = this.#faults === undefined ? 1 : this.#random();
    if (drawn < throttle) return 'throttle';
    if (drawn < throttle + kill) return 'kill';
    return drawn < throttle + kill + slow ? 'slow' : undefined;
  }

  /** A place in a sandbox, or undefined where the quotas leave none. */
  #take(): Promise<Sandbox> | undefined {
    if (this.#running >= this.#options.maxConcurrency) return undefined;
    const warm = this.idle.pop();
    if (warm === undefined && !this.#ramp.take()) return undefined;
    this.#running += 1;
    this.counts.peakConcurrency = Math.max(this.counts.peakConcurrency, this.#running);
    return warm?.isAlive ? Promise.resolve(warm) : this.#start();
  }

  async #start(): Promise<Sandbox> {
    this.counts.coldStarts += 1;
    const { bundleFolder, folder, environment, functionName, coldStartMs } = this.#options;
    this.#nextFolder += 1;
    const ownFolder = this.#folders.pop() ?? join(folder, `sandbox-${this.#nextFolder}`);
    await mkdir(folder, { recursive: true });
    await sleep(coldStartMs);
    const sandbox = await Sandbox.start({
      ...this.#options,
      bundle: join(bundleFolder, 'index.mjs'),
      folder: ownFolder,
      environment: { ...environment, AWS_LAMBDA_FUNCTION_NAME: functionName },
      onLog: (text) => {
        this.log += text;
      },
    });
    this.#all.add(sandbox);
    return sandbox;
  }

  async #invoke(sandbox: Sandbox, event: unknown, response: ServerResponse, draw: Draw): Promise<void> {
    const { timeoutMs, functionName } = this.#options;
    const requestId = randomUUID();
    response.writeHead(200, {
      'content-type': 'application/vnd.amazon.eventstream',
      'x-amzn-requestid': requestId,
    });
    response.flushHeaders();
    const timers = new Set<NodeJS.Timeout>();
    const later = (ms: number, act: () => void) => timers.add(setTimeout(act, ms));
    try {
      await sandbox.started.catch(() => undefined);
      later(timeoutMs, () => sandbox.kill('Sandbox.Timedout'));
      if (draw === 'slow') {
        this.counts.slowed += 1;
        sandbox.slowDown();
      }
      if (draw === 'kill')
        later(this.#random() * maxKillDelayMs, () => {
          this.counts.killed += 1;
          sandbox.kill();
        });
      const deadlineMs = Date.now() + timeoutMs;
      const problem = await this.#stream(sandbox, { requestId, deadlineMs, functionName, event }, response);
      await send(response, 'InvokeComplete', Buffer.from(JSON.stringify(problem ?? {})));
      response.end();
    } finally {
      for (const timer of timers) clearTimeout(timer);
      if (draw === 'slow') sandbox.speedUp();
      if (sandbox.isAlive) this.idle.push(sandbox);
      else {
        this.#all.delete(sandbox);
        if (this.#options.mountsDisk) await sandbox.close();
        else this.#folders.push(sandbox.folder);
      }
    }
  }

  /** Answers what `InvokeComplete` says when it went wrong. */
  async #stream(
    sandbox: Sandbox,
    event: Parameters<Sandbox['invoke']>[0],
    response: ServerResponse,
  ): Promise<object | undefined> {
    const pace = new Pace(this.#options);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    let hasEnded = false;
    for await (const { kind, body } of sandbox.invoke(event)) {
      if (kind === kindOf.chunk) {
        const waitMs = pace.waitFor(body.byteLength);
        if (waitMs === undefined) {
          sandbox.kill();
          return failure('Function.ResponseSizeTooLarge', 'Response payload size exceeded the maximum.');
        }
        // The function is not told that nobody reads any more.
        if (waitMs > 0) await sleep(waitMs, undefined, { signal: gone.signal }).catch(() => undefined);
        await send(response, 'PayloadChunk', body);
      }
      if (kind === kindOf.error)
        return { ErrorCode: 'Unhandled', ErrorDetails: Buffer.from(body).toString() };
      hasEnded = kind === kindOf.end;
    }
    if (hasEnded) return undefined;
    await sandbox.exited;
    return failure(sandbox.death, `RequestId: ${event.requestId} Error: ${details[sandbox.death]}`);
  }
}

function failure(errorType: string, errorMessage: string): object {
  return { ErrorCode: errorType, ErrorDetails: JSON.stringify({ errorType, errorMessage }) };
}

async function send(response: ServerResponse, type: string, body: Uint8Array): Promise<void> {
  if (response.destroyed) return;
  const contentType = type === 'PayloadChunk' ? 'application/octet-stream' : 'application/json';
  const headers = Object.fromEntries(
    Object.entries({ ':message-type': 'event', ':event-type': type, ':content-type': contentType }).map(
      ([name, value]) => [name, { type: 'string' as const, value }],
    ),
  );
  if (response.write(codec.encode({ headers, body }))) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      response.off('drain', go).off('close', go);
      resolve();
    };
    response.on('drain', go).on('close', go);
  });
}

function refuse(response: ServerResponse, status: number, type: string, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  response.end(JSON.stringify(body));
}
