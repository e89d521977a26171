import { conversionBytes, convertAvroFile } from '../avro-files/convert-avro-file.js';
import type { DataFileInfo } from '../avro-files/describe-avro-file.js';
import type { ParquetFooter } from '../parquet/footer.js';
import { displayLocation } from '../storage/display-location.js';
import type { ObjectStore } from '../storage/object-store.js';
import { checkColumnNames } from './compact-layout.js';
import { type EntryHeader, headerLength } from './entry-header.js';
import type { StagingCache } from './staging-cache.js';
import { type WrittenEntry, writeEntry } from './write-entry.js';

export interface ConvertEntryContext {
  readonly store: ObjectStore;
  readonly cache: StagingCache;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Writes the columns of an Avro file as an entry. How large it becomes is known only when it is there: room is looked for
 * piece by piece.
 */
export async function convertEntry(
  path: string,
  info: DataFileInfo,
  footer: ParquetFooter,
  header: EntryHeader,
  { store, cache, signal }: ConvertEntryContext,
): Promise<WrittenEntry> {
  checkColumnNames(footer);
  const { budget, openFile } = cache;
  const reservations: (() => void)[] = [];
  const start = headerLength(header);
  let [position, bytesFetched] = [0, 0];
  const reserve = async (bytes: number): Promise<void> => {
    const beyond = position === 0 ? '' : `, beyond its first ${position} bytes,`;
    reservations.push(await cache.reserve(bytes, `Staging ${displayLocation(info.location)}${beyond}`));
    position += bytes;
  };
  await budget.acquire(conversionBytes, signal);
  try {
    await reserve(start);
    const sealed = await writeEntry({
      ...{ path, header, openFile },
      writeData: async (append) => {
        bytesFetched = await convertAvroFile({
          ...{ store, info, start, signal, rowCount: header.rowCount, columns: header.selection.columns },
          append: async (bytes) => {
            await reserve(bytes.length);
            await append([bytes]);
          },
        });
      },
    });
    return { sealed, bytesFetched };
  } finally {
    budget.release(conversionBytes);
    for (const giveBack of reservations) giveBack();
  }
}
