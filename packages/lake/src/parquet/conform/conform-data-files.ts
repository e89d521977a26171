/**
 * What the engine's COPY cannot do, done to its files before they become a table's: `fixed[n]` as FIXED_LEN_BYTE_ARRAY,
 * without which other readers refuse the column, and no bloom filters by which DuckDB would find too little.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { QueryError, throwIfAborted } from '@svc/base';
import type { IcebergType, NestedField, PrimitiveType } from '../../iceberg/spec/types.js';
import { fileError } from '../../storage/file-errors.js';
import { createFileStore } from '../../storage/file-store.js';
import { mapConcurrently } from '../../storage/map-concurrently.js';
import { writeFully } from '../../storage/write-fully.js';
import { readColumnChunk } from '../column-chunk.js';
import { type ParquetFooter, rowGroupsWithRows } from '../footer.js';
import { type LeafLevels, leafLevels } from '../leaf-levels.js';
import { columnsWithMisreadBloom } from '../misread-bloom.js';
import { readFooter } from '../read-footer.js';
import { encodeChangedFooter, type FooterChanges } from './changed-footer.js';
import { type FixedChunk, fixChunk } from './fixed-chunk.js';

/** Node works on files on four threads by default. */
const maxConcurrentFiles = 4;
/** What is copied at a time. */
const copyBytes = 4 * 2 ** 20;

/**
 * Changes local files that the engine has written under these fields, and answers their sizes. Of fixed columns one chunk of
 * a file is in memory at a time, with the largest of its pages decompressed; a file without them gets another footer at most.
 * Throws DISK_FULL and INTERNAL_ERROR; the files are the caller's to delete then, and no others are left.
 */
export async function conformDataFiles(
  files: readonly { readonly path: string; readonly sizeBytes: number }[],
  fields: readonly NestedField[],
  signal?: AbortSignal,
): Promise<readonly number[]> {
  if (!mayNeedConforming(fields)) return files.map(({ sizeBytes }) => sizeBytes);
  return await mapConcurrently(files, { maxConcurrent: maxConcurrentFiles, signal }, ({ path }) =>
    conformDataFile(path, fields, signal),
  );
}

/** Whether the engine writes a column otherwise than it should. */
function mayNeedConforming(fields: readonly NestedField[]): boolean {
  return [...primitiveTypes(fields).values()].some(({ kind }) =>
    ['fixed', 'binary', 'float', 'double'].includes(kind),
  );
}

async function conformDataFile(
  path: string,
  fields: readonly NestedField[],
  signal?: AbortSignal,
): Promise<number> {
  const store = createFileStore();
  const info = await store.head(path, signal && { signal });
  const footer = await readFooter(store, info, undefined, signal);
  const fixedLengths = fixedLengthsOf(footer, fields);
  const withoutBloom = columnsWithMisreadBloom(
    footer,
    footer.schema.leaves.map(({ column }) => column),
  );
  try {
    if (fixedLengths.size > 0) return await rewriteFile(path, { footer, fixedLengths, withoutBloom, signal });
    if (withoutBloom.size > 0) return await replaceFooter(path, footer, withoutBloom);
  } catch (error) {
    throw fileError(path, error);
  }
  return info.sizeBytes;
}

interface Rewrite extends Pick<FooterChanges, 'fixedLengths' | 'withoutBloom'> {
  readonly footer: ParquetFooter;
  readonly signal: AbortSignal | undefined;
}

function fixedLengthsOf(
  { schema, location }: ParquetFooter,
  fields: readonly NestedField[],
): Map<number, number> {
  const types = primitiveTypes(fields);
  const lengths = new Map<number, number>();
  for (const { fieldId, column, physical, name } of schema.leaves) {
    const type = types.get(fieldId ?? -1);
    if (type?.kind !== 'fixed') continue;
    if (physical !== 'BYTE_ARRAY')
      throw new QueryError('INTERNAL_ERROR', `Column ${JSON.stringify(name)} of ${location} is ${physical}.`);
    lengths.set(column, type.length);
  }
  return lengths;
}

/** The bytes of the filters stay: nothing leads to them. */
async function replaceFooter(
  path: string,
  footer: ParquetFooter,
  withoutBloom: ReadonlySet<number>,
): Promise<number> {
  const encoded = encodeChangedFooter(footer, {
    fixedLengths: new Map(),
    withoutBloom,
    fixedChunk: () => undefined,
    moved: (offset) => offset,
  });
  const sizeBytes = footer.footerStart + encoded.length;
  const file = await open(path, 'r+');
  try {
    await writeFully(file, [encoded], footer.footerStart);
    await file.truncate(sizeBytes);
  } finally {
    await file.close();
  }
  return sizeBytes;
}

/** Its chunks in their order, those of fixed columns made anew, with whatever lies between and behind them. */
async function rewriteFile(path: string, rewrite: Rewrite): Promise<number> {
  const aside = `${path}.${randomUUID()}`;
  const source = await open(path, 'r');
  let target: FileHandle | undefined;
  try {
    target = await open(aside, 'wx');
    const sizeBytes = await copyFixing(source, target, rewrite);
    await rename(aside, path);
    return sizeBytes;
  } finally {
    await source.close();
    await target?.close();
    await rm(aside, { force: true });
  }
}

async function copyFixing(source: FileHandle, target: FileHandle, rewrite: Rewrite): Promise<number> {
  const { footer, fixedLengths, withoutBloom, signal } = rewrite;
  const levels = leafLevels(footer.schema.root);
  const moves: Move[] = [];
  const fixed = new Map<string, FixedChunk>();
  let [from, to] = [0, 0];
  const copyUntil = async (end: number): Promise<void> => {
    for (; from < end; from += copyBytes) {
      throwIfAborted(signal);
      const bytes = await readFully(source, from, Math.min(end, from + copyBytes));
      await writeFully(target, [bytes], to);
      to += bytes.length;
    }
    from = end;
  };
  for (const chunk of chunksToFix(footer, fixedLengths, levels)) {
    await copyUntil(chunk.start);
    const bytes = await readFully(source, chunk.start, chunk.end);
    const { pages, ...made } = await fixChunk({ ...chunk, bytes, location: footer.location }, signal);
    fixed.set(`${chunk.rowGroup}/${chunk.column}`, made);
    for (const page of pages) {
      await writeFully(target, [page], to);
      to += page.length;
    }
    from = chunk.end;
    moves.push({ from, by: to - from });
  }
  await copyUntil(footer.footerStart);
  const encoded = encodeChangedFooter(footer, {
    fixedLengths,
    withoutBloom,
    fixedChunk: (rowGroup, column) => fixed.get(`${rowGroup}/${column}`),
    moved: (offset) => offset + (moves.findLast((move) => move.from <= offset)?.by ?? 0),
  });
  await writeFully(target, [encoded], to);
  return to + encoded.length;
}

/** What lies at `from` or behind it has moved by so many bytes. */
interface Move {
  readonly from: number;
  readonly by: number;
}

interface PlacedChunk {
  readonly rowGroup: number;
  readonly column: number;
  readonly start: number;
  readonly end: number;
  readonly codec: number;
  readonly length: number;
  readonly levels: LeafLevels;
}

/** In the order in which they lie in the file. */
function chunksToFix(
  footer: ParquetFooter,
  fixedLengths: ReadonlyMap<number, number>,
  levels: readonly LeafLevels[],
): readonly PlacedChunk[] {
  const chunks = rowGroupsWithRows(footer).flatMap((rowGroup) =>
    [...fixedLengths].map(([column, length]) => {
      const { start, end, codec } = readColumnChunk(footer, rowGroup, column);
      const own = levels[column] ?? { maxRepetition: 0, maxDefinition: 0 };
      return { rowGroup, column, start, end, codec, length, levels: own };
    }),
  );
  return chunks.sort((a, b) => a.start - b.start);
}

function primitiveTypes(fields: readonly NestedField[]): ReadonlyMap<number, PrimitiveType> {
  const types = new Map<number, PrimitiveType>();
  const add = (id: number, type: IcebergType): void => {
    switch (type.kind) {
      case 'struct':
        for (const field of type.fields) add(field.id, field.type);
        break;
      case 'list':
        add(type.elementId, type.element);
        break;
      case 'map':
        add(type.keyId, type.key);
        add(type.valueId, type.value);
        break;
      default:
        types.set(id, type);
    }
  };
  for (const { id, type } of fields) add(id, type);
  return types;
}

async function readFully(file: FileHandle, start: number, end: number): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafe(end - start);
  for (let done = 0; done < bytes.length; ) {
    const { bytesRead } = await file.read(bytes, done, bytes.length - done, start + done);
    if (bytesRead === 0) throw new QueryError('INTERNAL_ERROR', 'A file became shorter while it was read.');
    done += bytesRead;
  }
  return bytes;
}
