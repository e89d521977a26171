import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { QueryError } from '@svc/base';
import type { EngineProgress } from '../api.js';
import { createSharedFile } from '../shm/shared-mapping.js';
import { mappingBytes } from '../shm/slot-layout.js';
import { SlotReader } from '../shm/slot-reader.js';
import {
  type ControlRequest,
  controlAnswerBytes,
  decodeControlAnswer,
  encodeControlRequest,
} from './control-protocol.js';
import { encodeFrame, type Frame, FrameReader } from './frame.js';
import { exitError, type HostExit, StreamTail } from './host-exit.js';
import { type FrameReceiver, HostOperation } from './host-operation.js';
import type { HostSettings } from './host-settings.js';
import { type FromHost, type HostRequest, hostFds, type RequestFrame, type ToHost } from './protocol.js';

export interface HostProcessOptions {
  /** The program of the host process. */
  readonly entry: URL;
  readonly settings: HostSettings;
  /** How long a cancelled request may take to stop before the process is killed. */
  readonly cancelGraceMs: number;
}

/** A request without its id. */
export type RequestOf<T extends HostRequest = HostRequest> = T extends HostRequest ? Omit<T, 'id'> : never;

/** Far above what starting and reopening take on a busy machine. */
const START_MS = 60_000;
const PREPARE_MS = 20_000;
const STDERR_TAIL_BYTES = 4096;
/** The host's JavaScript only moves frames; the engine's memory is not the JavaScript engine's. */
const NODE_FLAGS = ['--max-old-space-size=192', '--max-semi-space-size=2'];
const unknownProgress: EngineProgress = { fraction: undefined, rowsProcessed: 0n, rowsTotal: 0n };

/** The parent's side of one engine host: its process, its pipes, its slots. One request at a time. */
export class HostProcess {
  readonly pid: number;
  readonly slots: SlotReader;
  /** Resolves when the process is gone; never rejects. */
  readonly exited: Promise<HostExit>;
  readonly #child: ChildProcess;
  readonly #requests: Duplex;
  readonly #control: Duplex;
  readonly #cancelGraceMs: number;
  readonly #frames = new FrameReader<FromHost>();
  readonly #stderr = new StreamTail(STDERR_TAIL_BYTES);
  readonly #progressWaiters: ((progress: EngineProgress) => void)[] = [];
  #controlBytes = Buffer.alloc(0);
  #operation: HostOperation | undefined;
  #nextId = 1;
  #exit: HostExit | undefined;
  #killedFor: HostExit['killedFor'];
  #onReady: (() => void) | undefined;

  /** Starts the process and opens its first instance. ENGINE_CRASHED when it does not come up. */
  static async start(options: HostProcessOptions): Promise<HostProcess> {
    const host = new HostProcess(options);
    const isReady = new Promise<true>((resolve) => {
      host.#onReady = () => resolve(true);
    });
    const timer = setTimeout(() => host.kill('unresponsive'), START_MS);
    try {
      const outcome = await Promise.race([isReady, host.exited]);
      if (outcome !== true) throw exitError(outcome);
      await host.prepare('open');
      return host;
    } catch (error) {
      host.kill('closed');
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  private constructor(options: HostProcessOptions) {
    const { layout, tempDirectory } = options.settings;
    const ringFd = createSharedFile(tempDirectory, mappingBytes(layout));
    try {
      this.slots = new SlotReader(ringFd, layout, (slot) => this.#send({ op: 'credit', slot }));
      this.#child = spawnHost(options, ringFd);
    } finally {
      closeSync(ringFd);
    }
    this.#cancelGraceMs = options.cancelGraceMs;
    this.pid = this.#child.pid ?? 0;
    try {
      this.#requests = pipeOf(this.#child, hostFds.requests);
      this.#control = pipeOf(this.#child, hostFds.control);
    } catch (error) {
      this.slots.detach();
      throw error;
    }
    // A broken pipe means that the process is gone, which `close` reports.
    for (const pipe of [this.#requests, this.#control]) pipe.on('error', () => undefined);
    this.#requests.on('data', (chunk: Buffer) => this.#onRequestBytes(chunk));
    this.#control.on('data', (chunk: Buffer) => this.#onControlBytes(chunk));
    this.#child.stderr?.on('data', (chunk: Buffer) => this.#stderr.push(chunk));
    this.exited = new Promise((resolve) => {
      this.#child.once('error', () => resolve(this.#onExit(null, null)));
      this.#child.once('close', (code, signal) => resolve(this.#onExit(code, signal)));
    });
  }

  get isAlive(): boolean {
    return this.#exit === undefined && this.#killedFor === undefined;
  }

  /** No request is running. */
  get isFree(): boolean {
    return this.#operation === undefined;
  }

  /** Sends a request. The caller sees to it that none is running. */
  begin(request: RequestOf, body?: Uint8Array, receiver?: FrameReceiver): HostOperation {
    if (this.#operation)
      throw new QueryError('INTERNAL_ERROR', 'The engine host is already running a statement.');
    const id = this.#nextId++;
    const operation = new HostOperation(id, receiver, this.#cancelGraceMs, {
      sendCancel: () => {
        this.#sendControl({ kind: 'cancel', id });
        this.#send({ op: 'stop', id });
      },
      killUnresponsive: () => this.kill('unresponsive'),
      onSettled: () => {
        this.#operation = undefined;
      },
    });
    const frame = encodeFrame({ ...request, id }, body);
    this.#operation = operation;
    if (this.#exit) operation.onHostGone(exitError(this.#exit));
    else this.#requests.write(frame);
    return operation;
  }

  /** Opens another instance or resets the present one. Nobody waits long for that: a host that hangs is killed. */
  async prepare(op: 'open' | 'reset'): Promise<void> {
    const timer = setTimeout(() => this.kill('unresponsive'), PREPARE_MS);
    try {
      await this.begin({ op }).answer;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Sends more of a running request's input; resolves when the pipe takes more. Settles at the latest with the request. */
  async sendChunk(operation: HostOperation, bytes: Uint8Array | undefined): Promise<void> {
    const { id } = operation;
    if (this.#operation !== operation || !this.isAlive) return;
    const head: ToHost = bytes ? { op: 'chunk', id } : { op: 'chunksEnd', id };
    if (this.#requests.write(encodeFrame(head, bytes))) return;
    let onDrain: () => void = () => undefined;
    const drained = new Promise<void>((resolve) => {
      onDrain = resolve;
      this.#requests.once('drain', onDrain);
    });
    await Promise.race([drained, operation.settled]);
    this.#requests.off('drain', onDrain);
  }

  /** How far the running statement is; unknown values when nothing runs. */
  progress(operation: HostOperation): Promise<EngineProgress> {
    if (this.#operation !== operation || !this.isAlive) return Promise.resolve(unknownProgress);
    this.#sendControl({ kind: 'progress', id: operation.id });
    return new Promise((resolve) => this.#progressWaiters.push(resolve));
  }

  /** Ends the process at once. Idempotent; `exited` tells when it is gone. */
  kill(reason: HostExit['killedFor']): void {
    if (!this.isAlive) return;
    this.#killedFor = reason;
    this.#child.kill('SIGKILL');
  }

  #send(head: ToHost): void {
    if (this.isAlive) this.#requests.write(encodeFrame(head));
  }

  #sendControl(request: ControlRequest): void {
    if (this.isAlive) this.#control.write(encodeControlRequest(request));
  }

  #onRequestBytes(chunk: Buffer): void {
    try {
      this.#frames.push(chunk);
      for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) this.#onFrame(frame);
    } catch {
      // Bytes that make no sense: the process is no longer what we started.
      this.kill('broken');
    }
  }

  #onFrame(frame: Frame<FromHost>): void {
    const { head, body } = frame;
    if (head.type === 'ready') this.#onReady?.();
    else if (this.#operation?.id === head.id) this.#onAnswer(this.#operation, head, body);
    else throw new QueryError('INTERNAL_ERROR', 'An answer to no request.');
  }

  #onAnswer(operation: HostOperation, head: RequestFrame, body: Buffer): void {
    switch (head.type) {
      case 'schema':
        operation.receiver?.schema(Buffer.from(body));
        return;
      case 'piece':
        if (head.slot !== undefined && !this.slots.take(head.slot, head.byteLength))
          throw new QueryError('INTERNAL_ERROR', 'A slot that is not free.');
        operation.receiver?.piece({ head, body });
        return;
      case 'done':
        operation.onDone({ answer: head.answer, body: Buffer.from(body) });
        return;
      case 'failed':
        operation.onFailed(errorOfHost(head), head.mustRecycle);
    }
  }

  #onControlBytes(chunk: Buffer): void {
    this.#controlBytes = Buffer.concat([this.#controlBytes, chunk]);
    while (this.#controlBytes.length >= controlAnswerBytes) {
      const answer = decodeControlAnswer(this.#controlBytes);
      this.#controlBytes = this.#controlBytes.subarray(controlAnswerBytes);
      if (answer?.kind === 'progress') this.#progressWaiters.shift()?.(answer.progress);
      else if (answer?.kind === 'memoryExceeded') this.#killedFor ??= 'memory';
      else if (answer?.kind === 'cancelled' && this.#operation?.id === answer.id)
        this.#operation.onCancelConfirmed();
    }
  }

  #onExit(code: number | null, signal: string | null): HostExit {
    const stderrTail = this.#stderr.toString();
    this.#exit ??= { code, signal, stderrTail, killedFor: this.#killedFor };
    this.slots.detach();
    for (const waiter of this.#progressWaiters.splice(0)) waiter(unknownProgress);
    this.#operation?.onHostGone(exitError(this.#exit));
    return this.#exit;
  }
}

function spawnHost(options: HostProcessOptions, ringFd: number): ChildProcess {
  const args = [...NODE_FLAGS, fileURLToPath(options.entry), JSON.stringify(options.settings)];
  const child = spawn(process.execPath, args, {
    // Nothing of the parent's environment: it holds secrets, and a time zone that results must not depend on.
    env: { TZ: 'UTC' },
    cwd: options.settings.tempDirectory,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', ringFd],
    shell: false,
    windowsHide: true,
  });
  // A system that is out of files or processes says so in an event, before anybody can have asked for it.
  child.on('error', () => undefined);
  return child;
}

/** Without files to open, node makes a child that has no pipes at all, whatever its type says. */
function pipeOf({ stdio }: { readonly stdio?: ChildProcess['stdio'] }, fd: number): Duplex {
  const pipe = stdio?.[fd];
  if (!pipe || !('read' in pipe) || !('write' in pipe))
    throw new QueryError(
      'ENGINE_CRASHED',
      'The engine host could not be started: the system is out of files.',
    );
  return pipe as Duplex;
}

/** The error as the host sent it; what happened there becomes its cause, which is logged. */
function errorOfHost({ error, detail }: Extract<RequestFrame, { type: 'failed' }>): QueryError {
  const { code, message, retryable } = QueryError.fromSerialized(error);
  if (detail === undefined) return new QueryError(code, message, { retryable });
  const cause = new Error('in the engine host');
  cause.stack = detail;
  return new QueryError(code, message, { retryable, cause });
}
