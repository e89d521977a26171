/** What the machine of a function has to give, and the one folder on it that an invocation uses. */
import { mkdir, rm, statfs } from 'node:fs/promises';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import type { EngineLimits } from '@svc/engine';

/** The rest is for Node, for two parts of an answer and for what is being fetched. */
const engineMemoryShare = 0.6;
/** Of the free disk; the engine spills to as much, and something is left for rounding. */
const stagingDiskShare = 0.45;

export interface SandboxPlace {
  readonly folder: string;
  readonly engine: EngineLimits;
  readonly stagingBytes: number;
}

/**
 * A sandbox serves one invocation at a time, so whatever lies in its folder is of one that did not end by itself. Throws
 * DISK_FULL and the like.
 */
export async function openSandbox(root: string, memoryBytes = sandboxMemory()): Promise<SandboxPlace> {
  const folder = join(root, 'svc-fragment');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { bavail, bsize } = await statfs(folder);
  const diskBytes = Math.floor(bavail * bsize * stagingDiskShare);
  return {
    folder,
    engine: {
      memoryBytes: Math.floor(memoryBytes * engineMemoryShare),
      threads: availableParallelism(),
      tempDirectoryBytes: diskBytes,
    },
    stagingBytes: diskBytes,
  };
}

export async function clearSandbox({ folder }: SandboxPlace): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** In megabytes by the service; without it, that of the machine. */
function sandboxMemory(): number {
  const { AWS_LAMBDA_FUNCTION_MEMORY_SIZE } = process.env;
  const told = Number(AWS_LAMBDA_FUNCTION_MEMORY_SIZE);
  return told > 0 ? told * 2 ** 20 : totalmem();
}
