/** Runs fragments on a Lambda function: seals what they need to its key, waits for a place, invokes, reads the answer. */
import { createHash } from 'node:crypto';
import { delay, type Logger, linkAbort, type Metrics, QueryError, throwIfAborted } from '@svc/base';
import {
  encodeTask,
  type FragmentExecutor,
  type FragmentTask,
  functionProtocolVersion,
  type InvocationPayload,
  type InvocationSummary,
  maxPayloadBytes,
  type OrderReference,
  packOrder,
  type RemoteTask,
  readSealingKey,
  remoteTask,
  type SealingKey,
  type SplitEvent,
  type SplitRun,
  seal,
} from '@svc/fragment-fn';
import { ByteBudget } from '@svc/lake';
import type { Spool } from '../../spool/spool.js';
import { Governor, type GovernorStats, type Place } from './governor.js';
import {
  createFunctionInvoker,
  type FunctionInvoker,
  type FunctionPlace,
  ThrottledInvocation,
} from './invoke-function.js';
import { type AnswerEvent, readAnswer } from './read-answer.js';
import { SpoolFolder } from './spool-folder.js';

export interface LambdaExecutorOptions extends FunctionPlace {
  /** JSON Web Key that orders are sealed to. */
  readonly publicKey: string;
  readonly spool: Spool;
  readonly maxConcurrency: number;
  /** An invocation that takes longer is given up: not less than the function's own limit. */
  readonly invocationTimeoutMs: number;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Of answers in the stream itself; Lambda slows it down behind 6 MB. */
  readonly inlineBytes?: number;
  readonly partBytes?: number;
}

export interface LambdaExecutor extends FragmentExecutor {
  stats(): GovernorStats;
  close(): void;
}

const defaultInlineBytes = 4 * 1024 * 1024;
const defaultPartBytes = 32 * 1024 * 1024;
/** Of parts that are in memory at a time, of all invocations: see `SpoolFolder.readPart`. */
const heldPartsBytes = 256 * 1024 * 1024;
/** Compressed columns grow when they are read, and joins make more of them. */
const answerGrowth = 12;
const minParts = 4;
const maxParts = 64;
/** An order is taken by the function for so long: it is made when there is a place. */
const orderMs = 2 * 60_000;
const maxThrottles = 12;
const firstPauseMs = 50;
const maxPauseMs = 5_000;

/** Throws CONFIGURATION_ERROR for a key that is none. */
export async function createLambdaExecutor(options: LambdaExecutorOptions): Promise<LambdaExecutor> {
  const key = await readSealingKey(options.publicKey);
  const governor = new Governor({ maxConcurrency: options.maxConcurrency });
  const invoker = createFunctionInvoker(options, options.maxConcurrency);
  const held = new ByteBudget(heldPartsBytes);
  return {
    name: executorName(options),
    kind: 'lambda',
    slots: options.maxConcurrency,
    stats: () => governor.stats(),
    close: () => invoker.close(),
    async start(task, signal) {
      const invocation = new Invocation({ options, key, governor, invoker, held }, task);
      return await invocation.start(signal);
    },
  };
}

interface InvocationParts {
  readonly options: LambdaExecutorOptions;
  readonly key: SealingKey;
  readonly governor: Governor;
  readonly invoker: FunctionInvoker;
  readonly held: ByteBudget;
}

class Invocation {
  readonly #parts: InvocationParts;
  readonly #task: FragmentTask;
  readonly #folder: SpoolFolder;
  #summary: InvocationSummary | undefined;
  #place: Place | undefined;
  /** The function may be at work, also when nobody listens to it any more. */
  #mayRun = false;
  #link = linkAbort();

  constructor(parts: InvocationParts, task: FragmentTask) {
    this.#parts = parts;
    this.#task = task;
    this.#folder = new SpoolFolder(parts.options.spool, task.request.queryId, parts.held);
  }

  get #partBytes(): number {
    return this.#parts.options.partBytes ?? defaultPartBytes;
  }

  async start(signal: AbortSignal): Promise<SplitRun> {
    const { invocationTimeoutMs } = this.#parts.options;
    let events: AsyncGenerator<AnswerEvent, void, undefined> | undefined;
    try {
      const chunks = await this.#invoke(signal, () => {
        this.#link = linkAbort(signal, invocationTimeoutMs, () => tookTooLong(invocationTimeoutMs));
        return this.#link.signal;
      });
      const link = this.#link;
      events = readAnswer({
        executor: executorName(this.#parts.options),
        chunks,
        splits: this.#task.request.splits,
        partBytes: this.#partBytes,
        readPart: (part) => this.#folder.readPart(part, link.signal),
        onSummary: (summary) => {
          this.#summary = summary;
        },
      });
      const first = await events.next();
      if (first.done || first.value.kind !== 'schema')
        throw new QueryError('EXECUTOR_LOST', 'What a function answered is not whole: it has no schema.');
      return { schema: first.value.schema, events: this.#events(events) };
    } catch (error) {
      await this.#end(events, error);
      throwIfAborted(signal);
      throw error;
    }
  }

  /** Written out: `return()` ends the invocation also where nothing has been read yet. */
  #events(source: AsyncGenerator<AnswerEvent, void, undefined>): AsyncIterable<SplitEvent> {
    const next = async (): Promise<IteratorResult<SplitEvent, void>> => {
      try {
        const result = await source.next();
        if (!result.done && result.value.kind !== 'schema') return { done: false, value: result.value };
        await this.#end(source);
        return { done: true, value: undefined };
      } catch (error) {
        await this.#end(source, error);
        throwIfAborted(this.#link.signal);
        throw error;
      }
    };
    return {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          await this.#end(source, new QueryError('CANCELLED', 'The rest is not needed.'));
          return { done: true, value: undefined };
        },
      }),
    };
  }

  /** In a place, and again after a pause where Lambda refuses. `link` begins the time of the invocation itself. */
  async #invoke(signal: AbortSignal, link: () => AbortSignal): Promise<AsyncIterable<Uint8Array>> {
    const { governor, invoker, options } = this.#parts;
    let order: { readonly payload: Uint8Array; readonly madeMs: number } | undefined;
    for (let refusals = 0; ; refusals += 1) {
      this.#place = await governor.acquire(signal);
      try {
        if (order === undefined || performance.now() - order.madeMs > orderMs / 2)
          order = { payload: await this.#payload(signal), madeMs: performance.now() };
        this.#mayRun = true;
        return await invoker.invoke(order.payload, link());
      } catch (error) {
        this.#link[Symbol.dispose]();
        if (!(error instanceof ThrottledInvocation)) throw error;
        this.#mayRun = false;
        options.metrics.lambdaThrottles.inc();
        governor.refused();
        if (refusals >= maxThrottles)
          throw new QueryError(
            'EXECUTOR_LOST',
            `The function ${options.functionName} is throttled (lambda.max_concurrency, or the account's quota).`,
            { cause: error },
          );
      }
      this.#place[Symbol.dispose]();
      await delay(Math.random() * Math.min(maxPauseMs, firstPauseMs * 2 ** refusals), signal);
    }
  }

  async #payload(signal: AbortSignal): Promise<Uint8Array> {
    const { options, key } = this.#parts;
    const { inlineBytes = defaultInlineBytes, functionName } = options;
    const partBytes = this.#partBytes;
    const remote = await remoteTask(this.#task, signal);
    const { queryId, owner } = remote.request;
    const order = {
      functionName: plainName(functionName),
      queryId,
      owner,
      notAfterMs: Date.now() + orderMs,
      inlineBytes,
      partBytes,
      partUrls: await this.#folder.partUrls(partCount(remote, partBytes), signal),
    };
    const sealed = await seal(packOrder(order, encodeTask(remote)), key);
    const payload = payloadOf({ protocol: functionProtocolVersion, sealed });
    if (payload.byteLength <= maxPayloadBytes) return payload;
    const content = Buffer.from(sealed, 'latin1');
    const reference: OrderReference = {
      url: await this.#folder.putOrder(content, signal),
      bytes: content.byteLength,
      sha256: createHash('sha256').update(content).digest('hex'),
    };
    const sealedReference = await seal(Buffer.from(JSON.stringify(reference)), key);
    return payloadOf({ protocol: functionProtocolVersion, reference: sealedReference });
  }

  /** Once: ends what is under way, gives the place back, removes what is in the spool. */
  async #end(
    events: AsyncGenerator<AnswerEvent, void, undefined> | undefined,
    error?: unknown,
  ): Promise<void> {
    const place = this.#place;
    if (place === undefined) return;
    this.#place = undefined;
    const { options } = this.#parts;
    this.#link.abort(
      error === undefined ? new QueryError('CANCELLED', 'The invocation has ended.') : QueryError.from(error),
    );
    await events?.return().catch(() => undefined);
    const outcome = error === undefined ? 'ok' : isLost(error) ? 'lost' : 'failed';
    if (outcome === 'ok') place.succeeded();
    place[Symbol.dispose]();
    options.metrics.lambdaInvocations.inc({ outcome });
    if (this.#summary?.isColdStart === true) options.metrics.lambdaColdStarts.inc();
    const remove = () => this.#folder.remove(this.#summary?.parts, options.logger);
    if (this.#mayRun && this.#summary === undefined)
      options.spool.late.watch(remove, options.invocationTimeoutMs);
    await remove();
  }
}

function isLost(error: unknown): boolean {
  return QueryError.from(error).code === 'EXECUTOR_LOST';
}

function partCount({ request }: RemoteTask, partBytes: number): number {
  const bytes = request.splits.reduce((sum, { scan }) => sum + scan.counts.bytesPlanned, 0);
  return Math.min(maxParts, minParts + Math.ceil((bytes * answerGrowth) / partBytes));
}

function payloadOf(payload: InvocationPayload): Uint8Array {
  return Buffer.from(JSON.stringify(payload), 'utf8');
}

function executorName({ functionName }: FunctionPlace): string {
  return `lambda ${plainName(functionName)}`;
}

/** The name alone, of an ARN, and without an alias: what the function knows of itself. */
function plainName(functionName: string): string {
  const parts = functionName.split(':');
  return (parts[0] === 'arn' ? parts[6] : parts[0]) ?? functionName;
}

function tookTooLong(ms: number): QueryError {
  return new QueryError(
    'EXECUTOR_LOST',
    `A function took longer than ${ms / 1000} s (lambda.invocation_timeout_secs).`,
  );
}
