import type { Namespace } from '../catalog.js';

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
  // A prefix may have several segments; slashes in it separate them.
  const base =
    prefix === undefined || prefix === ''
      ? 'v1'
      : `v1/${prefix.split('/').map(encodeURIComponent).join('/')}`;
  const levels = (namespace: Namespace) => namespace.map(encodeURIComponent).join(separator);
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
    parent: (namespace) => namespace.join(decodeURIComponent(separator)),
  };
}
