/** The stages of one statement as they run: each as soon as what it needs of others is there, independent ones beside each other. */
import { type Metrics, QueryError } from '@svc/base';
import type { SpoolFile } from '@svc/engine';
import {
  type FragmentExecutor,
  type FragmentInput,
  type FragmentRequest,
  type FragmentResult,
  type FragmentStatistics,
  type FragmentTable,
  fragmentProtocolVersion,
} from '@svc/fragment-fn';
import type { ObjectStore, TableScan } from '@svc/lake';
import type { Stage } from '@svc/sql';
import type { FragmentReport } from '../tracker/fragment-record.js';
import type { BroadcastRules } from './broadcast.js';
import type { Dispatcher } from './dispatcher.js';
import type { ExecutorHealth } from './executor-health.js';
import { GatheredRows } from './gathered-rows.js';
import { type PlannedStages, type StatementContext, stageName, stageRequest } from './planned-stages.js';
import { SplitStage, type SplitStageOptions } from './split-stage.js';
import { StageOutput } from './stage-output.js';
import { StatisticsSum } from './statistics-sum.js';

type FragmentMetrics = Pick<Metrics, 'fragments' | 'fragmentDuration' | 'fragmentSplits' | 'fragmentRows'>;

/** Of the process. */
export interface SchedulerParts {
  readonly dispatcher: Dispatcher;
  readonly health: ExecutorHealth;
  readonly elapsed: () => number;
  readonly metrics: FragmentMetrics;
  readonly openSpool: () => SpoolFile;
  readonly broadcast: BroadcastRules;
  readonly limits: SchedulerLimits;
}

export interface SchedulerLimits {
  /** Of a stage's rows in memory. */
  readonly gatherBytes: number;
  readonly slowReaderMs: number;
  /** How long a stage waits while no executor may be used. */
  readonly patienceMs: number;
}

export interface StageRunsOptions {
  readonly stages: PlannedStages;
  readonly context: StatementContext;
  readonly parts: SchedulerParts;
  readonly executors: () => readonly FragmentExecutor[];
  divide(scan: TableScan, store: ObjectStore | undefined, signal: AbortSignal): Promise<readonly TableScan[]>;
  /** On a host of this process. */
  runLocal(
    request: FragmentRequest,
    stores: readonly (ObjectStore | undefined)[],
    signal: AbortSignal,
  ): Promise<FragmentResult>;
  report(report: FragmentReport): void;
  readonly signal: AbortSignal;
  /** Told of the first failure of a stage: all others shall end. */
  onFailure(error: QueryError): void;
}

/** Rows of an earlier stage; fragments elsewhere ask for them each for itself. */
interface StageInput extends Omit<FragmentInput, 'rows'> {
  rows(signal: AbortSignal): Promise<FragmentInput['rows']>;
}

/** Rows between stages are bounded by where they are kept, and not by what a client may be sent. */
const unboundedBytes = Number.MAX_SAFE_INTEGER;

/** A statement as one node would run it, and what opens its tables' files. */
export interface WholeStatement {
  readonly request: FragmentRequest;
  readonly stores: readonly (ObjectStore | undefined)[];
}

export class StageRuns {
  readonly #options: StageRunsOptions;
  readonly #outputs = new Map<string, StageOutput>();
  readonly #statistics = new StatisticsSum();
  #fragments = 0;
  #failure: QueryError | undefined;

  constructor(options: StageRunsOptions) {
    this.#options = options;
  }

  /** The first error of a stage; what came of it elsewhere is not the reason. */
  get failure(): QueryError | undefined {
    return this.#failure;
  }

  statistics(): FragmentStatistics {
    return this.#statistics.sum;
  }

  startAllBut(last: Stage): void {
    for (const stage of this.#options.stages.plan.stages) {
      if (stage === last) continue;
      const run = stage.split === undefined ? this.#gatherHere : this.#split;
      this.#start(stage, (rows) => run.call(this, stage, rows));
    }
  }

  /** A stage that is not divided, on a host of this process. Its statistics count once its messages have been read. */
  async runHere(stage: Stage, arrow: FragmentRequest['arrow']): Promise<FragmentResult> {
    const { runLocal, signal, context, parts, report } = this.#options;
    const scans = this.#scansOf(stage.scans);
    const inputs = await Promise.all(
      (await this.#inputsOf(stage, true)).map((input) => withRows(input, signal)),
    );
    const startedMs = parts.elapsed();
    const fragmentId = this.#nextFragmentId();
    const request = this.#request(stage, { fragmentId, arrow, tables: [...scans.tables, ...inputs] });
    const limits = arrow === 'client' ? context.limits : request.limits;
    const result = await runLocal(
      { ...request, limits },
      [...scans.stores, ...inputs.map(() => undefined)],
      signal,
    );
    void result.engineFree.then(() => {
      const statistics = result.statistics();
      this.#statistics.add(statistics);
      report({
        ...{ fragmentId, stage: stage.name, worker: 'local', splits: [], ended: 0, retries: 0 },
        durationMs: parts.elapsed() - startedMs,
        rows: Number(statistics.rowsReturned),
        bytesRead: statistics.bytesStaged,
        bytesReturned: 0,
        spilledBytes: statistics.spilledBytes,
        peakMemoryBytes: statistics.peakMemoryBytes,
        errorCode: undefined,
      });
    });
    return result;
  }

  /** A stage whose splits' rows are the statement's, in any order. */
  async stream(stage: Stage, schema: Uint8Array): Promise<FragmentResult> {
    return await this.#stream(stage, schema, (rows) => this.#split(stage, rows, schema));
  }

  async #stream(
    stage: Stage,
    schema: Uint8Array,
    run: (rows: GatheredRows) => Promise<void>,
  ): Promise<FragmentResult> {
    const { signal } = this.#options;
    const { rows, ended } = this.#start(stage, run);
    await rows.begun(signal);
    return {
      schema: rows.schema ?? schema,
      messages: rows.messages(signal),
      failed: signal,
      engineFree: ended,
      statistics: () => this.statistics(),
    };
  }

  /** The statement's own text on one executor, whose rows count when all are there. */
  async streamWhole(
    stage: Stage,
    { request, stores }: WholeStatement,
    schema: Uint8Array,
  ): Promise<FragmentResult> {
    const scans = request.tables.flatMap((table) => (table.kind === 'scan' ? [table.scan] : []));
    const [first] = scans.toSorted((a, b) => b.counts.bytesPlanned - a.counts.bytesPlanned);
    if (first === undefined)
      throw new QueryError('INTERNAL_ERROR', 'A statement without files was sent elsewhere.');
    // Says where it is best run, and nothing of what is read.
    const { counted: _rows, deletes: _deletes, ...scan } = first;
    return await this.#stream(stage, schema, async (rows) => {
      await this.#onExecutors(stage, rows, {
        splits: [{ id: 0, scan: { ...scan, groups: [] } }],
        schema,
        taskOf: async (fragmentId, splits) => ({ request: { ...request, fragmentId, splits }, stores }),
      });
      for (const { counts } of scans)
        this.#options.parts.metrics.fragmentRows.inc({ place: 'elsewhere' }, counts.rowsPlanned);
    });
  }

  /** Everything has ended by then. */
  async close(): Promise<void> {
    await Promise.all([...this.#outputs.values()].map((output) => output.close()));
  }

  #start(stage: Stage, run: (rows: GatheredRows) => Promise<void>) {
    const { parts, onFailure, signal, context } = this.#options;
    const rows = new GatheredRows({
      memoryBytes: parts.limits.gatherBytes,
      slowReaderMs: parts.limits.slowReaderMs,
      openSpool: parts.openSpool,
      onRoom: () => parts.dispatcher.pump(),
    });
    const ended = run(rows).then(
      () => undefined,
      (caught: unknown) => {
        const error = QueryError.from(caught);
        this.#failure ??= error;
        rows.fail(error);
        onFailure(error);
      },
    );
    const output = new StageOutput({
      ...{ stage: stage.name, queryId: context.queryId, rows, ended, signal },
      isLocal: stage.split === undefined,
      broadcast: parts.broadcast,
    });
    this.#outputs.set(stage.name, output);
    return { rows, ended };
  }

  async #split(stage: Stage, rows: GatheredRows, schema?: Uint8Array): Promise<void> {
    const { stages, divide, signal } = this.#options;
    const divided = stages.scans.get(stage.split ?? '');
    if (divided === undefined) throw new QueryError('INTERNAL_ERROR', `Stage ${stage.name} divides no scan.`);
    const [scans, inputs, splits] = await Promise.all([
      this.#scansOf(stage.scans),
      this.#inputsOf(stage, false),
      divide(divided.table.scan, divided.store, signal),
    ]);
    const { counted: _rows, deletes: _deletes, ...whole } = divided.table.scan;
    const tables = [{ ...divided.table, scan: { ...whole, groups: [] } }, ...scans.tables];
    const stores = [divided.store, ...scans.stores, ...inputs.map(() => undefined)];
    const arrow = schema === undefined ? 'lossless' : 'client';
    await this.#onExecutors(stage, rows, {
      splits: splits.map((scan, id) => ({ id, scan })),
      schema,
      taskOf: async (fragmentId, of, within) => {
        const broadcasts = await Promise.all(inputs.map((input) => withRows(input, within)));
        const request = this.#request(stage, { fragmentId, tables: [...tables, ...broadcasts], arrow });
        return { request: { ...request, splitTable: 0, splits: of }, stores };
      },
    });
    for (const name of [stage.split ?? '', ...stage.scans]) {
      const rows = stages.scans.get(name)?.table.scan.counts.rowsPlanned ?? 0;
      this.#options.parts.metrics.fragmentRows.inc({ place: 'elsewhere' }, rows);
    }
  }

  async #onExecutors(
    { name }: Stage,
    rows: GatheredRows,
    work: Pick<SplitStageOptions, 'splits' | 'schema' | 'taskOf'>,
  ): Promise<void> {
    const { parts, executors, signal, report, context } = this.#options;
    const run = new SplitStage({
      ...{ queryId: context.queryId, stage: name, rows, executors, report, ...work },
      ...{
        dispatcher: parts.dispatcher,
        health: parts.health,
        elapsed: parts.elapsed,
        metrics: parts.metrics,
      },
      patienceMs: parts.limits.patienceMs,
      nextFragmentId: () => this.#nextFragmentId(),
      count: (statistics) => this.#statistics.add(statistics),
    });
    await run.run(signal);
  }

  async #gatherHere(stage: Stage, rows: GatheredRows): Promise<void> {
    const { signal } = this.#options;
    const result = await this.runHere(stage, 'lossless');
    rows.begin(result.schema);
    const attempt = rows.open();
    const messages = result.messages[Symbol.asyncIterator]();
    try {
      for (let next = await messages.next(); next.done !== true; next = await messages.next())
        await attempt.add(next.value, signal);
      attempt.commit();
      rows.complete();
    } finally {
      attempt.drop();
      await messages.return?.();
    }
  }

  #request(stage: Stage, parts: Pick<FragmentRequest, 'fragmentId' | 'tables' | 'arrow'>): FragmentRequest {
    const { context } = this.#options;
    const limits = { ...context.limits, resultBytes: unboundedBytes };
    return stageRequest(stage, { ...context, limits }, parts, fragmentProtocolVersion);
  }

  #scansOf(names: readonly string[]) {
    const scans = names.map((name) => {
      const scan = this.#options.stages.scans.get(name);
      if (scan === undefined) throw new QueryError('INTERNAL_ERROR', `A plan has no scan ${name}.`);
      return scan;
    });
    const tables: readonly FragmentTable[] = scans.map(({ table }) => table);
    return { tables, stores: scans.map(({ store }) => store) };
  }

  /** Here rows may come as they are made, unless others want them too. */
  async #inputsOf(stage: Stage, isHere: boolean): Promise<readonly StageInput[]> {
    const { plan } = this.#options.stages;
    return await Promise.all(
      stage.inputs.map(async (name): Promise<StageInput> => {
        const output = this.#outputs.get(name);
        const columns = plan.stages.find((each) => each.name === name)?.columns;
        if (output === undefined || columns === undefined)
          throw new QueryError('INTERNAL_ERROR', `Stage ${stage.name} comes before ${name}, which it reads.`);
        const readers = plan.stages.filter(({ inputs }) => inputs.includes(name)).length;
        const input = { ...stageName(name), kind: 'input' as const, columns };
        if (isHere && readers === 1) {
          const rows = await output.stream();
          return { ...input, rows: async () => rows };
        }
        const broadcast = await output.broadcast();
        return { ...input, rows: (signal) => broadcast.rows(signal) };
      }),
    );
  }

  #nextFragmentId(): number {
    this.#fragments += 1;
    return this.#fragments;
  }
}

async function withRows(input: StageInput, signal: AbortSignal): Promise<FragmentInput> {
  return { ...input, rows: await input.rows(signal) };
}
