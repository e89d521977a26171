import { join } from 'node:path';
import type { Config } from '@svc/base';
import {
  createFileStore,
  createFileSystemCatalogs,
  createFooterCache,
  createMetadataFiles,
  type FooterCache,
  type MetadataFiles,
  openStagingCache,
  type StagingCache,
} from '@svc/lake';
import { type CatalogContexts, createCatalogContexts } from '../catalogs/catalog-contexts.js';

/** The catalogs, each session's own, and the caches that all queries of this process share. */
export interface Lake {
  readonly contexts: CatalogContexts;
  readonly footers: FooterCache;
  readonly manifests: MetadataFiles;
  readonly staging: StagingCache;
}

export async function openLake(config: Config, now: () => number): Promise<Lake> {
  const manifests = createMetadataFiles(config['cache.metadata_bytes']);
  const files = createFileSystemCatalogs({
    root: config['catalog.path'],
    store: createFileStore(),
    files: manifests,
  });
  return {
    contexts: createCatalogContexts({
      factories: new Map([[config['catalog.name'], files]]),
      ttlMs: config['coordinator.session_context_cache_ttl_secs'] * 1000,
      maxBytes: config['cache.context_bytes'],
      now,
    }),
    footers: createFooterCache({ maxBytes: config['cache.footer_bytes'] }),
    manifests,
    staging: await openStagingCache({
      folder: join(config['server.data_dir'], 'cache'),
      maxBytes: config['cache.disk_bytes'],
    }),
  };
}
