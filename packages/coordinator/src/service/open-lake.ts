import { join } from 'node:path';
import { type Config, type Metrics, outgoingCorrelation } from '@svc/base';
import {
  type CatalogFactory,
  createFileStore,
  createFileSystemCatalogs,
  createFooterCache,
  createMetadataFiles,
  createRestCatalogs,
  createS3Store,
  type FooterCache,
  type MetadataFiles,
  type ObjectStore,
  openStagingCache,
  type S3StoreOptions,
  type StagingCache,
  StorageTraffic,
} from '@svc/lake';
import { type CatalogContexts, createCatalogContexts } from '../catalogs/catalog-contexts.js';

/** The catalogs, each session's own, and the caches that all queries of this process share. */
export interface Lake {
  readonly contexts: CatalogContexts;
  readonly footers: FooterCache;
  readonly manifests: MetadataFiles;
  readonly staging: StagingCache;
  /** What all stores of this process have under way. */
  readonly traffic: StorageTraffic;
}

export interface LakeOptions {
  readonly metrics: Metrics;
  readonly now: () => number;
  /** What is asked instead of the configured catalog. Default: nothing else. */
  readonly catalogsOver?: ((configured: CatalogFactory) => CatalogFactory) | undefined;
}

export async function openLake(
  config: Config,
  { metrics, now, catalogsOver = (configured) => configured }: LakeOptions,
): Promise<Lake> {
  const traffic = new StorageTraffic();
  const manifests = createMetadataFiles(config['cache.metadata_bytes']);
  return {
    contexts: createCatalogContexts({
      factories: new Map([
        [config['catalog.name'], catalogsOver(openCatalogs(config, { files: manifests, metrics, traffic }))],
      ]),
      ttlMs: config['coordinator.session_context_cache_ttl_secs'] * 1000,
      maxBytes: contextShare(config),
      now,
    }),
    footers: createFooterCache({ maxBytes: config['cache.footer_bytes'] }),
    manifests,
    staging: await openStagingCache({
      folder: join(config['server.data_dir'], 'cache'),
      maxBytes: config['cache.disk_bytes'],
    }),
    traffic,
  };
}

/** The one that is configured, before it is known who asks. */
function openCatalogs(
  config: Config,
  { files, ...shared }: Pick<S3StoreOptions, 'metrics' | 'traffic'> & { readonly files: MetadataFiles },
): CatalogFactory {
  const url = config['catalog.catalog_url'];
  if (url === undefined)
    return createFileSystemCatalogs({ root: config['catalog.path'], store: createFileStore(), files });
  const storage = {
    ...shared,
    endpoint: config['storage.s3_endpoint'],
    region: config['storage.s3_region'],
    // Where the service was told no endpoint, the catalog may name one, with its own style.
    pathStyle: config['storage.s3_endpoint'] === undefined ? undefined : config['storage.s3_path_style'],
  };
  return createRestCatalogs({
    url,
    warehouse: config['catalog.warehouse'],
    correlation: outgoingCorrelation,
    storage,
    staticStore: staticStore(config, storage),
    maxKeptBytes: contextShare(config),
  });
}

/** What catalogs told users is kept as their answers, and behind REST also as what the catalog need not send again. */
function contextShare(config: Config): number {
  const bytes = config['cache.context_bytes'];
  return config['catalog.catalog_url'] === undefined ? bytes : Math.floor(bytes / 2);
}

/** Keys of the service itself, where it was told that all who may load a table may read its files with them. */
function staticStore(config: Config, storage: Omit<S3StoreOptions, 'access'>): ObjectStore | undefined {
  const accessKeyId = config['storage.s3_access_key'];
  const secretAccessKey = config['storage.s3_secret_key'];
  if (!config['storage.allow_static_credentials'] || accessKeyId === undefined) return undefined;
  const keys = { accessKeyId, secretAccessKey: secretAccessKey ?? '' };
  const sessionToken = config['storage.s3_session_token'];
  return createS3Store({
    ...storage,
    access: { kind: 'provider', provide: async () => ({ ...keys, sessionToken }) },
  });
}
