/** Files of servers that do not answer ranges: read once, kept in memory, bounded. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { abortable, QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';
import type { Try } from '../remote/outcome.js';
import { readBoundedBody } from '../remote/read-body.js';
import type { HttpAnswer } from './http-request.js';
import { httpVersion, isSameVersion } from './http-version.js';

export interface WholeFile {
  readonly bytes: Uint8Array;
  readonly version: string;
}

interface Download {
  readonly file: Promise<WholeFile>;
  /** Everybody who waits, so that nobody takes the server for silent. */
  readonly waiting: Set<Try>;
}

export class WholeFiles {
  readonly #maxBytes: number;
  readonly #kept = new Map<string, WholeFile>();
  readonly #downloads = new Map<string, Download>();

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The file that is being downloaded for somebody else at this moment; `undefined` at once when nobody does. */
  joined(location: string, attempt: Try): Promise<WholeFile> | undefined {
    const download = this.#downloads.get(location);
    if (download === undefined) return undefined;
    download.waiting.add(attempt);
    return abortable(download.file, attempt.signal).finally(() => download.waiting.delete(attempt));
  }

  /** The file as it was read earlier, unless it has been dropped since. */
  kept(location: string, version: string): WholeFile | undefined {
    const file = this.#kept.get(location);
    return file?.version === version ? file : undefined;
  }

  /** Reads the body of an answer to its end and keeps it. Throws STORAGE_ERROR when it is too large. */
  async download(
    location: string,
    answer: HttpAnswer,
    expected: string | undefined,
    attempt: Try,
  ): Promise<WholeFile> {
    const waiting = new Set([attempt]);
    const heard = (bytes: number): void => {
      for (const waiter of waiting) waiter.heard(bytes);
    };
    const file = this.#readWhole(location, answer, expected, { ...attempt, heard });
    this.#downloads.set(location, { file, waiting });
    try {
      const whole = await file;
      this.#keep(location, whole);
      return whole;
    } finally {
      this.#downloads.delete(location);
    }
  }

  /** The oldest go first when there are too many bytes. */
  #keep(location: string, file: WholeFile): void {
    this.#kept.delete(location);
    this.#kept.set(location, file);
    let bytes = 0;
    for (const [name, kept] of [...this.#kept].reverse()) {
      bytes += kept.bytes.length;
      if (bytes > this.#maxBytes) this.#kept.delete(name);
    }
  }

  async #readWhole(
    location: string,
    { headers, body }: HttpAnswer,
    expected: string | undefined,
    attempt: Try,
  ): Promise<WholeFile> {
    const encoding = transportEncoding(location, headers);
    if (encoding === undefined && Number(headers['content-length']) > this.#maxBytes) {
      body.destroy();
      throw this.#tooLarge(location);
    }
    const bytes = await readBoundedBody(decodedBody(location, encoding, body), this.#maxBytes, attempt);
    if (bytes === undefined) throw this.#tooLarge(location);
    if (expected !== undefined && isSameVersion(expected, headers, bytes.length))
      return { bytes, version: expected };
    return { bytes, version: httpVersion(headers, bytes.length) };
  }

  #tooLarge(location: string): QueryError {
    return new QueryError(
      'STORAGE_ERROR',
      `The server of ${displayLocation(location)} does not answer ranges of it, and such a file is read only up to ${this.#maxBytes} bytes: download it first.`,
      { retryable: false },
    );
  }
}

/**
 * The encoding that a server put around a file although it was asked not to. A file whose name says that it is compressed
 * is sent as it is by many servers, and only called encoded.
 */
export function transportEncoding(location: string, headers: IncomingHttpHeaders): string | undefined {
  const encoding = headers['content-encoding']?.trim().toLowerCase();
  if (!encoding || encoding === 'identity') return undefined;
  const isNamedCompressed = /\.(gz|gzip|tgz|br|zst|zz|deflate)$/i.test(displayLocation(location));
  return isNamedCompressed ? undefined : encoding;
}

function decodedBody(location: string, encoding: string | undefined, body: Readable): Readable {
  switch (encoding) {
    case undefined:
      return body;
    case 'gzip':
    case 'x-gzip':
      return through(body, createGunzip());
    case 'deflate':
      return through(body, createInflate());
    case 'br':
      return through(body, createBrotliDecompress());
    default:
      body.destroy();
      throw new QueryError(
        'STORAGE_ERROR',
        `The server sends ${displayLocation(location)} in the encoding ${JSON.stringify(encoding.slice(0, 40))}, which was not asked for and is not known here.`,
        { retryable: false },
      );
  }
}

/** Unlike `pipe`, a failure of one side ends the other. */
function through<T extends NodeJS.ReadWriteStream & Readable>(body: Readable, decoder: T): Readable {
  body.once('error', (error) => decoder.destroy(error));
  decoder.once('close', () => body.destroy());
  return body.pipe(decoder);
}
