/**
 * A fragment that is run for one split after another on one engine: what a worker, a function and the local executor have
 * in common. Tables and inputs that all splits need are staged once.
 */
import { QueryError, throwIfAborted } from '@svc/base';
import type { EngineResult } from '@svc/engine';
import { gatherTables } from '../gather-tables.js';
import {
  bindTables,
  type FragmentEnvironment,
  type FragmentOptions,
  fragmentStatistics,
  type LeasedFragment,
  onLease,
  resultTooLarge,
  type StagedTable,
  scanSql,
  stagedGroups,
  stageTables,
  startStatement,
} from '../leased-fragment.js';
import { namingOriginalFiles } from '../original-files.js';
import type { FragmentScan } from '../request.js';
import { qualified } from '../views/view-sql.js';
import { sharedTables } from './shared-tables.js';
import { SplitStager } from './split-stager.js';
import type { SplitEvent, SplitRequest, SplitRun } from './split-task.js';

/** Other tables may be brought beside the first split where they are small: they do not take its room. */
const maxBesideBytes = 64 * 1024 * 1024;

/**
 * Starts a task. Resolves when the schema is known, which is when the first split is staged. Throws QueryError; then
 * nothing is left behind. What goes wrong later, events throw: splits that have ended count nevertheless.
 */
export async function runSplits(
  request: SplitRequest,
  environment: FragmentEnvironment,
  options: FragmentOptions,
): Promise<SplitRun> {
  const { splitTable, splits } = request;
  const divided = splitTable === undefined ? undefined : request.tables[splitTable];
  if (splits.length === 0 || (splitTable === undefined ? splits.length > 1 : divided?.kind !== 'scan'))
    throw new QueryError('INTERNAL_ERROR', 'The splits of a fragment are of no table of it.');
  return await onLease(request, environment, options, async (fragment) => {
    const run = new SplitsOnLease(fragment, request, divided?.kind === 'scan' ? divided : undefined);
    try {
      return await run.start();
    } catch (error) {
      await run.close();
      throwIfAborted(fragment.link.signal);
      throw error;
    }
  });
}

/** A split that the engine computes. */
interface RunningSplit {
  readonly index: number;
  /** What it reads: of the first one, all tables that are staged once too. */
  readonly staged: readonly StagedTable[];
  readonly result: EngineResult;
  readonly stagingMs: number;
  engineMs: number;
}

class SplitsOnLease {
  readonly #fragment: LeasedFragment;
  readonly #request: SplitRequest;
  readonly #divided: FragmentScan | undefined;
  readonly #stager: SplitStager | undefined;
  readonly #mayBeginEarly: boolean;
  #closing: Promise<void> | undefined;
  #engineDone: Promise<void> | undefined;
  /** Whether the divided table's name is one of rows that the engine has taken over. */
  #isTable = false;
  /** Statements that make the fragment's names, as long as nobody has run them. */
  #setup: readonly string[] = [];
  #resultBytes = 0;

  constructor(leased: LeasedFragment, request: SplitRequest, divided: FragmentScan | undefined) {
    this.#request = request;
    this.#divided = divided;
    const shared = sharedTables(request, leased.environment);
    this.#fragment = { ...leased, request: shared.request, environment: shared.environment };
    this.#mayBeginEarly = !shared.narrowsSplits && besideBytes(request) <= maxBesideBytes;
    if (divided === undefined) return;
    const { splits } = request;
    this.#stager = new SplitStager({ fragment: leased, table: divided, splits, filters: shared.filters });
  }

  async start(): Promise<SplitRun> {
    const { link } = this.#fragment;
    const began = performance.now();
    if (this.#mayBeginEarly) this.#stager?.begin(0);
    const whole = await stageTables(this.#fragment);
    this.#stager?.begin(0);
    this.#setup = await bindTables(this.#fragment, whole);
    const first = await this.#startSplit(0, { staged: whole, stagingMs: performance.now() - began });
    // A caller that went away may not come back for its events.
    const onAbort = () => void this.close().catch(() => undefined);
    if (link.signal.aborted) throwIfAborted(link.signal);
    link.signal.addEventListener('abort', onAbort, { once: true });
    return { schema: first.result.schema, events: this.#pulled(first) };
  }

  /** Gives the engine back once nothing is staged any more. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { link, lease } = this.#fragment;
    try {
      await this.#stager?.close();
    } finally {
      link[Symbol.dispose]();
      await lease.release();
    }
  }

  /** Written out and not a generator's own: `return()` must end the work even when nothing has been read yet. */
  #pulled(first: RunningSplit): AsyncIterable<SplitEvent> {
    const { link } = this.#fragment;
    const events = this.#events(first);
    let hasBegun = false;
    return {
      [Symbol.asyncIterator]: () => ({
        next() {
          hasBegun = true;
          return events.next();
        },
        return: async () => {
          if (!hasBegun) await first.result.messages[Symbol.asyncIterator]().return?.();
          // Ends what a reader may be waiting for at the same time.
          link.abort(new QueryError('CANCELLED', 'The rows were no longer needed.'));
          await events.return().catch(() => undefined);
          await this.close();
          return { done: true, value: undefined };
        },
      }),
    };
  }

  async *#events(first: RunningSplit): AsyncGenerator<SplitEvent, void, undefined> {
    const { splits } = this.#request;
    try {
      let running = first;
      for (;;) {
        yield* this.#eventsOf(running);
        const index = running.index + 1;
        if (index >= splits.length) return;
        await this.#stager?.drop(running.index);
        running = await this.#startSplit(index, { staged: [], stagingMs: 0 });
        if (!Buffer.from(running.result.schema).equals(first.result.schema)) throw otherSchema();
      }
    } catch (error) {
      throwIfAborted(this.#fragment.link.signal);
      throw error;
    } finally {
      await this.close();
    }
  }

  async *#eventsOf(running: RunningSplit): AsyncGenerator<SplitEvent, void, undefined> {
    const { splits, limits } = this.#request;
    const { result, staged, index } = running;
    const split = splits[index]?.id ?? 0;
    let rowCount = 0n;
    try {
      for await (const message of result.messages) {
        this.#resultBytes += message.body.byteLength;
        if (this.#resultBytes > limits.resultBytes) {
          message.release();
          throw resultTooLarge(limits);
        }
        if (message.kind === 'batch') rowCount += BigInt(message.rowCount);
        yield { kind: 'message', split, message };
      }
    } catch (error) {
      throw namingOriginalFiles(error, stagedGroups(staged));
    }
    await this.#engineDone;
    const { stagingMs, engineMs } = running;
    const statistics = fragmentStatistics(staged, result.profile(), { stagingMs, engineMs });
    yield { kind: 'end', split, rowCount, statistics };
  }

  /** `staged`: what is staged already, and counts for this split. */
  async #startSplit(
    index: number,
    { staged, stagingMs }: Pick<RunningSplit, 'staged' | 'stagingMs'>,
  ): Promise<RunningSplit> {
    const ready = await this.#stager?.take(index);
    this.#stager?.begin(index + 1);
    // The engine takes rows over by statements of their own: what they need comes before.
    if (ready?.rows.kind === 'parts') await this.#execute(this.#takeSetup());
    const own =
      ready?.rows.kind === 'parts' ? await this.#gather(ready.table, ready.rows.parts) : ready?.rows.staged;
    const all = own === undefined ? staged : [...staged, own];
    const began = performance.now();
    const onlyTable = this.#divided === undefined ? staged[0] : own;
    const bind = async () => {
      const setup = this.#takeSetup();
      return ready?.rows.kind === 'staged'
        ? [...setup, ...this.#bindSql(ready.table, ready.rows.staged)]
        : setup;
    };
    const isLast = index + 1 >= this.#request.splits.length;
    const result = await startStatement(this.#fragment, onlyTable, { bind, isLast }).catch(
      (error: unknown) => {
        throw namingOriginalFiles(error, stagedGroups(all));
      },
    );
    const running: RunningSplit = {
      index,
      staged: all,
      result,
      stagingMs: Math.max(stagingMs, ready?.stagingMs ?? 0),
      engineMs: 0,
    };
    this.#engineDone = result.engineDone.then(async () => {
      running.engineMs = performance.now() - began;
      // What has not been read yet stays readable.
      if (isLast) await this.#fragment.lease.release();
    });
    this.#engineDone.catch(() => undefined); // Reported to whoever reads.
    return running;
  }

  /** A split whose pages are read without the engine leaves it to the next one. */
  #takeSetup(): readonly string[] {
    const setup = this.#setup;
    this.#setup = [];
    return setup;
  }

  async #execute(statements: readonly string[]): Promise<void> {
    const { lease, link } = this.#fragment;
    if (statements.length > 0) await lease.execute(statements, link.signal);
  }

  /** What gives the divided table's name to the rows of a split. */
  #bindSql(table: FragmentScan, staged: StagedTable): readonly string[] {
    const statements = [this.#dropSql(table), scanSql(table, staged)];
    this.#isTable = false;
    return statements;
  }

  /** As `#bindSql`, where a split does not fit into the staging space: then the engine takes its rows over. */
  async #gather(table: FragmentScan, parts: readonly FragmentScan[]): Promise<StagedTable> {
    await this.#execute([this.#dropSql(table)]);
    this.#isTable = true;
    const [gathered] = await gatherTables(this.#fragment, [{ table, parts }]);
    if (gathered === undefined) throw new QueryError('INTERNAL_ERROR', 'A split has no rows.');
    return gathered;
  }

  #dropSql(table: FragmentScan): string {
    return `DROP ${this.#isTable ? 'TABLE' : 'VIEW'} ${qualified(table)}`;
  }
}

function besideBytes({ tables, splitTable }: SplitRequest): number {
  return tables.reduce(
    (sum, table, index) =>
      table.kind === 'scan' && index !== splitTable ? sum + table.scan.counts.bytesPlanned : sum,
    0,
  );
}

function otherSchema(): QueryError {
  return new QueryError('INTERNAL_ERROR', 'Two splits of a fragment answer rows of different columns.');
}
