import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import type { EngineLease } from '@svc/engine';
import type { IcebergType, NestedField } from '@svc/lake';
import type { FragmentEnvironment } from '../leased-fragment.js';
import { fragmentProtocolVersion } from '../request.js';
import { type WrittenFile, type WrittenFragment, writeFragment } from '../write/write-fragment.js';
import { defaultWriteSettings, type WriteRequest, type WriteTarget } from '../write/write-target.js';
import { openTestPool, type TestPool } from './test-pool.js';

interface TargetOfTest extends Partial<Omit<WriteTarget, 'columns'>> {
  readonly columns: readonly (NestedField | WriteTarget['columns'][number])[];
}

interface RunOptions {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  readonly parameters?: Uint8Array;
  readonly take?: (files: readonly WrittenFile[]) => Promise<void>;
}

/** Fragments that write, on an engine of their own. */
export class TestWriter {
  /** Of the last write, from when it has a lease. */
  outputDirectory: string | undefined;
  readonly #engine: TestPool;
  #lease: EngineLease | undefined;

  constructor(engine: TestPool) {
    this.#engine = engine;
  }

  async write(
    sql: string,
    target: TargetOfTest,
    { signal = new AbortController().signal, timeoutMs = 60_000, take, parameters }: RunOptions = {},
  ): Promise<WrittenFragment> {
    const columns = target.columns.map((column, position) =>
      'field' in column ? column : { field: column, position },
    );
    const request: WriteRequest = {
      protocolVersion: fragmentProtocolVersion,
      queryId: 'q',
      fragmentId: 0,
      lane: 'query',
      owner: 'ada',
      sql,
      tables: [],
      views: [],
      defaultCatalog: 'lake',
      defaultSchema: undefined,
      settings: { TimeZone: 'UTC' },
      setup: [],
      arrow: 'client',
      ...(parameters === undefined ? {} : { parameters }),
      limits: { memoryBytes: 2 ** 28, resultBytes: 2 ** 28, timeoutMs },
      target: { ...defaultWriteSettings, partitions: [], ...target, columns },
    };
    this.outputDirectory = undefined;
    return await writeFragment(request, this.#environment(), {
      signal,
      take: take ?? (async () => undefined),
    });
  }

  /** Writes, and answers what `query` of the files' paths answers while they are there. */
  async writeAndRead(sql: string, target: TargetOfTest, query: (paths: string) => string): Promise<unknown> {
    let answer: unknown;
    await this.write(sql, target, {
      take: async (files) => {
        const paths = `[${files.map(({ path }) => `'${path}'`).join(', ')}]`;
        const text = await this.#lease?.queryText(`SELECT CAST(to_json((${query(paths)})) AS VARCHAR)`, []);
        answer = JSON.parse(text ?? 'null');
      },
    });
    return answer;
  }

  /** The host empties its folder before anybody gets it again. */
  async assertNothingIsLeft(): Promise<void> {
    const lease = await this.#engine.pool.lease({ owner: 'ada', lane: 'query' });
    await lease.release();
    const folder = this.outputDirectory;
    assert.ok(folder !== undefined);
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#engine[Symbol.asyncDispose]();
  }

  #environment(): FragmentEnvironment {
    const { pool } = this.#engine;
    return {
      pool: {
        stats: () => pool.stats(),
        close: (deadlineMs) => pool.close(deadlineMs),
        destroy: () => pool.destroy(),
        [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
        lease: async (asked) => {
          this.#lease = await pool.lease(asked);
          this.outputDirectory = this.#lease.outputDirectory;
          return this.#lease;
        },
      },
      stage: () => Promise.reject(new Error('no tables')),
    };
  }
}

export async function openTestWriter(): Promise<TestWriter> {
  return new TestWriter(await openTestPool());
}

export function field(id: number, name: string, type: IcebergType, required = false): NestedField {
  return { id, name, type, required };
}
