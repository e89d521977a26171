import { delay, type Logger, type Metrics, QueryError } from '@svc/base';
import type { AuditFile } from './audit-file.js';
import { type Batch, LineQueue, tornLine } from './line-queue.js';

export interface AuditLogOptions {
  /** Opens the file, now and each time that it has to be opened again. */
  readonly open: () => Promise<AuditFile>;
  /** For messages. */
  readonly path: string;
  readonly onFailure: 'refuse' | 'count';
  /** Lines that wait to be written, at most. */
  readonly maxPendingBytes: number;
  /** How long a line waits for others to be written together with it. */
  readonly gatherMs: number;
  /** How long after a failure the next attempt is made. */
  readonly retryMs: number;
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number;
  readonly metrics: Pick<Metrics, 'auditRecords'>;
  readonly logger: Logger;
}

/** A disk that stays full must not fill the log of the service. */
const minMsBetweenErrors = 60_000;

/**
 * Lines on their way into a file, in the order in which they came. What cannot be written waits, within the bound, and
 * is tried again; a line of which only a part was written is completed. Whoever adds a line never waits.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #queue: LineQueue;
  /** Taken from the queue, and written up to its offset. */
  #batch: Batch | undefined;
  /** None when it has lost its name and could not be opened anew. */
  #file: AuditFile | undefined;
  #writing: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isFailing = false;
  #shallReopen = false;
  #isClosed = false;
  #closing: Promise<void> | undefined;
  #droppedSinceRecord = 0;
  #lastRecordMs = Number.NEGATIVE_INFINITY;
  #hasToldOfFailure = false;

  constructor(file: AuditFile, options: AuditLogOptions) {
    this.#file = file;
    this.#options = options;
    this.#queue = new LineQueue(options.maxPendingBytes);
  }

  /**
   * A line, with its line feed. Of refused statements, which a client may send again and again, only half of the room is
   * taken, so that those that ran find some.
   */
  add(line: string, ofRefused: boolean): void {
    const isTaken = !this.#isClosed && this.#queue.add(Buffer.from(line), ofRefused ? 0.5 : 1);
    if (!isTaken) {
      this.#dropped(1);
      this.#report('Lines of the audit log are lost: more wait to be written than there is room for.', {});
    } else if (!this.#isFailing) this.#startIn(this.#options.gatherMs);
  }

  /** Throws AUDIT_UNAVAILABLE while lines cannot be written, and when a slow disk has left too many behind. */
  throwIfUnavailable(): void {
    if (this.#options.onFailure === 'count') return;
    if (this.#isFailing || this.#queue.isHalfFull)
      throw new QueryError(
        'AUDIT_UNAVAILABLE',
        'The audit log cannot be written at the moment, and no statement runs without it: try again later.',
      );
  }

  /** Lines from now on go to the file that has the name then; for a log that was renamed. */
  reopen(): void {
    this.#shallReopen = true;
    this.#start();
  }

  /** Writes what waits, within the deadline (a duration); counts what is left as lost. Idempotent. */
  close(deadlineMs: number): Promise<void> {
    this.#closing ??= this.#close(deadlineMs);
    return this.#closing;
  }

  async #close(deadlineMs: number): Promise<void> {
    this.#start();
    const timeout = new AbortController();
    const expired = delay(deadlineMs, timeout.signal).catch(() => undefined);
    // Lines that come meanwhile are written, too: whoever adds them has been told to stop by now.
    await Promise.race([this.#writing, expired]);
    timeout.abort();
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const left = this.#queue.clear() + (this.#batch?.lineCount ?? 0);
    if (left > 0) {
      this.#dropped(left);
      this.#lastRecordMs = Number.NEGATIVE_INFINITY;
      this.#report('Lines of the audit log are lost: they could not be written before the end.', {});
    }
    if (this.#writing === undefined) await this.#file?.close().catch(() => undefined);
  }

  #startIn(ms: number): void {
    if (!this.#isClosed) this.#timer ??= setTimeout(() => this.#start(), ms);
  }

  #start(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#isClosed) return;
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      // It may have come after the last look into the queue.
      if (!this.#isFailing && (this.#shallReopen || !this.#queue.isEmpty)) this.#start();
    });
  }

  /** Never rejects: after a failure it is called again by a timer. */
  async #writeAll(): Promise<void> {
    try {
      while (!this.#isClosed && (await this.#writeNext()));
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Answers whether there is more to do. */
  async #writeNext(): Promise<boolean> {
    if (this.#isFailing) await this.#leaveGoneFile();
    if (this.#shallReopen) await this.#switchFile();
    this.#batch ??= this.#queue.take();
    const batch = this.#batch;
    if (batch === undefined) {
      if (this.#file !== undefined) this.#succeeded();
      return this.#shallReopen;
    }
    this.#file ??= await this.#options.open();
    while (batch.offset < batch.bytes.length)
      batch.offset += await this.#file.append(batch.bytes.subarray(batch.offset));
    // A file that somebody removed takes every write and keeps none.
    if (await this.#leaveGoneFile()) return true;
    this.#batch = undefined;
    this.#queue.written(batch);
    this.#options.metrics.auditRecords.inc({ outcome: 'written' }, batch.lineCount);
    this.#succeeded();
    return true;
  }

  async #leaveGoneFile(): Promise<boolean> {
    if (this.#file === undefined || !(await this.#file.isGone())) return false;
    await this.#file.close().catch(() => undefined);
    this.#file = undefined;
    if (this.#batch !== undefined) this.#batch.offset = 0;
    return true;
  }

  /** The old file is left with whole lines only. Where the new one cannot be opened, lines go on into the old one. */
  async #switchFile(): Promise<void> {
    let file: AuditFile;
    try {
      file = await this.#options.open();
    } catch (error) {
      if (this.#file === undefined) throw error;
      this.#shallReopen = false;
      this.#report('The audit log cannot be opened again: lines go on into the file that was open.', {
        error_message: reasonOf(error),
      });
      return;
    }
    this.#shallReopen = false;
    const old = this.#file;
    this.#file = file;
    if (old === undefined) return;
    await completeLine(old, this.#batch);
    await old.close().catch(() => undefined);
  }

  #succeeded(): void {
    if (!this.#isFailing) return;
    this.#isFailing = false;
    if (!this.#hasToldOfFailure) return;
    this.#hasToldOfFailure = false;
    this.#options.logger.log('info', 'The audit log is written again.', { path: this.#options.path });
  }

  #failed(error: unknown): void {
    this.#isFailing = true;
    this.#report('The audit log cannot be written.', { error_message: reasonOf(error) });
    this.#startIn(this.#options.retryMs);
  }

  #dropped(count: number): void {
    this.#droppedSinceRecord += count;
    this.#options.metrics.auditRecords.inc({ outcome: 'dropped' }, count);
  }

  #report(message: string, fields: Readonly<Record<string, string>>): void {
    const now = this.#options.elapsed();
    if (now - this.#lastRecordMs < minMsBetweenErrors) return;
    this.#lastRecordMs = now;
    this.#hasToldOfFailure = this.#isFailing;
    const { path, onFailure, logger } = this.#options;
    const lost = this.#droppedSinceRecord;
    this.#droppedSinceRecord = 0;
    logger.log('error', message, { path, on_failure: onFailure, lines_lost: lost, ...fields });
  }
}

/** Ends the line that a file has a part of; where that fails, the part is taken off and the line is another file's. */
async function completeLine(file: AuditFile, batch: Batch | undefined): Promise<void> {
  if (batch === undefined) return;
  const torn = tornLine(batch);
  if (torn === undefined) return;
  try {
    while (batch.offset < torn.end)
      batch.offset += await file.append(batch.bytes.subarray(batch.offset, torn.end));
  } catch {
    await file.cutBack(batch.bytes.subarray(torn.start, batch.offset)).catch(() => undefined);
    batch.offset = torn.start;
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
