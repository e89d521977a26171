import { readFileSync, writeFileSync } from 'node:fs';
import { QueryError } from '@svc/base';
import type { EngineLimits } from '../api.js';
import { limitDataMemory } from '../shm/libc.js';

/**
 * What a host may take beside the engine's own `memory_limit`: heap of the JavaScript engine, buffers that the
 * engine does not count (results on their way, dictionaries, regular expressions), allocator slack.
 */
const ALLOWANCE_BYTES = 192 << 20;
/** Stack and allocator arena of one engine thread; both count as private writable memory once mapped. */
const PER_THREAD_BYTES = 16 << 20;

/**
 * Bounds this process through the operating system (Linux), before the engine opens: what is mapped now, plus the
 * engine's limit, plus the allowance. The engine's own limit does not hold for every allocation (a constant-folded
 * list of 200 million numbers takes 3.7 GB at a limit of 256 MB).
 */
export function limitMemory(limits: EngineLimits): void {
  if (!limitDataMemory(BigInt(mappedDataBytes() + allowedBytes(limits))))
    throw new QueryError('INTERNAL_ERROR', 'The system refused the memory limit of an engine host.');
}

/** The bound on resident memory, for systems that enforce none. */
export function residentLimit(limits: EngineLimits): number {
  return process.memoryUsage.rss() + allowedBytes(limits);
}

/** When the machine itself runs out of memory, a host is to end and not the service. Best effort, Linux only. */
export function preferAsVictim(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', '500');
  } catch {
    // The system has no such file, or does not let us: it then chooses by size, which is the host's as well.
  }
}

function allowedBytes(limits: EngineLimits): number {
  return limits.memoryBytes + limits.threads * PER_THREAD_BYTES + ALLOWANCE_BYTES;
}

/** VmData of this process: its private writable mappings, in bytes. */
function mappedDataBytes(): number {
  const kilobytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}
