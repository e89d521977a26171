import { readFileSync, writeFileSync } from 'node:fs';
import { QueryError } from '@svc/base';
import type { EngineLimits } from '../api.js';
import { limitDataMemory } from '../shm/libc.js';

/*
 * What a host takes beyond the engine's own `memory_limit`, which it may use up before it spills: measured with sorts,
 * aggregates and windows over TPC-H lineitem at limits of 256 MB to 2 GB with two threads, the private memory was up
 * to 363 MB above the limit (results on their way, memory the engine does not count, allocator slack). A query
 * that spills must not meet the system's limit, so there is room to spare.
 */
const ALLOWANCE_BYTES = 384 << 20;
const SLACK_SHARE = 0.25;
/** Stack and allocator arenas of one engine thread. */
const PER_THREAD_BYTES = 32 << 20;

/**
 * Bounds this process through the operating system (Linux), before the engine opens: what is mapped now, plus the
 * engine's limit, plus what goes with it. The engine's own limit does not hold for every allocation (a constant-folded
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
  return (
    Math.ceil(limits.memoryBytes * (1 + SLACK_SHARE)) + limits.threads * PER_THREAD_BYTES + ALLOWANCE_BYTES
  );
}

/** VmData of this process: its private writable mappings, in bytes. */
function mappedDataBytes(): number {
  const kilobytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'latin1'))?.[1];
  return Number(kilobytes ?? 0) * 1024;
}
