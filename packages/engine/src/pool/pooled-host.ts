import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { EngineLimits } from '../api.js';
import { HostProcess } from '../host/host-process.js';
import type { HostPoolSettings } from './pool-options.js';

/**
 * A host as the pool keeps it, with its own folder.
 *
 * States: preparing (its instance is being reopened), idle, leased, dead. `owner` is whose instance it is: undefined
 * while fresh, so that anyone may have it.
 */
export class PooledHost {
  readonly process: HostProcess;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  readonly #folder: string;
  readonly #keptInputBytes: number;
  state: 'preparing' | 'idle' | 'leased' | 'dead' = 'idle';
  owner: string | undefined;
  /** The instance is not to be used again. */
  isTainted = false;
  /** The instance was prepared for its next lease with the last statement. */
  isReset = false;
  /** The folders that a lease asked for: what it may have left files in. */
  readonly usedFolders = new Set<'input' | 'output'>();
  /** The process is not to be used again. */
  isSpent = false;
  leaseCount = 0;
  idleSinceMs = 0;

  private constructor(process: HostProcess, folder: string, keptInputBytes: number) {
    this.#keptInputBytes = keptInputBytes;
    this.process = process;
    this.#folder = folder;
    this.inputDirectory = inputOf(folder);
    this.outputDirectory = outputOf(folder);
  }

  static async start(folder: string, limits: EngineLimits, settings: HostPoolSettings): Promise<PooledHost> {
    const inputDirectory = inputOf(folder);
    const outputDirectory = outputOf(folder);
    const tempDirectory = join(folder, 'temp');
    for (const path of [folder, inputDirectory, outputDirectory, tempDirectory])
      mkdirSync(path, { mode: 0o700 });
    try {
      const process = await HostProcess.start({
        entry: settings.hostEntry,
        settings: {
          limits,
          inputDirectory,
          outputDirectory,
          tempDirectory,
          layout: settings.layout,
          memoryGuard: settings.memoryGuard,
        },
        cancelGraceMs: settings.cancelGraceMs,
      });
      return new PooledHost(process, folder, settings.keptInputBytes);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
  }

  /** Enough free slots for a full result; readers of earlier results may still hold some. */
  get hasSlots(): boolean {
    const { layout, takenCount } = this.process.slots;
    return layout.slotCount - takenCount >= layout.slotsPerResult;
  }

  /** Prepares the instance for the same owner's next lease: names, data and settings gone, input files kept up to
   * the budget. */
  async reset(): Promise<void> {
    if (this.usedFolders.has('input') && directoryBytes(this.inputDirectory) > this.#keptInputBytes)
      await emptyFolder(this.inputDirectory);
    if (this.usedFolders.has('output')) await emptyFolder(this.outputDirectory);
    this.usedFolders.clear();
    if (!this.isReset) await this.process.prepare('reset');
    this.isReset = false;
  }

  /** Opens another instance, for anyone; nothing is left of the former owner's files. */
  async makeFresh(): Promise<void> {
    for (const folder of [this.inputDirectory, this.outputDirectory]) await emptyFolder(folder);
    await this.process.prepare('open');
    this.usedFolders.clear();
    this.isReset = false;
    this.isTainted = false;
  }

  /** Ends the process and removes its folder. */
  async end(): Promise<void> {
    this.process.kill('closed');
    await this.process.exited;
    await rm(this.#folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Links keep the blocks of files that a cache has already given up. System calls in a row take less than waking a thread. */
function directoryBytes(folder: string): number {
  const sizes = readdirSync(folder).map(
    (name) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0,
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

async function emptyFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
  await mkdir(path, { mode: 0o700 });
}

function outputOf(folder: string): string {
  return join(folder, 'output');
}

function inputOf(folder: string): string {
  return join(folder, 'input');
}
