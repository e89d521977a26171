/** Reads what strace writes: which paths and addresses were asked for between the marks of a statement. */
import { closeSync, openSync, readSync } from 'node:fs';
import { markPath } from './traced-protocol.js';

export interface SystemCalls extends Disposable {
  /** Calls by the number of the statement in which they were made, as far as they were not told before. */
  read(): ReadonlyMap<number, readonly string[]>;
}

/** For each system call that takes a path or an address; the filter in the kernel keeps all other calls fast. */
export function straceArguments(tracePath: string): readonly string[] {
  return [
    '-f',
    '-q',
    '--seccomp-bpf',
    '-s',
    '300',
    '-e',
    'trace=%file,%network',
    '-e',
    'signal=none',
    '-o',
    tracePath,
  ];
}

export function readSystemCalls(tracePath: string): SystemCalls {
  const descriptor = openSync(tracePath, 'r');
  const buffer = Buffer.alloc(1 << 20);
  let rest = '';
  let statement: number | undefined;
  return {
    read: () => {
      const calls = new Map<number, string[]>();
      for (let length = readSync(descriptor, buffer); length > 0; length = readSync(descriptor, buffer)) {
        const lines = (rest + buffer.toString('latin1', 0, length)).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) {
          const mark = line.split(`"${markPath('')}`)[1];
          if (mark !== undefined) statement = /^\d+"/.test(mark) ? Number.parseInt(mark, 10) : undefined;
          else if (statement !== undefined && isCall(line))
            calls.set(statement, [...(calls.get(statement) ?? []), line.replace(/^\d+\s+/, '').trim()]);
        }
      }
      return calls;
    },
    [Symbol.dispose]: () => closeSync(descriptor),
  };
}

/** How many processors there are is asked by the C library, whenever it starts a thread. */
const harmless = '"/sys/devices/system/cpu/online"';

/** The end of an interrupted call repeats none of its arguments. */
function isCall(line: string): boolean {
  return /^\d+\s+\w+\(/.test(line) && !line.includes(harmless);
}
