import { join } from 'node:path';
import type { Config } from '@svc/base';
import {
  createFileStore,
  createFileSystemCatalog,
  createFooterCache,
  createMetadataFiles,
  type FooterCache,
  type MetadataFiles,
  openStagingCache,
  type StagingCache,
  type WritableCatalog,
} from '@svc/lake';

/** The catalog and the caches that all queries of this process share. */
export interface Lake {
  readonly catalog: WritableCatalog;
  readonly footers: FooterCache;
  readonly manifests: MetadataFiles;
  readonly staging: StagingCache;
}

export async function openLake(config: Config): Promise<Lake> {
  const manifests = createMetadataFiles(config['cache.metadata_bytes']);
  return {
    catalog: createFileSystemCatalog({
      root: config['catalog.path'],
      store: createFileStore(),
      files: manifests,
    }),
    footers: createFooterCache({ maxBytes: config['cache.footer_bytes'] }),
    manifests,
    staging: await openStagingCache({
      folder: join(config['server.data_dir'], 'cache'),
      maxBytes: config['cache.disk_bytes'],
    }),
  };
}
