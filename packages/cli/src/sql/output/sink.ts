/** Where output goes: a stream, or a file that appears when it is complete. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';

export interface Sink {
  /** Aborts when nobody takes the output any more: the pipe is closed, the pager was left. */
  readonly closed: AbortSignal;
  /** Resolves when the next piece may come. Does nothing once closed. Throws what writing failed with. */
  write(piece: string | Uint8Array): Promise<void>;
  /** Keeps what was written. */
  end(): Promise<void>;
  /** Gives up what can be given up: a file that is not complete. */
  discard(): Promise<void>;
}

/** A stream that stays open after us, such as standard output. */
export function streamSink(stream: Writable): Sink {
  const closed = new AbortController();
  let failure: Error | undefined;
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (!isReaderGone(error)) failure ??= error;
    closed.abort();
  });
  return {
    closed: closed.signal,
    async write(piece) {
      if (failure !== undefined) throw outputError('The output', failure);
      if (closed.signal.aborted) return;
      await writePiece(stream, piece, closed.signal);
      if (failure !== undefined) throw outputError('The output', failure);
    },
    end: async () => undefined,
    discard: async () => undefined,
  };
}

/** Waits for a stream to take what it was given, or to fail. */
export async function writePiece(
  stream: Writable,
  piece: string | Uint8Array,
  closed: AbortSignal,
): Promise<void> {
  if (stream.write(piece)) return;
  try {
    await once(stream, 'drain', { signal: closed });
  } catch {
    // The failure is the stream's own `error` event.
  }
}

/** The reader of a pipe has gone. */
export function isReaderGone({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EPIPE' || code === 'ECONNRESET' || code === 'ERR_STREAM_DESTROYED';
}

/**
 * A file, written aside and renamed at the end: what was there before stays until then. What is no ordinary file (a
 * pipe, a device) is written as it is.
 */
export async function openFileSink(path: string): Promise<Sink> {
  const existing = await stat(path).catch(() => undefined);
  const isInPlace = existing !== undefined && !existing.isFile();
  const target = isInPlace ? path : join(dirname(path), `.${randomBytes(6).toString('hex')}.svc-unfinished`);
  const stream = createWriteStream(target, { flags: isInPlace ? 'w' : 'wx' });
  const closed = new AbortController();
  let failure: Error | undefined;
  stream.on('error', (error) => {
    failure ??= error;
    closed.abort();
  });
  try {
    await once(stream, 'open');
  } catch (error) {
    throw outputError(`The file ${path}`, error);
  }
  const check = () => {
    if (failure !== undefined && !isReaderGone(failure)) throw outputError(`The file ${path}`, failure);
  };
  return {
    closed: closed.signal,
    async write(piece) {
      check();
      await writePiece(stream, piece, closed.signal);
      check();
    },
    async end() {
      stream.end();
      await finished(stream).catch(() => undefined);
      check();
      if (!isInPlace) await rename(target, path);
    },
    async discard() {
      stream.destroy();
      if (!isInPlace) await rm(target, { force: true });
    },
  };
}

/** Output that cannot be written has its own exit code: see `exitCodes`. */
export class OutputError extends Error {
  override readonly name = 'OutputError';
}

function outputError(what: string, cause: unknown): OutputError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'no code';
  return new OutputError(`${what} cannot be written: the operating system answered ${code}.`, { cause });
}
