/**
 * What storage said of a table's files to one client of the catalog: a file is asked for once, not by each statement. Iceberg
 * never changes a file, so that 45 of the requests of a join of three tables are of no use.
 */
import { QueryError } from '@svc/base';
import { LRUCache } from 'lru-cache';
import { headWithTail } from '../../storage/head-with-tail.js';
import { isBelow } from '../../storage/location-prefix.js';
import type { ObjectInfo, ObjectStore } from '../../storage/object-store.js';

/** Of all clients; each takes about half a kilobyte. */
const maxFiles = 65_536;

/** Of one client, which belongs to one user and one token: nobody is told of a file because somebody else may read it. */
export type KnownFiles = (store: ObjectStore, tableLocation: string) => ObjectStore;

export function createKnownFiles(): { ofClient(): KnownFiles } {
  const files = new LRUCache<string, ObjectInfo>({ max: maxFiles });
  let clients = 0;
  return {
    ofClient() {
      clients += 1;
      const client = clients;
      return (store, tableLocation) =>
        remembering(store, tableLocation, files, `${client} ${store.scope ?? ''}`);
    },
  };
}

/** Files below the table's location are remembered; another's file that a manifest names is asked for each time. */
function remembering(
  store: ObjectStore,
  tableLocation: string,
  files: LRUCache<string, ObjectInfo>,
  whose: string,
): ObjectStore {
  const keyOf = (location: string) => `${whose} ${location}`;
  const forget = (location: string) => files.delete(keyOf(location));
  /**
   * Whatever goes wrong may be the file's having changed: the next statement asks again. But not that the catalog is down
   * and gives out no credentials: what is staged of the file needs none.
   */
  const orForget = async <T>(location: string, reading: Promise<T>): Promise<T> => {
    try {
      return await reading;
    } catch (error) {
      if (!(error instanceof QueryError) || error.code !== 'CATALOG_ERROR') forget(location);
      throw error;
    }
  };
  const changing = async <T>(location: string, change: () => Promise<T>): Promise<T> => {
    try {
      return await change();
    } finally {
      forget(location);
    }
  };
  const remember = (info: ObjectInfo): void => {
    if (isBelow(info.location, tableLocation)) files.set(keyOf(info.location), info);
  };
  return {
    ...store,
    async head(location, options) {
      const known = files.get(keyOf(location));
      if (known !== undefined && [undefined, known.version].includes(options?.version)) return known;
      const info = await store.head(location, options);
      remember(info);
      return info;
    },
    async headWithTail(location, believed, options) {
      const known = files.get(keyOf(location));
      if (known !== undefined) return { info: known };
      const found = await headWithTail(store, location, believed, options);
      remember(found.info);
      return found;
    },
    read: (location, options) => orForget(location, store.read(location, options)),
    readRanges: (location, ranges, options) =>
      orForget(location, store.readRanges(location, ranges, options)),
    write: (location, body, options) => changing(location, () => store.write(location, body, options)),
    moveIn: (location, path, options) => changing(location, () => store.moveIn(location, path, options)),
    delete: (location, options) => changing(location, () => store.delete(location, options)),
  };
}
