import type { ObjectStore } from '../object-store.js';
import { type Connections, createConnections } from '../remote/connections.js';
import { createRemoteReads } from '../remote/remote-reads.js';
import { type RequestLimits, RequestRunner } from '../remote/request-runner.js';
import type { StorageTraffic } from '../remote/storage-traffic.js';
import { type S3Access, S3Connection, type S3Place } from './s3-connection.js';
import { createS3List, createS3Source } from './s3-reads.js';
import { S3Requests, type StorageMetrics } from './s3-requests.js';
import { createS3Writes } from './s3-writes.js';

export interface S3StoreOptions extends S3Place {
  readonly access: S3Access;
  readonly metrics?: StorageMetrics | undefined;
  /** Shared by the stores of a process, so that they do not open connections of their own to the same servers. */
  readonly connections?: Connections | undefined;
  /** Shared likewise: bytes under way, and how long servers take. */
  readonly traffic?: StorageTraffic | undefined;
  readonly limits?: Partial<RequestLimits> | undefined;
}

/**
 * A store for `s3://bucket/key`. The version of an object is its ETag. Nothing is sent, and no client loaded, before the
 * first call. Throws DATA_FILE_MISSING, STORAGE_ACCESS_DENIED, STORAGE_ERROR, and what the provider of credentials throws.
 */
export function createS3Store(options: S3StoreOptions): ObjectStore {
  const connection = new S3Connection(options, options.access, options.connections ?? createConnections());
  const requests = new S3Requests(connection, options.metrics);
  const { limits, traffic, endpoint, region } = options;
  const runner = new RequestRunner({
    limits,
    traffic,
    place: endpoint ?? `region ${region}`,
    prepare: (signal) => connection.open(signal),
  });
  return {
    ...createRemoteReads(createS3Source(requests), runner),
    ...createS3Writes(requests, runner),
    list: createS3List(requests, runner),
    localPath: () => undefined,
  };
}
