import { QueryError } from '@svc/base';

/** How a host ended. */
export interface HostExit {
  readonly code: number | null;
  readonly signal: string | null;
  /** The last bytes the process wrote to stderr; for the log, never for the user. */
  readonly stderrTail: string;
  /** Why we killed it, if we did. */
  readonly killedFor: 'closed' | 'unresponsive' | 'broken' | 'memory' | undefined;
}

/** Native allocation failures that end a process before the engine can report them. */
const memoryDeath = /out of memory|bad_alloc|cannot allocate memory|allocation failed/i;

/** What a statement that was running when its host ended is told. */
export function exitError(exit: HostExit): QueryError {
  const cause = new Error(`engine host ended: code ${exit.code}, signal ${exit.signal}\n${exit.stderrTail}`);
  if (exit.killedFor === 'memory' || (exit.killedFor === undefined && memoryDeath.test(exit.stderrTail)))
    return new QueryError('OUT_OF_MEMORY', 'The query needs more memory than its limit.', { cause });
  if (exit.killedFor === 'closed')
    return new QueryError('SHUTTING_DOWN', 'The engine was shut down while the query ran.', { cause });
  return new QueryError(
    'ENGINE_CRASHED',
    'The engine process running the query ended unexpectedly; other queries are not affected.',
    { cause },
  );
}

/** Keeps the last `maxBytes` of a stream. */
export class StreamTail {
  readonly #maxBytes: number;
  #tail = Buffer.alloc(0);

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  push(chunk: Buffer): void {
    this.#tail = Buffer.concat([this.#tail, chunk]).subarray(-this.#maxBytes);
  }

  toString(): string {
    return this.#tail.toString('utf8');
  }
}
