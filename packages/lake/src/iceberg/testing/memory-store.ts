import { QueryError } from '@svc/base';
import type { ObjectInfo, ObjectStore } from '../../storage/object-store.js';

/** An object store in memory that remembers what was read from it. */
export interface MemoryStore extends ObjectStore {
  readonly objects: Map<string, Uint8Array>;
  /** Locations whose content was asked for, in order. */
  readonly reads: string[];
}

export function createMemoryStore(): MemoryStore {
  const objects = new Map<string, Uint8Array>();
  const reads: string[] = [];
  const find = (location: string): Uint8Array => {
    const body = objects.get(location);
    if (body === undefined) throw new QueryError('DATA_FILE_MISSING', `The file ${location} does not exist.`);
    return body;
  };
  const describe = (location: string): ObjectInfo => {
    const body = find(location);
    return { location, sizeBytes: body.length, version: `${body.length}` };
  };
  return {
    objects,
    reads,
    head: async (location) => describe(location),
    read: async (location) => {
      reads.push(location);
      return find(location);
    },
    readRanges: async (location, ranges) =>
      ranges.map(({ start, end }) => find(location).subarray(start, end)),
    list: async () => [],
    write: async (location, body) => {
      objects.set(location, body);
      return describe(location);
    },
    moveIn: () => Promise.reject(new Error('No file of this machine is asked for.')),
    delete: async (location) => void objects.delete(location),
    localPath: () => undefined,
  };
}
