import { parentPort, workerData } from 'node:worker_threads';
import { waitReadable } from '../shm/libc.js';
import { readBlocking, writeBlocking } from './blocking-channel.js';
import {
  type ControlRequest,
  controlRequestBytes,
  decodeControlRequest,
  encodeControlAnswer,
} from './control-protocol.js';
import type { ControlModule, EngineControl } from './instance-interface.js';
import { createSharedState } from './shared-state.js';

/**
 * The watcher thread of an engine host. It reads the control pipe while the main thread is inside the engine:
 * interrupts a cancelled request until it is over, answers progress, and ends the process when the parent is gone
 * or, where the system does not limit memory, when the host has outgrown its limit.
 */
export interface WatcherData {
  readonly controlFd: number;
  readonly state: SharedArrayBuffer;
  readonly controlModule: string;
  readonly controlData: unknown;
  /** Resident bytes at which the host ends itself; absent where the system enforces a limit. */
  readonly residentLimitBytes?: number;
}

/** An interrupt is lost when it meets the engine between two statements, so it is repeated until the request ends. */
const INTERRUPT_EVERY_MS = 5;
const MEMORY_CHECK_EVERY_MS = 100;

const data = workerData as WatcherData;
const state = createSharedState(data.state);
const { createControl } = (await import(data.controlModule)) as ControlModule;
const control = createControl(data.controlData);
parentPort?.postMessage('watching');
watch(control);

function watch(control: EngineControl): void {
  const pending = Buffer.alloc(controlRequestBytes);
  let received = 0;
  let cancelling: number | undefined;
  for (;;) {
    if (cancelling !== undefined) cancelling = interruptUntilOver(control, cancelling);
    checkMemory();
    if (!waitReadable(data.controlFd, waitMs(cancelling))) continue;
    const byteLength = readBlocking(data.controlFd, pending.subarray(received));
    if (byteLength === 0) process.kill(process.pid, 'SIGKILL');
    received += byteLength;
    if (received < controlRequestBytes) continue;
    received = 0;
    const request = decodeControlRequest(pending);
    if (request) cancelling = answer(control, request, cancelling);
  }
}

function waitMs(cancelling: number | undefined): number {
  if (cancelling !== undefined) return INTERRUPT_EVERY_MS;
  return data.residentLimitBytes === undefined ? -1 : MEMORY_CHECK_EVERY_MS;
}

/** Answers what is left to cancel. */
function answer(
  control: EngineControl,
  request: ControlRequest,
  cancelling: number | undefined,
): number | undefined {
  if (request.kind === 'cancel') {
    state.requestCancel(request.id);
    return request.id;
  }
  const connection = state.connection();
  const isRunning = state.runningId() === request.id && connection !== 0;
  const progress = isRunning
    ? control.progress(connection)
    : { fraction: undefined, rowsProcessed: 0n, rowsTotal: 0n };
  writeBlocking(data.controlFd, encodeControlAnswer({ kind: 'progress', id: request.id, progress }));
  return cancelling;
}

function interruptUntilOver(control: EngineControl, id: number): number | undefined {
  if (state.runningId() !== id) {
    writeBlocking(data.controlFd, encodeControlAnswer({ kind: 'cancelled', id }));
    return undefined;
  }
  const connection = state.connection();
  if (connection !== 0) control.interrupt(connection);
  return id;
}

function checkMemory(): void {
  if (data.residentLimitBytes === undefined || process.memoryUsage.rss() <= data.residentLimitBytes) return;
  writeBlocking(data.controlFd, encodeControlAnswer({ kind: 'memoryExceeded', id: state.runningId() }));
  process.kill(process.pid, 'SIGKILL');
}
