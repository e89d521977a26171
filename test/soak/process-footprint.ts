import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** What a process holds that could leak. Linux only. */
export interface Footprint {
  readonly descriptors: number;
  readonly children: readonly number[];
  readonly sharedMemoryFiles: number;
  /** Engine rings still mapped, also of hosts that are gone. */
  readonly ringMappings: number;
  /** Private memory, in bytes: heap and buffers, not shared mappings or file pages. */
  readonly privateBytes: number;
}

export function readFootprint(): Footprint {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    children: childProcesses(),
    sharedMemoryFiles: readdirSync('/dev/shm').length,
    ringMappings: readFileSync('/proc/self/maps', 'utf8').split('svc-engine-ring').length - 1,
    privateBytes: privateBytes(),
  };
}

export function privateBytes(): number {
  const status = readFileSync('/proc/self/status', 'utf8');
  return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
}

/** The child whose arguments contain the text. */
export function childNaming(text: string): number | undefined {
  return childProcesses().find((pid) => argumentsOf(pid).includes(text));
}

/** Collects garbage and lets finalisers run. */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  for (let round = 0; round < 3; round++) {
    collect();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** What the descriptors of this process are, for a failure's message. */
export function describeDescriptors(): string {
  const name = (fd: string) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return 'closed';
    }
  };
  return readdirSync('/proc/self/fd').map(name).sort().join('\n');
}

/** Those of a process that has ended are none. */
export function childProcesses(of: number | 'self' = 'self'): number[] {
  try {
    return readdirSync(`/proc/${of}/task`).flatMap((thread) =>
      readFileSync(`/proc/${of}/task/${thread}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
    );
  } catch {
    return [];
  }
}

function argumentsOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
