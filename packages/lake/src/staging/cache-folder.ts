/** The files of a cache folder: their names, reading their headers, and telling abandoned ones from those being written. */
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, readdir, rm, stat } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { throwIfAborted } from '@svc/base';
import { decodeHeader, type EntryHeader, headerLengthOf, type SealedHeader } from './entry-header.js';
import { toRanges } from './selection.js';

export const entrySuffix = '.parquet';
const unfinishedSuffix = '.tmp';

/** Tells this process's unfinished files from those of an earlier one with the same number. */
const processToken = randomUUID().slice(0, 8);
/** Unfinished files of other machines count as abandoned when nothing was written to them for so long. */
const abandonedAfterMs = 60 * 60 * 1000;
const verifyPieceBytes = 4 * 1024 * 1024;

/** Entries with equal content have equal names, whoever writes them. */
export function entryName(header: EntryHeader): string {
  const { location, version, selection } = header;
  const identity = JSON.stringify([location, version, toRanges(selection.rowGroups), selection.columns]);
  return `${createHash('sha256').update(identity).digest('hex').slice(0, 40)}${entrySuffix}`;
}

/** See entry-header.ts: equal entries have equal seals, so that processes that make the same one do not break it. */
export function sealOf(header: EntryHeader): number {
  return Number.parseInt(entryName(header).slice(0, 7), 16);
}

export function unfinishedName(): string {
  return `${machineName()}~${process.pid}~${processToken}~${randomUUID()}${unfinishedSuffix}`;
}

export interface FolderEntry {
  readonly name: string;
  readonly header: SealedHeader;
  readonly lastUsedMs: number;
}

export interface FolderContent {
  /** Names of all entries now in the folder. */
  readonly names: ReadonlySet<string>;
  /** Those that were not known before. */
  readonly added: readonly FolderEntry[];
  /** Bytes of files that other processes are writing. */
  readonly unfinishedBytes: number;
}

/** Lists the folder; abandoned files and entries that are damaged or not ours to read are removed. */
export async function readFolder(
  folder: string,
  isKnown: (name: string) => boolean,
  nowMs: number,
): Promise<FolderContent> {
  const names = new Set<string>();
  const added: FolderEntry[] = [];
  let unfinishedBytes = 0;
  for (const name of await readdir(folder)) {
    if (name.endsWith(unfinishedSuffix)) unfinishedBytes += await unfinishedSize(folder, name, nowMs);
    if (!name.endsWith(entrySuffix)) continue;
    if (!isKnown(name)) {
      const entry = await readEntry(folder, name);
      if (entry === undefined) {
        await rm(join(folder, name), { force: true });
        continue;
      }
      added.push(entry);
    }
    names.add(name);
  }
  return { names, added, unfinishedBytes };
}

/** Whether a file still is what its header says: its size, and not written to since it was sealed. */
export async function isSealIntact(path: string, header: SealedHeader): Promise<boolean> {
  try {
    const { size, mtimeMs } = await stat(path);
    return size === header.sizeBytes && mtimeMs === header.sealSeconds * 1000;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** Reads the whole file once and compares its checksum. */
export async function isContentIntact(
  path: string,
  header: SealedHeader,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const buffer = Buffer.allocUnsafe(Math.min(verifyPieceBytes, Math.max(header.sizeBytes, 1)));
    let checksum = 0;
    let position = header.headerBytes;
    while (position < header.sizeBytes) {
      throwIfAborted(signal);
      const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
      if (bytesRead === 0) return false;
      checksum = crc32(buffer.subarray(0, bytesRead), checksum);
      position += bytesRead;
    }
    return checksum === header.dataChecksum;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  } finally {
    await file?.close();
  }
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
}

/** An entry as its header describes it, or `undefined` when it is gone, damaged, or misnamed. */
async function readEntry(folder: string, name: string): Promise<FolderEntry | undefined> {
  const path = join(folder, name);
  let file: FileHandle | undefined;
  try {
    file = await open(path, 'r');
    const { atimeMs } = await file.stat();
    const header = decodeHeader(await readHeaderBytes(file));
    if (header === undefined || entryName(header) !== name || !(await isSealIntact(path, header)))
      return undefined;
    return { name, header, lastUsedMs: atimeMs };
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  } finally {
    await file?.close();
  }
}

async function readHeaderBytes(file: FileHandle): Promise<Uint8Array> {
  const first = Buffer.alloc(4096);
  const { bytesRead } = await file.read(first, 0, first.length, 0);
  const start = first.subarray(0, bytesRead);
  const length = headerLengthOf(start) ?? 0;
  if (length <= start.length) return start;
  const { size } = await file.stat();
  if (length > size) return start;
  const whole = Buffer.alloc(length);
  await file.read(whole, 0, length, 0);
  return whole;
}

async function unfinishedSize(folder: string, name: string, nowMs: number): Promise<number> {
  const path = join(folder, name);
  try {
    const { size, mtimeMs, nlink } = await stat(path);
    const [machine, pid, token] = name.split('~');
    if (machine === machineName() && token === processToken) return 0; // Reserved by ourselves.
    const isAbandoned =
      machine === machineName()
        ? Number(pid) === process.pid || !isAlive(Number(pid))
        : nowMs - mtimeMs > abandonedAfterMs;
    // With a second link it is an entry already, held for a query that is about to use it.
    if (!isAbandoned) return nlink === 1 ? size : 0;
    await rm(path, { force: true });
    return 0;
  } catch (error) {
    if (isMissing(error)) return 0;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function machineName(): string {
  return hostname().replaceAll(/[^A-Za-z0-9.-]/g, '_');
}
