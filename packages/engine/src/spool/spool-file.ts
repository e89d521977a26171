import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError } from '@svc/base';
import type { SpoolBudget } from './spool-budget.js';

/** What a spool needs of a file. */
export type SpoolHandle = Pick<FileHandle, 'read' | 'write' | 'truncate' | 'close'>;

/**
 * The part of one result that its reader has not kept up with, on disk. The file has no name once it is open, so a
 * crash leaves nothing; it is readable by nobody else.
 */
export class SpoolFile {
  readonly #folder: string;
  readonly #budget: SpoolBudget;
  readonly #openIn: (folder: string) => Promise<SpoolHandle>;
  #file: Promise<SpoolHandle> | undefined;
  #endOffset = 0;
  #unreadBytes = 0;

  constructor(folder: string, budget: SpoolBudget, openIn = openNameless) {
    this.#folder = folder;
    this.#budget = budget;
    this.#openIn = openIn;
  }

  /**
   * Appends the bytes and answers where they lie; undefined, with nothing written, when the budget is used up.
   * DISK_FULL when the disk is.
   */
  append(bytes: Uint8Array): Promise<number> | undefined {
    if (!this.#budget.tryReserve(bytes.length, this.#endOffset)) return undefined;
    const offset = this.#endOffset;
    this.#endOffset += bytes.length;
    this.#unreadBytes += bytes.length;
    return this.#write(bytes, offset);
  }

  /** Each appended range is read once. Its bytes count against the budget until everything appended has been read. */
  async read(offset: number, target: Uint8Array): Promise<void> {
    const file = await this.#open();
    for (let done = 0; done < target.length; ) {
      const { bytesRead } = await file.read(target, done, target.length - done, offset + done);
      if (bytesRead === 0) throw new QueryError('INTERNAL_ERROR', 'The spool of a result ended early.');
      done += bytesRead;
    }
    this.#unreadBytes -= target.length;
    if (this.#unreadBytes === 0) await this.#empty(file);
  }

  /** Frees disk and budget; no append or read may be running. Idempotent. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    this.#budget.release(this.#endOffset);
    this.#endOffset = 0;
    this.#unreadBytes = 0;
    await (await file?.catch(() => undefined))?.close();
  }

  async #write(bytes: Uint8Array, offset: number): Promise<number> {
    try {
      const file = await this.#open();
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await file.write(bytes, done, bytes.length - done, offset + done);
        done += bytesWritten;
      }
      return offset;
    } catch (error) {
      throw spoolError(error);
    }
  }

  async #empty(file: SpoolHandle): Promise<void> {
    const byteLength = this.#endOffset;
    this.#endOffset = 0;
    await file.truncate(0);
    this.#budget.release(byteLength);
  }

  #open(): Promise<SpoolHandle> {
    this.#file ??= this.#openIn(this.#folder);
    return this.#file;
  }
}

async function openNameless(folder: string): Promise<SpoolHandle> {
  const path = join(folder, `spool-${randomUUID()}`);
  const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
  await unlink(path);
  return file;
}

function spoolError(caught: unknown): QueryError {
  const code = (caught as NodeJS.ErrnoException).code;
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new QueryError(
      'DISK_FULL',
      'The client reads slowly and the disk has no room left to keep the rest of its result.',
      { cause: caught },
    );
  return QueryError.from(caught);
}
