/**
 * Files of a table for which the catalog gave out nothing, opened with keys of the service itself. These open more than
 * one table, so only what lies below this table's own location is read with them, and nothing is written.
 */
import { QueryError } from '@svc/base';
import { displayLocation } from '../../storage/display-location.js';
import { isBelow } from '../../storage/location-prefix.js';
import { createRoutedStore } from '../../storage/location-store.js';
import type { ObjectStore } from '../../storage/object-store.js';

export interface StaticReadsOptions {
  /** Names the table in messages. */
  readonly tableName: string;
  /** Of the table, as the catalog says it. */
  readonly tableLocation: string;
}

/** Throws STORAGE_ACCESS_DENIED for locations elsewhere, and for every change. */
export function createStaticReads(
  store: ObjectStore,
  { tableName, tableLocation }: StaticReadsOptions,
): ObjectStore {
  const refuse = async (location: string): Promise<never> => {
    throw new QueryError(
      'STORAGE_ACCESS_DENIED',
      `The catalog gave this user no credentials for ${tableName}: \`storage.allow_static_credentials\` lets its files be read, not ${displayLocation(location)} be written or deleted.`,
    );
  };
  const within = createRoutedStore((location) => {
    if (isBelow(location, tableLocation)) return store;
    throw new QueryError(
      'STORAGE_ACCESS_DENIED',
      `${tableName} names ${displayLocation(location)}, which lies outside of it (${displayLocation(tableLocation)}): the keys of \`storage.allow_static_credentials\` do not open that.`,
    );
  });
  return { ...within, write: refuse, moveIn: refuse, delete: refuse };
}
