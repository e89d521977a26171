import { linkAbort, QueryError, throwIfAborted } from '@svc/base';
import type {
  DescribeRequest,
  EngineLease,
  EngineProfile,
  EngineQuery,
  EngineResult,
  EngineTableName,
  ParquetRead,
  StatementDescription,
} from '../api.js';
import type { FrameReceiver, HostOperation, OperationAnswer } from '../host/host-operation.js';
import type { RequestOf } from '../host/host-process.js';
import type { HostAnswer, SerializedProfile } from '../host/protocol.js';
import { encodeParquetRead } from '../parquet-arrow/parquet-read.js';
import { ResultBuffer, type SpoolPolicy } from '../spool/result-buffer.js';
import type { PooledHost } from './pooled-host.js';
import { pollProgress } from './progress-poll.js';

export interface LeaseOptions {
  readonly host: PooledHost;
  readonly spool: SpoolPolicy;
  /** The host is free and may go to somebody else. */
  readonly onReleased: () => void;
  /** Results that are still being read outlive the lease; the pool ends them when it is destroyed. */
  readonly onResultOpened: (result: ResultBuffer) => void;
  readonly onResultClosed: (result: ResultBuffer) => void;
}

/** Bytes of one ingest frame. */
const CHUNK_BYTES = 4 << 20;

/** A host for one owner for a while. One statement at a time; ended by `release`. */
export class HostLease implements EngineLease {
  readonly #options: LeaseOptions;
  #operation: HostOperation | undefined;
  #release: Promise<void> | undefined;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  get inputDirectory(): string {
    const { host } = this.#options;
    host.usedFolders.add('input');
    return host.inputDirectory;
  }

  get outputDirectory(): string {
    const { host } = this.#options;
    host.usedFolders.add('output');
    return host.outputDirectory;
  }

  async execute(statements: readonly string[], signal?: AbortSignal): Promise<void> {
    await this.#call({ op: 'execute', statements }, signal);
  }

  async queryText(sql: string, parameters: readonly string[], signal?: AbortSignal): Promise<string> {
    const { answer } = await this.#call({ op: 'queryText', sql, parameters }, signal);
    return expectAnswer(answer, 'queryText').text;
  }

  async describe({ sql, parameters }: DescribeRequest, signal?: AbortSignal): Promise<StatementDescription> {
    const { answer, body } = await this.#call({ op: 'describe', sql }, signal, parameters);
    const { schemaBytes, parameterSchemaBytes, parameterCount } = expectAnswer(answer, 'describe');
    return {
      schema: body.subarray(0, schemaBytes),
      parameterSchema: body.subarray(schemaBytes, schemaBytes + parameterSchemaBytes),
      parameterCount,
    };
  }

  async query(query: EngineQuery): Promise<EngineResult> {
    const { before = [], sql, arrow, isLast = false } = query;
    return await this.#stream({ op: 'query', before, sql, arrow, isLast }, query.parameters, query);
  }

  async readParquet(read: ParquetRead): Promise<EngineResult> {
    const { schema, isLast = false } = read;
    const request = { op: 'readParquet', schemaBytes: schema.length, isLast } as const;
    return await this.#stream(request, encodeParquetRead(read), read);
  }

  async #stream(
    request: RequestOf,
    body: Uint8Array | undefined,
    options: Pick<EngineQuery, 'signal' | 'onProgress' | 'isLast'>,
  ): Promise<EngineResult> {
    const { slots } = this.#options.host.process;
    let onSchema: (schema: Buffer) => void = () => undefined;
    const schemaArrived = new Promise<Buffer>((resolve) => {
      onSchema = resolve;
    });
    const abort = linkAbort(options.signal);
    const buffer: ResultBuffer = new ResultBuffer({
      slots,
      policy: this.#options.spool,
      onAbandon: () => operation.cancel(),
      onClosed: () => {
        abort[Symbol.dispose]();
        this.#options.onResultClosed(buffer);
      },
    });
    const operation = await this.#begin(request, options.signal, body, receiveInto(buffer, onSchema)).catch(
      (error: unknown) => {
        abort[Symbol.dispose]();
        throw error;
      },
    );
    this.#options.onResultOpened(buffer);
    const onAbort = () => {
      const error = QueryError.from(abort.signal.reason);
      operation.cancel(error);
      buffer.fail(error);
    };
    if (abort.signal.aborted) onAbort();
    else abort.signal.addEventListener('abort', onAbort, { once: true });
    let profile: SerializedProfile | undefined;
    const finished = operation.answer.then(({ answer }) => {
      profile = expectAnswer(answer, 'result').profile;
      this.#options.host.isReset = options.isLast ?? false;
      buffer.end();
    });
    finished.catch((error: unknown) => buffer.fail(QueryError.from(error)));
    if (options.onProgress) pollProgress(this.#options.host.process, operation, options.onProgress);
    return {
      schema: await Promise.race([schemaArrived, finished.then(() => schemaArrived)]),
      messages: buffer.messages(),
      engineDone: operation.settled,
      profile: () => parseProfile(profile),
    };
  }

  async ingest(
    table: EngineTableName,
    stream: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<bigint> {
    const { host } = this.#options;
    const operation = await this.#begin({ op: 'ingest', table }, signal);
    using _abort = cancelOnAbort(operation, signal);
    const pieces = stream[Symbol.asyncIterator]();
    try {
      // The statement may end before its source yields again: by an abort, an error, or the host's death.
      const ended = operation.answer.then(() => undefined);
      for (;;) {
        const next = await Promise.race([pieces.next(), ended]);
        if (!next || next.done) break;
        for (let offset = 0; offset < next.value.length; offset += CHUNK_BYTES)
          await host.process.sendChunk(operation, next.value.subarray(offset, offset + CHUNK_BYTES));
      }
      await host.process.sendChunk(operation, undefined);
    } catch (error) {
      operation.cancel();
      throw error;
    } finally {
      // A source that hangs must not keep the lease; one that fails while it is closed has nothing to add.
      void pieces.return?.().catch(() => undefined);
    }
    const { answer } = await operation.answer;
    return BigInt(expectAnswer(answer, 'ingest').rowCount);
  }

  taint(): void {
    this.#options.host.isTainted = true;
  }

  release(): Promise<void> {
    this.#release ??= this.#giveBack();
    return this.#release;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  async #giveBack(): Promise<void> {
    this.#operation?.cancel();
    await this.#operation?.settled;
    this.#options.onReleased();
  }

  async #call(
    request: RequestOf,
    signal: AbortSignal | undefined,
    body?: Uint8Array,
  ): Promise<OperationAnswer> {
    const operation = await this.#begin(request, signal, body);
    using _abort = cancelOnAbort(operation, signal);
    return await operation.answer;
  }

  /** Sends the request once the host is free: a statement that is being cancelled may still need a moment. */
  async #begin(
    request: RequestOf,
    signal: AbortSignal | undefined,
    body?: Uint8Array,
    receiver?: FrameReceiver,
  ): Promise<HostOperation> {
    throwIfAborted(signal);
    if (this.#operation?.isEnding) await this.#operation.settled;
    throwIfAborted(signal);
    const { host } = this.#options;
    if (this.#release !== undefined || host.isReset)
      throw new QueryError('INTERNAL_ERROR', 'The engine lease has been released.');
    const operation = host.process.begin(request, body, receiver);
    this.#operation = operation;
    operation.answer.catch(() => {
      if (operation.mustRecycle) this.#options.host.isSpent = true;
    });
    return operation;
  }
}

function receiveInto(buffer: ResultBuffer, onSchema: (schema: Buffer) => void): FrameReceiver {
  return {
    schema: onSchema,
    piece({ head, body }) {
      const { message, slot, byteLength, headerBytes } = head;
      buffer.add({
        ...(message ? { message } : {}),
        // The frame's bytes are overwritten by the next one.
        header: Buffer.from(body.subarray(0, headerBytes)),
        byteLength,
        ...(slot === undefined ? { inline: Buffer.from(body.subarray(headerBytes)) } : { slot }),
      });
    },
  };
}

function cancelOnAbort(operation: HostOperation, signal: AbortSignal | undefined): Disposable {
  const onAbort = () => operation.cancel(QueryError.from(signal?.reason));
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });
  return { [Symbol.dispose]: () => signal?.removeEventListener('abort', onAbort) };
}

function expectAnswer<T extends HostAnswer['of']>(answer: HostAnswer, of: T): HostAnswer & { of: T } {
  if (answer.of !== of) throw new QueryError('INTERNAL_ERROR', 'The engine answered another request.');
  return answer as HostAnswer & { of: T };
}

function parseProfile(profile: SerializedProfile | undefined): EngineProfile {
  return {
    rowsReturned: BigInt(profile?.rowsReturned ?? 0),
    rowsScanned: BigInt(profile?.rowsScanned ?? 0),
    spilledBytes: BigInt(profile?.spilledBytes ?? 0),
    peakMemoryBytes: BigInt(profile?.peakMemoryBytes ?? 0),
    cpuSeconds: profile?.cpuSeconds ?? 0,
  };
}
