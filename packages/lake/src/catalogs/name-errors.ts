/** How catalogs name schemas, tables and views in their messages, and what they say of names that are not there. */
import { QueryError } from '@svc/base';
import { clip } from '../iceberg/spec/lossless-json.js';
import type { Namespace, TableIdentifier } from './catalog.js';
import { suggestNames } from './near-names.js';

/** A name for a message, which a client may have made as long as it liked. */
export function quoted(name: string): string {
  return JSON.stringify(clip(name, 200));
}

/** A schema, or with a name what is in it: `"sales.orders"`. */
export function quotedPath(namespace: Namespace, name?: string): string {
  return quoted([...namespace, ...(name === undefined ? [] : [name])].join('.'));
}

/** `level` is the one of the schema's that is not among `names`. */
export function schemaMissing(namespace: Namespace, level: string, names: readonly string[]): QueryError {
  return new QueryError(
    'SCHEMA_NOT_FOUND',
    `Schema ${quotedPath(namespace)} does not exist${suggestNames(level, names)}`,
  );
}

export function relationMissing(
  what: 'table' | 'view',
  { namespace, name }: TableIdentifier,
  names: readonly string[],
): QueryError {
  const noun = what === 'table' ? 'Table' : 'View';
  return new QueryError(
    'TABLE_NOT_FOUND',
    `${noun} ${quotedPath(namespace, name)} does not exist${suggestNames(name, names)}`,
  );
}

/** Of a name that is none of these, but each of them when case does not count. */
export function severalFit(
  what: 'schema' | 'table' | 'view',
  name: string,
  names: readonly string[],
): QueryError {
  return new QueryError(
    what === 'schema' ? 'SCHEMA_NOT_FOUND' : 'TABLE_NOT_FOUND',
    `The ${what} name ${quoted(name)} fits ${names.map(quoted).join(' and ')}: spell it exactly.`,
  );
}
