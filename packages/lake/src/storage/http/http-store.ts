/** Files on web servers, read only. */
import { QueryError } from '@svc/base';
import { displayLocation } from '../display-location.js';
import type { ObjectStore } from '../object-store.js';
import { type Connections, createConnections } from '../remote/connections.js';
import { createRemoteReads } from '../remote/remote-reads.js';
import { type RequestLimits, RequestRunner } from '../remote/request-runner.js';
import type { StorageTraffic } from '../remote/storage-traffic.js';
import { HttpSource } from './http-source.js';

export interface HttpStoreOptions {
  readonly connections?: Connections | undefined;
  /** Shared with other stores: bytes under way. */
  readonly traffic?: StorageTraffic | undefined;
  readonly limits?: Partial<RequestLimits> | undefined;
  /**
   * Largest file that is read from a server that does not answer ranges, and memory that such files are kept in together.
   * Default: 256 MiB.
   */
  readonly maxWholeBytes?: number | undefined;
}

const defaultWholeBytes = 256 * 1024 * 1024;

/**
 * A store for `http:` and `https:` URLs. The version of a file is its ETag or date of modification, with its size. A
 * server that does not answer ranges sends the file once, and it is kept in memory. There are no listings, and nothing is
 * written: NOT_SUPPORTED. Messages never have a URL's query or password.
 */
export function createHttpStore(options: HttpStoreOptions = {}): ObjectStore {
  const source = new HttpSource(
    options.connections ?? createConnections(),
    options.maxWholeBytes ?? defaultWholeBytes,
  );
  return {
    ...createRemoteReads(
      source,
      new RequestRunner({ limits: options.limits, traffic: options.traffic, place: 'web' }),
    ),
    list: async (folder) => {
      throw new QueryError(
        'NOT_SUPPORTED',
        `Web servers have no listings: name the files of ${displayLocation(folder)} one by one.`,
      );
    },
    write: refuse,
    moveIn: refuse,
    delete: refuse,
    localPath: () => undefined,
  };
}

async function refuse(location: string): Promise<never> {
  throw new QueryError(
    'NOT_SUPPORTED',
    `${displayLocation(location)} cannot be written to: web servers are only read from.`,
  );
}
