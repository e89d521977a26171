import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ObjectStore } from '../../storage/object-store.js';
import { createMetadataFiles } from './metadata-files.js';

test('files of sizes that no metadata has are refused by name before anything of them is read', async () => {
  const files = createMetadataFiles(1 << 20);
  const store = {
    head: async (location: string) => ({ location, sizeBytes: 2 ** 40, version: '1' }),
    read: () => assert.fail('nothing is to be read'),
  } as unknown as ObjectStore;
  await assert.rejects(files.tableMetadata(store, 's3://lake/t/v1.metadata.json'), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /s3:\/\/lake\/t\/v1\.metadata\.json has 1099511627776 bytes/,
  });
  await assert.rejects(files.avroFile(store, 's3://lake/t/snap-1.avro'), {
    code: 'UNSUPPORTED_TABLE_FEATURE',
    message: /s3:\/\/lake\/t\/snap-1\.avro has 1099511627776 bytes/,
  });
});
