/** What `svc sql` opens files with when it runs in its user's own process: whatever the user may open himself. */
import type { Config, Metrics } from '@svc/base';
import {
  createFileStore,
  createHttpStore,
  createLocationStore,
  createS3Store,
  type ObjectStore,
  type S3Access,
  type S3StoreOptions,
  type StorageTraffic,
} from '@svc/lake';

export function createEmbeddedStore(
  config: Config,
  { metrics, traffic }: { readonly metrics: Metrics; readonly traffic: StorageTraffic },
): ObjectStore {
  const http = createHttpStore({ traffic });
  const s3 = createS3Store({ ...s3Options(config), metrics, traffic });
  return createLocationStore({ file: createFileStore(), s3, http, https: http });
}

/** With keys of the configuration nothing is taken from the environment; without, all that it does not say. */
export function s3Options(config: Config): S3StoreOptions {
  return {
    endpoint: config['storage.s3_endpoint'],
    region: config['storage.s3_region'],
    pathStyle: config['storage.s3_path_style'],
    access: s3Access(config),
  };
}

function s3Access(config: Config): S3Access {
  const accessKeyId = config['storage.s3_access_key'];
  const secretAccessKey = config['storage.s3_secret_key'];
  const sessionToken = config['storage.s3_session_token'];
  if (config['storage.s3_anonymous']) return { kind: 'anonymous' };
  if (accessKeyId === undefined || secretAccessKey === undefined) return { kind: 'standard' };
  return { kind: 'provider', provide: async () => ({ accessKeyId, secretAccessKey, sessionToken }) };
}
