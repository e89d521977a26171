import { QueryError } from '@svc/base';
import { displayLocation } from './display-location.js';
import { headWithTail } from './head-with-tail.js';
import type { ObjectStore } from './object-store.js';

/** What a location may begin with; `s3` stands for `s3a` and `s3n` too, `file` for plain paths. */
export type LocationScheme = 'file' | 's3' | 'http' | 'https';

/** The store that opens the locations of each scheme. A scheme that is left out is refused. */
export type StoresByScheme = Partial<Readonly<Record<LocationScheme, ObjectStore>>>;

const schemesByName: ReadonlyMap<string, LocationScheme> = new Map([
  ['file', 'file'],
  ['s3', 's3'],
  ['s3a', 's3'],
  ['s3n', 's3'],
  ['http', 'http'],
  ['https', 'https'],
]);

const forms: Readonly<Record<LocationScheme, string>> = {
  file: 'paths and file:///',
  s3: 's3://',
  http: 'http://',
  https: 'https://',
};

/**
 * One store for locations of several kinds: each call goes to the store of the location's scheme. Locations of any other
 * scheme are NOT_SUPPORTED, and nothing is asked of anybody for them.
 */
export function createLocationStore(stores: StoresByScheme): ObjectStore {
  const storeOf = (location: string): ObjectStore => {
    const scheme = schemeOf(location);
    const store = scheme === undefined ? undefined : stores[scheme];
    if (store !== undefined) return store;
    const allowed = (Object.keys(forms) as LocationScheme[]).filter((each) => stores[each] !== undefined);
    throw new QueryError(
      'NOT_SUPPORTED',
      `The location ${JSON.stringify(displayLocation(location))} cannot be opened here: only ${allowed.map((each) => forms[each]).join(', ')} can.`,
    );
  };
  const all = Object.values(stores);
  // One grant is of one store.
  return createRoutedStore(storeOf, { grant: all.length === 1 ? all[0]?.grant : undefined });
}

/** One store that hands each call on, by its location. What `storeOf` throws, the call rejects with. */
export function createRoutedStore(
  storeOf: (location: string) => ObjectStore,
  { scope, grant }: { readonly [K in 'scope' | 'grant']?: ObjectStore[K] | undefined } = {},
): ObjectStore {
  return {
    ...(scope !== undefined && { scope }),
    ...(grant !== undefined && { grant }),
    head: async (location, options) => storeOf(location).head(location, options),
    headWithTail: async (location, believed, options) =>
      headWithTail(storeOf(location), location, believed, options),
    read: async (location, options) => storeOf(location).read(location, options),
    readRanges: async (location, ranges, options) => storeOf(location).readRanges(location, ranges, options),
    list: async (folder, options) => storeOf(folder).list(folder, options),
    write: async (location, body, options) => storeOf(location).write(location, body, options),
    moveIn: async (location, path, options) => storeOf(location).moveIn(location, path, options),
    delete: async (location, options) => storeOf(location).delete(location, options),
    localPath: (location) => storeOf(location).localPath(location),
  };
}

/** `undefined` for a scheme that is not known. What has none is a path. */
export function schemeOf(location: string): LocationScheme | undefined {
  if (location.startsWith('file:')) return 'file';
  const scheme = /^([a-z][a-z0-9+.-]+):\/\//i.exec(location)?.[1];
  return scheme === undefined ? 'file' : schemesByName.get(scheme.toLowerCase());
}
