/**
 * What a function answers: first in its response stream, which is fast for its first 6 MB and slow from there on; all that
 * comes behind goes to the spool in parts, which the stream names once they are there. Two parts at most are in memory.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import { linkAbort, QueryError, throwIfAborted } from '@svc/base';
import { encodeFrame, type Frame } from './frames.js';
import type { InvocationOrder, SpooledPart } from './invocation.js';
import { putObject } from './put-object.js';

export type SpoolOrder = Pick<InvocationOrder, 'inlineBytes' | 'partBytes' | 'partUrls'>;

export class AnswerWriter {
  readonly #stream: Writable;
  readonly #order: SpoolOrder;
  readonly #signal: AbortSignal;
  #frames = 0;
  #inlineBytes = 0;
  #parts = 0;
  /** Of the part that is being filled; once there is one, nothing goes inline any more, so that all stays in order. */
  #filling: Uint8Array[] | undefined;
  #fillingBytes = 0;
  #upload: Promise<void> = Promise.resolve();
  #uploadError: unknown;

  constructor(stream: Writable, order: SpoolOrder, signal: AbortSignal) {
    this.#stream = stream;
    this.#order = order;
    this.#signal = signal;
  }

  get frames(): number {
    return this.#frames;
  }

  get parts(): number {
    return this.#parts;
  }

  /** Parts that may still be begun. */
  get partsLeft(): number {
    return this.#order.partUrls.length - this.#parts;
  }

  /** The frame is copied. Throws RESULT_TOO_LARGE, STORAGE_ERROR. */
  async write(frame: Pick<Frame, 'kind'> & Partial<Frame>): Promise<void> {
    const bytes = encodeFrame(frame);
    this.#frames += 1;
    if (this.#filling === undefined && this.#inlineBytes + bytes.byteLength <= this.#order.inlineBytes) {
      this.#inlineBytes += bytes.byteLength;
      await this.#send(bytes);
      return;
    }
    if (this.#fillingBytes > 0 && this.#fillingBytes + bytes.byteLength > this.#order.partBytes)
      await this.#startUpload();
    this.#filling ??= [];
    this.#filling.push(bytes);
    this.#fillingBytes += bytes.byteLength;
  }

  /** Everything that was written is named in the stream. */
  async flush(): Promise<void> {
    if (this.#fillingBytes > 0) await this.#startUpload();
    await this.#uploaded();
  }

  /** Past the spool, whatever is lost there: the stream ends with it. */
  async writeLast(frame: Pick<Frame, 'kind'> & Partial<Frame>): Promise<void> {
    this.#frames += 1;
    await this.#send(encodeFrame(frame));
  }

  /** Waits for uploads, whose buffers are then free; forgets what has not been sent. Never throws. */
  async drop(): Promise<void> {
    this.#filling = undefined;
    this.#fillingBytes = 0;
    await this.#upload;
  }

  async #startUpload(): Promise<void> {
    await this.#uploaded();
    const body = this.#filling ?? [];
    const bytes = this.#fillingBytes;
    const part = this.#parts;
    const url = this.#order.partUrls[part];
    if (url === undefined) throw tooLarge(this.#order);
    this.#parts += 1;
    this.#filling = [];
    this.#fillingBytes = 0;
    this.#upload = this.#put(url, body, { part, bytes }).catch((error: unknown) => {
      this.#uploadError ??= error;
    });
  }

  async #put(url: string, body: readonly Uint8Array[], place: Omit<SpooledPart, 'sha256'>): Promise<void> {
    const digest = createHash('sha256');
    for (const piece of body) digest.update(piece);
    await putObject(url, body, this.#signal);
    const named: SpooledPart = { ...place, sha256: digest.digest('hex') };
    this.#frames += 1;
    await this.#send(encodeFrame({ kind: 'part', header: jsonHeader(named) }));
  }

  async #uploaded(): Promise<void> {
    await this.#upload;
    if (this.#uploadError !== undefined) throw this.#uploadError;
  }

  async #send(bytes: Uint8Array): Promise<void> {
    if (this.#stream.write(bytes)) return;
    using stop = linkAbort(this.#signal);
    const gone = once(this.#stream, 'close', { signal: stop.signal }).then(() => {
      throw new QueryError('CANCELLED', 'Nobody reads the answer.');
    });
    try {
      await Promise.race([once(this.#stream, 'drain', { signal: stop.signal }), gone]);
    } catch (error) {
      throwIfAborted(this.#signal);
      throw error;
    } finally {
      gone.catch(() => undefined);
      stop.abort(new QueryError('CANCELLED', 'The bytes have gone.'));
    }
  }
}

export function jsonHeader(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value), 'utf8');
}

function tooLarge({ partUrls, partBytes }: SpoolOrder): QueryError {
  return new QueryError(
    'RESULT_TOO_LARGE',
    `What one function answers is larger than the ${partUrls.length * partBytes} bytes that it may put to the spool: SET svc.execution = 'workers' or 'local'.`,
  );
}
