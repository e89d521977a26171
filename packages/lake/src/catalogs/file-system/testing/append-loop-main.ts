/**
 * A writer in a process of its own: appends `count` files to the table `s.t` of the catalog at `root`, each in a commit of
 * its own, and prints the name of a file once its commit is acknowledged. Arguments: root, name, count.
 */
import { createMetadataFiles } from '../../../iceberg/cache/metadata-files.js';
import { plainFile } from '../../../iceberg/testing/table-fixture.js';
import { createAppend } from '../../../iceberg/write/append-files.js';
import { createFileStore } from '../../../storage/file-store.js';
import { commitWithRetry } from '../../commit-with-retry.js';
import { createFileSystemCatalog } from '../file-system-catalog.js';

const [, , root = '', name = '', count = '0'] = process.argv;
const store = createFileStore();
const files = createMetadataFiles(50_000_000);
const catalog = createFileSystemCatalog({ root, store, files });

const identifier = { namespace: ['s'], name: 't' };
const { tableUuid } = (await catalog.loadTable(identifier)).metadata;

for (let index = 0; index < Number(count); index++) {
  const location = `${name}-${index}`;
  const change = createAppend({
    store,
    files,
    dataFiles: [plainFile(location)],
    tableUuid,
    specId: 0,
    schemaId: 0,
  });
  await commitWithRetry({ catalog, identifier, change });
  process.stdout.write(`${location}\n`);
}
