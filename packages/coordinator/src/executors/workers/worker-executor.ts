/** One worker as a place where fragments run. */
import type { KeyObject } from 'node:crypto';
import { QueryError, throwIfAborted } from '@svc/base';
import { type ClientTls, createWorkerClient, type ExchangeCall } from '@svc/flight';
import {
  encodeTask,
  type FragmentExecutor,
  heartbeatAction,
  type KnownFacts,
  readFacts,
  remoteTask,
  type SigningOptions,
  signHeartbeat,
  signTask,
  verifyFacts,
} from '@svc/fragment-fn';
import { errorOfCall, lostBy, sendTask, startRun } from './task-call.js';
import type { WorkerAddress } from './worker-address.js';

export interface WorkerExecutorOptions {
  /** Of this process: workers tell coordinators apart by it. */
  readonly coordinator: string;
  /** `callKey` of the secret that coordinator and workers share. */
  readonly key: KeyObject;
  readonly tls?: ClientTls;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A worker that says nothing for this long, although its answer is waited for, is lost. */
  readonly stallMs: number;
  readonly heartbeatTimeoutMs: number;
  /** Told when the worker failed a task, so that it is looked after at once. */
  readonly onLost?: () => void;
}

export interface WorkerExecutor extends FragmentExecutor {
  /** Asks the worker how it is. Throws EXECUTOR_LOST when it does not answer, or does not know the secret. */
  heartbeat(signal?: AbortSignal): Promise<KnownFacts>;
  /** What it said last. */
  readonly facts: KnownFacts | undefined;
  /** Tasks of this coordinator that it runs now. */
  readonly running: number;
  /** Resolves when no task of this coordinator runs. */
  idle(): Promise<void>;
  /** Ends its tasks and the connection. Idempotent. */
  close(): void;
}

export function createWorkerExecutor(address: WorkerAddress, options: WorkerExecutorOptions): WorkerExecutor {
  const { coordinator, key, now, stallMs } = options;
  const name = `worker ${address.text}`;
  const signing: SigningOptions & { readonly coordinator: string } = { coordinator, key, now };
  const client = createWorkerClient({
    host: address.host,
    port: address.port,
    ...(options.tls === undefined ? {} : { tls: { ...options.tls, ...serverName(options.tls, address) } }),
    keepalive: { timeMs: 10_000, timeoutMs: 10_000 },
  });
  let facts: KnownFacts | undefined;
  let isSilent = false;
  let running = 0;
  const onIdle = new Set<() => void>();
  const leave = () => {
    running -= 1;
    if (running > 0) return;
    for (const resolve of onIdle) resolve();
    onIdle.clear();
  };

  const heartbeat = async (signal?: AbortSignal): Promise<KnownFacts> => {
    const { token, id } = await signHeartbeat(signing);
    try {
      const answer = await client.action(heartbeatAction, new Uint8Array(0), token, {
        ...(signal === undefined ? {} : { signal }),
        deadlineMs: options.heartbeatTimeoutMs,
      });
      const claims = await verifyFacts(Buffer.from(answer).toString('latin1'), { coordinator, id }, signing);
      facts = readFacts(claims);
      isSilent = false;
      return facts;
    } catch (caught) {
      throwIfAborted(signal);
      isSilent = true;
      throw lostBy(name, caught);
    }
  };

  const open = async (
    task: Uint8Array,
    subject: { readonly owner: string; readonly queryId: string },
    signal: AbortSignal,
  ): Promise<ExchangeCall> => {
    const { bootId } = facts ?? (await heartbeat(signal));
    const call = client.exchange(await signTask(task, { ...subject, bootId }, signing), signal);
    try {
      await sendTask(task, { name, call, stallMs, signal });
      return call;
    } catch (caught) {
      call[Symbol.dispose]();
      throwIfAborted(signal);
      options.onLost?.();
      throw errorOfCall(name, caught);
    }
  };

  return {
    name,
    kind: 'workers',
    get slots() {
      return facts?.slots ?? 0;
    },
    get isSilent() {
      return isSilent;
    },
    get facts() {
      return facts;
    },
    get running() {
      return running;
    },
    heartbeat,
    async start(task, signal) {
      const bytes = encodeTask(await remoteTask(task, signal));
      const { owner, queryId } = task.request;
      const begin = async () =>
        await startRun({
          name,
          call: await open(bytes, { owner, queryId }, signal),
          task,
          stallMs,
          signal,
          onEnd: leave,
          onLost: () => options.onLost?.(),
        });
      running += 1;
      try {
        const bootId = facts?.bootId;
        return await begin().catch(async (caught: unknown) => {
          // It may be another process under the same address, which knows nothing of its predecessor's signatures.
          const isRefused = caught instanceof QueryError && caught.code === 'FRAGMENT_REFUSED';
          if (!isRefused || (await heartbeat(signal)).bootId === bootId) throw caught;
          return await begin();
        });
      } catch (error) {
        leave();
        throw error;
      }
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => onIdle.add(resolve));
    },
    close: () => client.close(),
  };
}

/** A worker that was found by its address shows a certificate for the name. */
function serverName(tls: ClientTls, { certificateName }: WorkerAddress): Pick<ClientTls, 'serverName'> {
  const name = tls.serverName ?? certificateName;
  return name === undefined ? {} : { serverName: name };
}
