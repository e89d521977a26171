import { readFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';

/** What the process may use of the machine; the defaults of sizes and concurrency follow from it. */
export interface Machine {
  readonly cores: number;
  readonly memoryBytes: number;
}

/** Reads the machine as this process is allowed to use it: inside a container its limits, not the host's size. */
export function readMachine(): Machine {
  const limit = process.constrainedMemory();
  const total = totalmem();
  const quota = cpuQuota(readText);
  return {
    cores: Math.max(1, Math.min(availableParallelism(), quota === undefined ? Infinity : Math.ceil(quota))),
    // Without a limit the operating system reports 0 or a number near 2⁶⁴.
    memoryBytes: limit > 0 && limit < total ? limit : total,
  };
}

/**
 * Cores that the control group of this process may use on average, undefined without a quota. Node 20 does not look
 * at it itself. Version 2 writes "<quota or max> <period>" into one file, version 1 uses two files.
 */
export function cpuQuota(read: (path: string) => string | undefined): number | undefined {
  const own = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup') ?? '')?.[1] ?? '/';
  const v2 = read(`/sys/fs/cgroup${own === '/' ? '' : own}/cpu.max`) ?? read('/sys/fs/cgroup/cpu.max');
  const [quota, period] =
    v2 !== undefined
      ? v2.trim().split(/\s+/)
      : [read('/sys/fs/cgroup/cpu/cpu.cfs_quota_us'), read('/sys/fs/cgroup/cpu/cpu.cfs_period_us')];
  const cores = Number(quota) / Number(period);
  return Number.isFinite(cores) && cores > 0 ? cores : undefined;
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
