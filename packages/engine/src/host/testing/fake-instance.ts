import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, QueryError } from '@svc/base';
import type { EngineProfile } from '../../api.js';
import type {
  EngineRuntime,
  HostCursor,
  HostIngest,
  HostInstance,
  HostInstanceOptions,
  HostMessage,
  HostQuery,
} from '../instance-interface.js';

/**
 * An engine without DuckDB for the tests of hosts and pool. Its statements:
 * `messages COUNT BYTES` answers that many messages, each filled with its number; `endless BYTES` never ends;
 * `stuck` answers a schema and then blocks until interrupted; `stubborn` answers a schema, makes the input file
 * `blocking` and then blocks for ever; `sleep` blocks until interrupted; `crash` ends the process; `abort` does so
 * by a native abort; `hog BYTES` keeps that much memory; `fail CODE TEXT` throws; `mark NAME` is remembered by the instance. As text queries: `marks`,
 * `pid`, `echo` (with its parameters).
 */
export function createFakeRuntime(): EngineRuntime {
  const interrupts = new SharedArrayBuffer(4);
  return {
    open: (options) => new FakeInstance(options, new Int32Array(interrupts)),
    controlModule: new URL('./fake-control.js', import.meta.url).href,
    controlData: interrupts,
  };
}

/** Memory that is never given back. */
const hogged: Buffer[] = [];

class FakeInstance implements HostInstance {
  readonly connectionAddress = 1;
  readonly isUnusable = false;
  readonly #options: HostInstanceOptions;
  readonly #interrupts: Int32Array;
  readonly #marks: string[] = [];

  constructor(options: HostInstanceOptions, interrupts: Int32Array) {
    this.#options = options;
    this.#interrupts = interrupts;
  }

  execute(statements: readonly string[]): void {
    for (const sql of statements) {
      const [verb, name] = sql.split(' ');
      if (verb === 'mark') this.#marks.push(name ?? '');
      else this.#act(sql);
    }
  }

  queryText(sql: string, parameters: readonly string[]): string {
    this.#act(sql);
    const answers: Readonly<Record<string, string>> = {
      marks: this.#marks.join(','),
      pid: String(process.pid),
    };
    return answers[sql] ?? [sql, ...parameters].join('|');
  }

  describe(sql: string) {
    this.#act(sql);
    return {
      schema: Buffer.from(`schema of ${sql}`),
      parameterSchema: Buffer.from('none'),
      parameterCount: 0,
    };
  }

  query(request: HostQuery): HostCursor {
    this.#act(request.sql);
    const [verb, first, second] = request.sql.split(' ');
    const count = verb === 'endless' ? Number.POSITIVE_INFINITY : Number(first ?? 0);
    const bodyBytes = Number((verb === 'endless' ? first : second) ?? 0);
    const checks: Readonly<Record<string, () => void>> = {
      stuck: () => this.#sleep(),
      stubborn: () => this.#blockForEver(),
    };
    return fakeCursor(count, bodyBytes, checks[verb ?? ''] ?? this.#interruptCheck());
  }

  /** Counts bytes instead of rows. */
  ingest(): HostIngest {
    let byteCount = 0n;
    return {
      write: (piece) => {
        byteCount += BigInt(piece.length);
      },
      finish: () => byteCount,
      close: () => undefined,
    };
  }

  reset(): void {
    this.#marks.length = 0;
  }

  close(): void {
    this.#marks.length = 0;
  }

  #act(sql: string): void {
    const [verb, code, ...words] = sql.split(' ');
    if (verb === 'sleep') this.#sleep();
    if (verb === 'crash') process.kill(process.pid, 'SIGKILL');
    if (verb === 'abort') process.abort();
    if (verb === 'hog') hogged.push(Buffer.alloc(Number(code), 1));
    if (verb === 'fail') throw new QueryError(code as ErrorCode, words.join(' '));
  }

  #sleep(): void {
    Atomics.wait(this.#interrupts, 0, Atomics.load(this.#interrupts, 0));
    throw new QueryError('INTERNAL_ERROR', 'interrupted');
  }

  #blockForEver(): void {
    writeFileSync(join(this.#options.inputDirectory, 'blocking'), '');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  }

  #interruptCheck(): () => void {
    const before = Atomics.load(this.#interrupts, 0);
    return () => {
      if (Atomics.load(this.#interrupts, 0) !== before) throw new QueryError('INTERNAL_ERROR', 'interrupted');
    };
  }
}

function fakeCursor(count: number, bodyBytes: number, checkInterrupt: () => void): HostCursor {
  let index = 0;
  return {
    schema: Buffer.from('schema'),
    hasFirstRows: false,
    next(region): HostMessage | undefined {
      checkInterrupt();
      if (index >= count) return undefined;
      const isInRegion = bodyBytes <= region.length;
      const body = isInRegion ? region.subarray(0, bodyBytes) : Buffer.alloc(bodyBytes);
      body.fill(index % 256);
      const header = Buffer.from(`header ${index++}`);
      return {
        kind: 'batch',
        header,
        body,
        isInRegion,
        rowCount: 1,
        isLast: index === count && index % 2 === 0,
      };
    },
    close: () => undefined,
    profile: (): EngineProfile => ({
      rowsReturned: BigInt(index),
      rowsScanned: 2n ** 60n,
      spilledBytes: 0n,
      peakMemoryBytes: 0n,
      cpuSeconds: 0.25,
    }),
  };
}
