import { join } from 'node:path';
import type { Config } from '@svc/base';
import {
  type Catalog,
  createFileCatalog,
  createFileStore,
  createFooterCache,
  createManifestCache,
  type FooterCache,
  type ManifestCache,
  openStagingCache,
  type StagingCache,
} from '@svc/lake';

/** The catalog and the caches that all queries of this process share. */
export interface Lake {
  readonly catalog: Catalog;
  readonly footers: FooterCache;
  readonly manifests: ManifestCache;
  readonly staging: StagingCache;
}

export async function openLake(config: Config): Promise<Lake> {
  const store = createFileStore();
  return {
    catalog: createFileCatalog({ root: config['catalog.path'], store }),
    footers: createFooterCache({ maxBytes: config['cache.footer_bytes'] }),
    manifests: createManifestCache({ maxBytes: config['cache.metadata_bytes'] }),
    staging: await openStagingCache({
      folder: join(config['server.data_dir'], 'cache'),
      maxBytes: config['cache.disk_bytes'],
    }),
  };
}
