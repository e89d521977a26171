/**
 * A lease on an instance in this process. Every call blocks the event loop for as long as the engine works: between
 * the messages of a result the loop runs, and a signal is looked at there, not inside one call of the engine.
 */
import { setImmediate } from 'node:timers/promises';
import { QueryError, throwIfAborted } from '@svc/base';
import type {
  DescribeRequest,
  EngineLease,
  EngineMessage,
  EngineQuery,
  EngineResult,
  EngineTableName,
  ParquetRead,
  StatementDescription,
} from '../api.js';
import type { HostCursor } from '../host/instance-interface.js';
import { ParquetCursor } from '../parquet-arrow/parquet-cursor.js';
import { defaultMaxMessageBytes, type EngineInstance } from './engine-instance.js';
import { connectionProgress } from './watch.js';

const regionBytes = 4 * 1024 * 1024;
/** Bodies up to this size are copied out, so that a held message does not hold a region. */
const copiedBodyBytes = 256 * 1024;

interface LocalCursor extends HostCursor {
  /** Calls `listener` once the cursor has ended in any way; at once if it has. */
  whenEnded(listener: () => void): void;
}

type StreamOptions = Pick<EngineQuery, 'signal' | 'onProgress'>;

export interface InProcessLeaseParts {
  readonly instance: EngineInstance;
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  /** Called once; `isReusable` is false after an error that the instance may not survive, or `taint`. */
  readonly onRelease: (isReusable: boolean) => Promise<void>;
}

export class InProcessLease implements EngineLease {
  readonly inputDirectory: string;
  readonly outputDirectory: string;
  private readonly instance: EngineInstance;
  private readonly onRelease: InProcessLeaseParts['onRelease'];
  private readonly freeRegions: Uint8Array[] = [];
  private running: LocalCursor | undefined;
  private released: Promise<void> | undefined;
  private isTainted = false;

  constructor(parts: InProcessLeaseParts) {
    this.inputDirectory = parts.inputDirectory;
    this.outputDirectory = parts.outputDirectory;
    this.instance = parts.instance;
    this.onRelease = parts.onRelease;
  }

  async execute(statements: readonly string[], signal?: AbortSignal): Promise<void> {
    for (const statement of statements) {
      this.assertUsable(signal);
      this.instance.execute([statement]);
    }
  }

  async queryText(sql: string, parameters: readonly string[], signal?: AbortSignal): Promise<string> {
    this.assertUsable(signal);
    return this.instance.queryText(sql, parameters);
  }

  async describe({ sql, parameters }: DescribeRequest, signal?: AbortSignal): Promise<StatementDescription> {
    this.assertUsable(signal);
    return this.instance.describe(sql, 'client', parameters);
  }

  async query(request: EngineQuery): Promise<EngineResult> {
    const { before = [], sql, arrow, parameters } = request;
    await this.execute(before, request.signal);
    this.assertUsable(request.signal);
    const cursor = this.instance.query({ sql, arrow, ...(parameters === undefined ? {} : { parameters }) });
    return this.stream(cursor, request);
  }

  async readParquet(request: ParquetRead): Promise<EngineResult> {
    this.assertUsable(request.signal);
    return this.stream(new ParquetCursor(request, regionBytes, defaultMaxMessageBytes), request);
  }

  private stream(cursor: LocalCursor, request: StreamOptions): EngineResult {
    this.running = cursor;
    let finish = () => {};
    const engineDone = new Promise<void>((resolve) => {
      finish = resolve;
    });
    cursor.whenEnded(() => {
      this.running = undefined;
      finish();
    });
    return {
      schema: cursor.schema,
      messages: this.messages(cursor, request),
      engineDone,
      profile: () => cursor.profile(),
    };
  }

  async ingest(
    table: EngineTableName,
    stream: AsyncIterable<Uint8Array>,
    signal?: AbortSignal,
  ): Promise<bigint> {
    this.assertUsable(signal);
    const ingest = this.instance.ingest(table);
    try {
      for await (const piece of stream) {
        throwIfAborted(signal);
        ingest.write(piece);
      }
      return ingest.finish();
    } finally {
      ingest.close();
    }
  }

  taint(): void {
    this.isTainted = true;
  }

  release(): Promise<void> {
    this.released ??= this.giveBack();
    return this.released;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.release();
  }

  private async giveBack(): Promise<void> {
    this.running?.close();
    await this.onRelease(!this.isTainted && !this.instance.isUnusable);
  }

  private assertUsable(signal: AbortSignal | undefined): void {
    throwIfAborted(signal);
    if (this.released !== undefined)
      throw new QueryError('INTERNAL_ERROR', 'The engine lease has been released.');
  }

  private async *messages(cursor: LocalCursor, request: StreamOptions): AsyncGenerator<EngineMessage> {
    try {
      for (;;) {
        throwIfAborted(request.signal);
        const message = this.nextMessage(cursor);
        if (message === undefined) return;
        request.onProgress?.(connectionProgress(this.instance.connectionAddress));
        yield message;
        await setImmediate();
      }
    } finally {
      cursor.close();
    }
  }

  private nextMessage(cursor: LocalCursor): EngineMessage | undefined {
    const region = this.freeRegions.pop() ?? new Uint8Array(new ArrayBuffer(regionBytes));
    const message = cursor.next(region);
    const isHeld = message?.isInRegion === true && message.body.byteLength > copiedBodyBytes;
    if (!isHeld) this.freeRegions.push(region);
    if (message === undefined) return undefined;
    let isReleased = false;
    return {
      kind: message.kind,
      header: message.header,
      body: message.isInRegion && !isHeld ? message.body.slice() : message.body,
      rowCount: message.rowCount,
      release: () => {
        if (isHeld && !isReleased) this.freeRegions.push(region);
        isReleased = true;
      },
    };
  }
}
