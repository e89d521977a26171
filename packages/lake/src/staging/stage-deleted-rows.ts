import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { QueryError, throwIfAborted } from '@svc/base';
import type { DeletedRows } from '../deletes/deleted-rows.js';
import { readBitmap } from '../deletes/read-bitmap.js';
import { bitmapPositions } from '../deletes/roaring-bitmap.js';
import type { FileScan } from '../scan/table-scan.js';
import type { ObjectStore } from '../storage/object-store.js';
import { writePositionsFile } from './positions-file.js';

export interface StageDeletedRowsOptions {
  readonly store: ObjectStore;
  readonly directory: string;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Makes the list of a staged file's deleted rows, or finds the one of an earlier call in the folder; answers its path.
 * Throws DATA_CORRUPT when the set is not what the table's metadata says, or does not fit the file.
 */
export async function stageDeletedRows(
  file: FileScan,
  deletedRows: DeletedRows,
  stagedPath: string,
  { store, directory, signal }: StageDeletedRowsOptions,
): Promise<string> {
  const identity = JSON.stringify([stagedPath, file.location, file.version, deletedRows]);
  const name = createHash('sha256').update(identity).digest('hex').slice(0, 40);
  const path = join(directory, `${name}.deleted.parquet`);
  if (await exists(path)) return path;
  const bitmap = await readBitmap(deletedRows, store, signal);
  const { bitmap: place } = deletedRows;
  const where = place.kind === 'stored' ? `, at byte ${place.start} of ${place.location},` : '';
  const source = `The deletion vector of ${file.location}${where}`;
  const aside = `${path}.${randomUUID()}.tmp`;
  let handle: FileHandle | undefined;
  try {
    handle = await open(aside, 'wx', 0o600);
    const pages = withinFile(bitmapPositions(bitmap, source), { source, rowCount: file.recordCount, signal });
    const count = await writePositionsFile(handle, stagedPath, pages);
    if (count !== deletedRows.rowCount)
      throw new QueryError(
        'DATA_CORRUPT',
        `${source} has ${count} rows; the table's metadata says ${deletedRows.rowCount}.`,
      );
    await handle.close();
    await rename(aside, path);
    return path;
  } finally {
    await handle?.close();
    await rm(aside, { force: true });
  }
}

/** A few bytes may stand for very many rows: those that the file does not have are never written down. */
function* withinFile(
  pages: Iterable<Uint8Array>,
  {
    source,
    rowCount,
    signal,
  }: { readonly source: string; readonly rowCount: number; readonly signal: AbortSignal | undefined },
): Generator<Uint8Array> {
  for (const page of pages) {
    throwIfAborted(signal);
    const last = Buffer.from(page.buffer, page.byteOffset, page.byteLength).readBigInt64LE(page.length - 8);
    if (last >= rowCount)
      throw new QueryError(
        'DATA_CORRUPT',
        `${source} deletes row ${last}, but the file has ${rowCount} rows.`,
      );
    yield page;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch {
    return false;
  }
}
