import type { ObjectStore } from '../../storage/object-store.js';
import type { KnownFiles } from './known-files.js';

export interface RememberingOptions {
  readonly known: KnownFiles;
  readonly scope: string;
  /** Whether the caller was given credentials for the place where a file lies. */
  readonly isGranted: (location: string) => boolean;
}

/** The store, whose files need not be asked for again where others of the same scope have just done so. */
export function rememberFiles(
  store: ObjectStore,
  { known, scope, isGranted }: RememberingOptions,
): ObjectStore {
  /** What fails may have been replaced or deleted, and what is changed is another file. */
  async function forgetting<T>(location: string, when: 'failed' | 'done', call: Promise<T>): Promise<T> {
    let isDone = false;
    try {
      const result = await call;
      isDone = true;
      return result;
    } finally {
      if (when === 'done' || !isDone) known.drop(scope, location);
    }
  }
  return {
    ...store,
    async head(location, options = {}) {
      if (options.version !== undefined || !isGranted(location)) return await store.head(location, options);
      const found = known.find(scope, location);
      if (found !== undefined) return found;
      const info = await store.head(location, options);
      known.keep(scope, info);
      return info;
    },
    read: (location, options) => forgetting(location, 'failed', store.read(location, options)),
    readRanges: (location, ranges, options) =>
      forgetting(location, 'failed', store.readRanges(location, ranges, options)),
    write: (location, body, options) => forgetting(location, 'done', store.write(location, body, options)),
    moveIn: (location, path, options) => forgetting(location, 'done', store.moveIn(location, path, options)),
    delete: (location, options) => forgetting(location, 'done', store.delete(location, options)),
  };
}
