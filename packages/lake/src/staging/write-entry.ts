import { type FileHandle, open, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { QueryError, throwIfAborted } from '@svc/base';
import type { ParquetFooter } from '../parquet/footer.js';
import type { BufferPool } from '../storage/buffer-pool.js';
import type { ByteBudget } from '../storage/byte-budget.js';
import { type CopyStep, gapLimit, planFetches } from '../storage/copy-plan.js';
import { displayLocation } from '../storage/display-location.js';
import { writeFully } from '../storage/write-fully.js';
import { sealOf } from './cache-folder.js';
import { encodeCompactFooter } from './compact-footer.js';
import type { CompactLayout, PlacedChunk } from './compact-layout.js';
import { type EntryHeader, encodeHeader, headerLength, type SealedHeader } from './entry-header.js';
import { fetchInOrder, type RangeReader } from './ordered-fetch.js';

/** Ranges asked of storage: large enough to be worth a request, small enough to be held a few at a time. */
const maxFetchBytes = 8 * 1024 * 1024;
const maxGapBytes = 256 * 1024;
const maxConcurrentFetches = 8;

/** Writes them one behind the other, in one call: waking a thread for each takes longer than many of them. */
export type Append = (parts: readonly Uint8Array[]) => Promise<void>;

export interface WriteEntryOptions {
  readonly path: string;
  readonly header: EntryHeader;
  /** Writes what stands behind the header: chunks and footer. */
  readonly writeData: (append: Append) => Promise<void>;
  readonly openFile?: typeof open | undefined;
}

export interface WrittenEntry {
  readonly sealed: SealedHeader;
  /** From storage. */
  readonly bytesFetched: number;
}

export interface CopyChunksOptions {
  readonly footer: ParquetFooter;
  readonly header: EntryHeader;
  readonly layout: CompactLayout;
  /** Where a chunk's bytes are to be had: storage, or an older entry. */
  readonly sourceOf: (chunk: PlacedChunk) => CopyStep<RangeReader>;
  readonly budget: ByteBudget;
  readonly buffers: BufferPool;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes a compact file with its header at `path`, which must not exist. Whatever fails, nothing is left there; a full disk is
 * DISK_FULL. It is not made durable: what a machine that crashed left of it, the checksum tells.
 */
export async function writeEntry(options: WriteEntryOptions): Promise<SealedHeader> {
  const { path, header } = options;
  let isComplete = false;
  let file: FileHandle | undefined;
  let position = headerLength(header);
  try {
    file = await (options.openFile ?? open)(path, 'wx', 0o444);
    const sealed = await writeContent(file);
    await file.utimes(sealed.sealSeconds, sealed.sealSeconds);
    isComplete = true;
    return sealed;
  } catch (error) {
    const code = (error as NodeJS.ErrnoException | undefined)?.code;
    if (code !== 'ENOSPC' && code !== 'EDQUOT') throw error;
    throw new QueryError(
      'DISK_FULL',
      `The staging disk has no room for more than ${position} bytes of ${displayLocation(header.location)}.`,
      { cause: error },
    );
  } finally {
    await file?.close();
    if (file !== undefined && !isComplete) await rm(path, { force: true });
  }

  async function writeContent(handle: FileHandle): Promise<SealedHeader> {
    const headerBytes = position;
    let checksum = 0;
    await options.writeData(async (parts) => {
      for (const part of parts) checksum = crc32(part, checksum);
      position = await writeFully(handle, parts, position);
    });
    const seal = { sizeBytes: position, sealSeconds: sealOf(header), dataChecksum: checksum };
    await writeFully(handle, [encodeHeader(header, seal)], 0);
    return { ...header, ...seal, headerBytes };
  }
}

/** The data of a compact file, fetched from where it is. */
export async function copyChunks(append: Append, options: CopyChunksOptions): Promise<void> {
  const { footer, header, layout, budget, buffers, signal } = options;
  const steps = layout.chunks.map(options.sourceOf);
  const fetches = planFetches(steps, { maxFetchBytes, maxGapBytes: gapLimit(steps, maxGapBytes) });
  for await (const { fetch, bytes } of fetchInOrder(fetches, {
    budget,
    buffers,
    signal,
    maxConcurrent: maxConcurrentFetches,
  }))
    await append(fetch.slices.map((slice) => bytes.subarray(slice.start, slice.end)));
  throwIfAborted(signal);
  const rowDeltas = layout.rowGroups.map(({ rowDelta }) => rowDelta.bytes);
  await append([...rowDeltas, encodeCompactFooter(footer, header.selection, layout)]);
}
