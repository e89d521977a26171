import assert from 'node:assert/strict';
import type {
  EngineLease,
  EngineMessage,
  EnginePool,
  EnginePoolStats,
  EngineProfile,
  EngineQuery,
  EngineResult,
  LeaseRequest,
  ParquetRead,
} from '@svc/engine';

type Step = 'lease' | 'execute' | 'text' | 'query' | 'read' | 'message';

export interface FakeEngineOptions {
  /** Bytes of each message of the result; each has 10 rows. */
  readonly messages?: readonly number[];
  /** Which step fails, with `failure`. */
  readonly failOn?: Step;
  /** How often that step succeeds before it fails. */
  readonly failAfter?: number;
  readonly failure?: Error;
  /** To queries of one text, in order. */
  readonly texts?: readonly string[];
  /** After its messages the result never ends by itself. */
  readonly isEndless?: boolean;
  readonly inputDirectory?: string;
  /** The engine is done as soon as it has begun: everything waits in the spool. */
  readonly runsAhead?: boolean;
}

const stats: EnginePoolStats = {
  hosts: 1,
  idle: 0,
  leased: 1,
  waiting: 0,
  replaced: 0,
  memoryUsedBytes: 0,
  memoryLimitBytes: 0,
};

const profile: EngineProfile = {
  rowsReturned: 30n,
  rowsScanned: 100n,
  spilledBytes: 5n,
  peakMemoryBytes: 1_000_000n,
  cpuSeconds: 0.5,
};

/** An engine that answers what it is told to and remembers, in order, what was asked of it. */
export class FakeEngine implements EnginePool {
  readonly events: string[] = [];
  readonly leases: LeaseRequest[] = [];
  readonly statements: string[] = [];
  readonly queries: EngineQuery[] = [];
  readonly reads: ParquetRead[] = [];
  readonly texts: string[] = [];
  readonly ingested: Uint8Array[] = [];
  /** Messages given out and not yet released. */
  unreleased = 0;
  #failing = 0;
  readonly #options: FakeEngineOptions;

  constructor(options: FakeEngineOptions = {}) {
    this.#options = options;
  }

  async lease(request: LeaseRequest): Promise<EngineLease> {
    this.leases.push(request);
    this.#step('lease');
    return {
      inputDirectory: this.#options.inputDirectory ?? '/input',
      outputDirectory: '/output',
      execute: async (statements) => {
        this.statements.push(...statements);
        this.#step('execute');
      },
      query: async ({ before = [], ...query }) => {
        this.statements.push(...before);
        if (before.length > 0) this.#step('execute');
        this.queries.push(query);
        this.#step('query');
        return this.#result(query);
      },
      readParquet: async (read) => {
        this.reads.push(read);
        this.#step('read');
        return this.#result(read);
      },
      release: async () => {
        this.events.push('release');
      },
      queryText: async (sql) => {
        this.texts.push(sql);
        this.#step('text');
        return this.#options.texts?.[this.texts.length - 1] ?? assert.fail('not asked for');
      },
      describe: () => Promise.reject(new Error('not asked for')),
      ingest: async (table, stream) => {
        this.events.push(`ingest ${table.table}`);
        for await (const piece of stream) this.ingested.push(piece);
        return 0n;
      },
      taint: () => undefined,
      [Symbol.asyncDispose]: async () => undefined,
    };
  }

  stats(): EnginePoolStats {
    return stats;
  }

  async close(): Promise<void> {}
  async destroy(): Promise<void> {}
  async [Symbol.asyncDispose](): Promise<void> {}

  #step(name: Step): void {
    this.events.push(name);
    if (this.#options.failOn !== name) return;
    this.#failing += 1;
    if (this.#failing > (this.#options.failAfter ?? 0))
      throw this.#options.failure ?? new Error(`${name} failed`);
  }

  #result(query: Pick<EngineQuery, 'signal'>): EngineResult {
    let onDone: () => void = () => undefined;
    const engineDone = new Promise<void>((resolve) => {
      onDone = resolve;
    });
    if (this.#options.runsAhead) onDone();
    const sizes = [...(this.#options.messages ?? [])];
    const next = async (): Promise<IteratorResult<EngineMessage, undefined>> => {
      try {
        this.#step('message');
        const size = sizes.shift();
        if (size !== undefined) return { done: false, value: this.#message(size) };
        if (this.#options.isEndless) await aborted(query.signal);
        onDone();
        return { done: true, value: undefined };
      } catch (error) {
        onDone();
        throw error;
      }
    };
    return {
      schema: Uint8Array.of(1, 2, 3),
      engineDone,
      profile: () => profile,
      messages: {
        [Symbol.asyncIterator]: () => ({
          next,
          return: async () => {
            this.events.push('return');
            onDone();
            return { done: true, value: undefined };
          },
        }),
      },
    };
  }

  #message(size: number): EngineMessage {
    this.unreleased += 1;
    return {
      kind: 'batch',
      header: new Uint8Array(8),
      body: new Uint8Array(size),
      rowCount: 10,
      release: () => {
        this.unreleased -= 1;
      },
    };
  }
}

function aborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    const onAbort = () => reject(signal?.reason);
    if (signal?.aborted) onAbort();
    else signal?.addEventListener('abort', onAbort, { once: true });
  });
}
