/**
 * Engines inside this process: for the command line and for a function whose sandbox is the boundary. The service uses
 * child processes instead, which survive what a statement does to its engine.
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { abortable, QueryError, throwIfAborted } from '@svc/base';
import type { EngineLease, EngineLimits, EnginePool, EnginePoolStats, LeaseRequest } from '../api.js';
import { EngineInstance } from './engine-instance.js';
import { InProcessLease } from './in-process-lease.js';

export interface InProcessPoolOptions {
  /** Where each instance gets its input and spill folders. */
  readonly folder: string;
  /** Of each instance. */
  readonly limits: EngineLimits;
  /** Instances open at a time; further leases wait. Default 1. */
  readonly maxInstances?: number;
  /** Largest Arrow message, header included. Default 16 MiB. */
  readonly maxMessageBytes?: number;
}

interface Slot {
  readonly instance: EngineInstance;
  readonly folder: string;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly owner: string;
}

/** Leases are served in the order in which they were asked for. */
export function createInProcessPool(options: InProcessPoolOptions): EnginePool {
  return new InProcessPool(options);
}

class InProcessPool implements EnginePool {
  private readonly options: InProcessPoolOptions;
  private readonly maxInstances: number;
  private readonly leased = new Map<InProcessLease, Slot>();
  private idle: Slot[] = [];
  private readonly waiting: (() => void)[] = [];
  /** Slots that are being opened. */
  private opening = 0;
  private replaced = 0;
  private isClosed = false;

  constructor(options: InProcessPoolOptions) {
    this.options = options;
    this.maxInstances = Math.max(1, options.maxInstances ?? 1);
  }

  async lease(request: LeaseRequest): Promise<EngineLease> {
    this.assertOpen();
    throwIfAborted(request.signal);
    await this.waitForTurn(request.signal);
    this.assertOpen();
    const slot = await this.takeSlot(request.owner);
    const lease = new InProcessLease({
      instance: slot.instance,
      inputDirectory: slot.inputDirectory,
      outputDirectory: slot.outputDirectory,
      onRelease: (isReusable) => this.giveBack(lease, isReusable),
    });
    this.leased.set(lease, slot);
    this.opening -= 1;
    return lease;
  }

  stats(): EnginePoolStats {
    const { limits } = this.options;
    return {
      hosts: this.leased.size + this.idle.length,
      idle: this.idle.length,
      leased: this.leased.size,
      waiting: this.waiting.length,
      replaced: this.replaced,
      memoryUsedBytes: this.leased.size * limits.memoryBytes,
      memoryLimitBytes: this.maxInstances * limits.memoryBytes,
    };
  }

  async close(deadlineMs: number): Promise<void> {
    this.isClosed = true;
    const deadline = new AbortController();
    // Unlike that of AbortSignal.timeout, this timer keeps the process alive until it has fired.
    const timer = setTimeout(() => deadline.abort(), Math.max(0, deadlineMs));
    try {
      while (this.leased.size + this.opening > 0 && !deadline.signal.aborted)
        await this.nextTurn(deadline.signal).catch(() => {});
    } finally {
      clearTimeout(timer);
    }
    await this.destroy();
  }

  async destroy(): Promise<void> {
    this.isClosed = true;
    await Promise.all([...this.leased.keys()].map((lease) => lease.release()));
    await Promise.all(this.idle.splice(0).map((slot) => removeSlot(slot)));
    for (const wake of this.waiting.splice(0)) wake();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.destroy();
  }

  private assertOpen(): void {
    if (this.isClosed) throw new QueryError('SHUTTING_DOWN', 'The engine is shutting down.');
  }

  /** Resolves when one more lease fits, and counts it as opening. */
  private async waitForTurn(signal: AbortSignal | undefined): Promise<void> {
    while (this.leased.size + this.opening >= this.maxInstances) {
      await this.nextTurn(signal);
      this.assertOpen();
    }
    this.opening += 1;
  }

  private async nextTurn(signal: AbortSignal | undefined): Promise<void> {
    let wake = () => {};
    const turn = new Promise<void>((resolve) => {
      wake = resolve;
    });
    this.waiting.push(wake);
    try {
      await abortable(turn, signal);
    } finally {
      const position = this.waiting.indexOf(wake);
      if (position !== -1) this.waiting.splice(position, 1);
    }
  }

  /** An idle instance of the owner, or a new one in the place of another owner's. */
  private async takeSlot(owner: string): Promise<Slot> {
    try {
      const position = this.idle.findIndex((slot) => slot.owner === owner);
      if (position !== -1) {
        const [slot] = this.idle.splice(position, 1);
        if (slot !== undefined) return slot;
      }
      if (this.idle.length + this.leased.size + this.opening > this.maxInstances) {
        const evicted = this.idle.shift();
        if (evicted !== undefined) await removeSlot(evicted);
      }
      return await this.openSlot(owner);
    } catch (error) {
      this.opening -= 1;
      this.waiting.shift()?.();
      throw error;
    }
  }

  private async openSlot(owner: string): Promise<Slot> {
    const { limits, maxMessageBytes } = this.options;
    await mkdir(this.options.folder, { recursive: true });
    const folder = await mkdtemp(join(this.options.folder, 'engine-'));
    const inputDirectory = join(folder, 'input');
    const outputDirectory = join(folder, 'output');
    const tempDirectory = join(folder, 'temp');
    try {
      for (const path of [inputDirectory, outputDirectory, tempDirectory]) await mkdir(path);
      const instance = EngineInstance.open({
        ...limits,
        inputDirectory,
        outputDirectory,
        tempDirectory,
        ...(maxMessageBytes === undefined ? {} : { maxMessageBytes }),
      });
      return { instance, folder, inputDirectory, outputDirectory, owner };
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  private async giveBack(lease: InProcessLease, isReusable: boolean): Promise<void> {
    const slot = this.leased.get(lease);
    if (slot === undefined) return;
    const isKept = isReusable && !this.isClosed && (await this.resetSlot(slot));
    if (!isKept) {
      this.replaced += 1;
      await removeSlot(slot);
    }
    this.leased.delete(lease);
    if (isKept) this.idle.push(slot);
    this.waiting.shift()?.();
  }

  /** Whether the instance is as new. */
  private async resetSlot(slot: Slot): Promise<boolean> {
    try {
      slot.instance.reset();
      for (const path of [slot.inputDirectory, slot.outputDirectory]) {
        await rm(path, { recursive: true, force: true });
        await mkdir(path);
      }
      return !slot.instance.isUnusable;
    } catch {
      return false;
    }
  }
}

async function removeSlot(slot: Slot): Promise<void> {
  slot.instance.close();
  await rm(slot.folder, { recursive: true, force: true });
}
