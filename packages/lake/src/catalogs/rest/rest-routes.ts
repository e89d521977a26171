import { QueryError } from '@svc/base';
import type { Namespace } from '../catalog.js';
import { quotedPath } from '../name-errors.js';

/** Between the levels of a namespace, percent-encoded, unless the service names another one. */
const defaultSeparator = '%1F';

/** The paths of Iceberg's REST OpenAPI document, below the address of the service. */
export interface RestRoutes {
  namespaces(): string;
  namespace(namespace: Namespace): string;
  tables(namespace: Namespace): string;
  table(namespace: Namespace, name: string): string;
  credentials(namespace: Namespace, name: string): string;
  views(namespace: Namespace): string;
  view(namespace: Namespace, name: string): string;
  /** A namespace as the value of a query parameter, not encoded yet. */
  parent(namespace: Namespace): string;
}

export function createRoutes(prefix: string | undefined, separator: string = defaultSeparator): RestRoutes {
  const base = prefix === undefined || prefix === '' ? 'v1' : `v1/${encodePrefix(prefix)}`;
  const decoded = decodeURIComponent(separator);
  const levels = (namespace: Namespace) => {
    checkLevels(namespace, decoded);
    return namespace.map(encodeURIComponent).join(separator);
  };
  const namespaces = `${base}/namespaces`;
  const within = (namespace: Namespace) => `${namespaces}/${levels(namespace)}`;
  const table = (namespace: Namespace, name: string) =>
    `${within(namespace)}/tables/${encodeURIComponent(name)}`;
  return {
    namespaces: () => namespaces,
    namespace: within,
    tables: (namespace) => `${within(namespace)}/tables`,
    table,
    credentials: (namespace, name) => `${table(namespace, name)}/credentials`,
    views: (namespace) => `${within(namespace)}/views`,
    view: (namespace, name) => `${within(namespace)}/views/${encodeURIComponent(name)}`,
    parent: (namespace) => {
      checkLevels(namespace, decoded);
      return namespace.join(decoded);
    },
  };
}

/**
 * Throws SCHEMA_NOT_FOUND for levels that the service could not tell from others: with a separator in one, or none at all in
 * it, which services drop. One schema under two names would have the policies of one of them only.
 */
function checkLevels(namespace: Namespace, separator: string): void {
  if (namespace.every((level) => level !== '' && !level.includes(separator))) return;
  throw new QueryError(
    'SCHEMA_NOT_FOUND',
    `Schema ${quotedPath(namespace)} does not exist: a level of its name is empty, or has a sign in it that stands between levels.`,
  );
}

/**
 * A prefix is part of a path as it is: slashes separate segments, and what is escaped (Nessie's `main%7Cwarehouse`) stays. What
 * no path may have is escaped here.
 */
function encodePrefix(prefix: string): string {
  return prefix.replace(/%[0-9a-f]{2}|[^%/]+|%/gi, (part) =>
    /^%./.test(part) ? part : encodeURIComponent(part),
  );
}
