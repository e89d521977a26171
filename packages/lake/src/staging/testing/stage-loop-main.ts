/**
 * A process of its own that stages one selection of a Parquet file after the other through a cache folder that others use
 * too, and prints the ids that it found in each. Arguments: cache folder, folder of its inputs, bytes, seed, count.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { delay } from '@svc/base';
import { parquetReadObjects } from 'hyparquet';
import { seededRandom } from '../../iceberg/testing/seeded-random.js';
import { createFooterCache } from '../../parquet/footer-cache.js';
import { createFileStore } from '../../storage/file-store.js';
import { stageScan } from '../stage-scan.js';
import { openStagingCache } from '../staging-cache.js';

const [, , file = '', folder = '', inputs = '', maxBytes = '', seed = '', count = ''] = process.argv;
const random = seededRandom(Number(seed));
const local = createFileStore();
/** Slow, so that most of the time something is half-written; and remote, so that nothing is linked in place. */
const store: typeof local = {
  ...local,
  localPath: () => undefined,
  async readRanges(location, ranges, options) {
    await delay(1 + random.below(4));
    return local.readRanges(location, ranges, options);
  },
};
const footers = createFooterCache({ maxBytes: 1 << 20 });
const cache = await openStagingCache({ folder, maxBytes: Number(maxBytes) });
const info = await store.head(file);
const columns = ['id', 'name', 'tags', 'price'];

for (let index = 0; index < Number(count); index += 1) {
  const rowGroups = [0, 1, 2, 3, 4, 5, 6, 7].filter(() => random.below(3) === 0);
  if (rowGroups.length === 0) continue;
  const directory = join(inputs, String(index));
  await mkdir(directory);
  const columnNames = ['id', ...columns.slice(1).filter(() => random.below(2) === 0)];
  const scan = { ...info, recordCount: 400, rowGroups, columnNames, selectedBytes: 0, isPart: true as const };
  const staged = await stageScan(
    { groups: [{ sources: [], files: [scan] }] },
    { store, footers, cache, directory },
  );
  const bytes = await readFile(staged.groups[0]?.paths[0] ?? '');
  const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer, columns: ['id'] });
  process.stdout.write(`${JSON.stringify({ rowGroups, ids: rows.map(({ id }) => Number(id)) })}\n`);
  await rm(directory, { recursive: true });
}
