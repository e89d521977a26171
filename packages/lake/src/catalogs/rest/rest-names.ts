/** Lists of namespaces, tables and views, page by page; and what an unknown name may have meant. */
import { QueryError } from '@svc/base';
import type { Namespace, TableIdentifier } from '../catalog.js';
import { suggestNames } from '../near-names.js';
import { catalogError, generalError, type problemOf } from './rest-errors.js';
import { answerFields, type RestSession, type RoutePath } from './rest-session.js';

/** A service that never comes to an end of its list is broken. */
const maxPages = 10_000;

export function quoted(namespace: Namespace, name?: string): string {
  return JSON.stringify([...namespace, ...(name === undefined ? [] : [name])].join('.'));
}

interface PagesRequest {
  readonly query?: Readonly<Record<string, string>>;
  readonly what: string;
  /** Of the list in the answer. */
  readonly field: string;
  readonly namespace: Namespace;
  readonly signal?: AbortSignal | undefined;
}

/** The items of all pages. Throws SCHEMA_NOT_FOUND for a 404. */
async function* pages(
  session: RestSession,
  path: RoutePath,
  { query, what, field, namespace, signal }: PagesRequest,
): AsyncGenerator<ReturnType<typeof answerFields>> {
  const seen = new Set<string>();
  // An empty token says that the client can turn pages.
  for (let pageToken = ''; ; ) {
    const answer = await session.read(path, { query: { ...query, pageToken }, what, signal });
    if (answer.status === 404 && namespace.length > 0) throw await schemaNotFound(session, namespace, signal);
    if (answer.status !== 200) throw generalError(answer, what);
    const fields = answerFields(answer, what);
    if (!fields.has(field)) throw catalogError(`answers no "${field}" for ${what}`, { retryable: false });
    yield fields;
    const next = fields.optionalString('next-page-token');
    if (next === undefined || next === '') return;
    if (seen.has(next) || seen.size >= maxPages)
      throw catalogError(`does not come to an end of its list for ${what}`, { retryable: false });
    seen.add(next);
    pageToken = next;
  }
}

/** Throws SCHEMA_NOT_FOUND for an unknown parent. */
export async function listNamespaces(
  session: RestSession,
  parent: Namespace,
  signal: AbortSignal | undefined,
): Promise<readonly Namespace[]> {
  const { routes } = await session.config();
  const query = parent.length === 0 ? {} : { parent: routes.parent(parent) };
  const what = parent.length === 0 ? 'the list of schemas' : `the list of schemas in ${quoted(parent)}`;
  const found: Namespace[] = [];
  const options = { query, what, field: 'namespaces', namespace: parent, signal };
  for await (const page of pages(session, (each) => each.namespaces(), options))
    for (const levels of page.lists('namespaces')) found.push(levels);
  return sortedBy(found, (levels) => levels.join('\u001f'));
}

export async function listIdentifiers(
  session: RestSession,
  kind: 'tables' | 'views',
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<readonly TableIdentifier[]> {
  const what = `the list of ${kind} in ${quoted(namespace)}`;
  const found: TableIdentifier[] = [];
  const options = { what, field: 'identifiers', namespace, signal };
  for await (const page of pages(session, (routes) => routes[kind](namespace), options))
    for (const each of page.objects('identifiers'))
      found.push({ namespace: each.strings('namespace') ?? namespace, name: each.string('name') });
  return sortedBy(found, ({ name }) => name);
}

/** Of a namespace that the service does not know. What could be meant is told when the user may list it. */
export async function schemaNotFound(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<QueryError> {
  const near = await listNamespaces(session, namespace.slice(0, -1), signal).catch(() => []);
  const names = near.map((levels) => levels.at(-1) ?? '');
  return new QueryError(
    'SCHEMA_NOT_FOUND',
    `Schema ${quoted(namespace)} does not exist${suggestNames(namespace.at(-1) ?? '', names)}`,
  );
}

/**
 * What a 404 for a table or view means: the one name that differs in case only, or an error that names near ones. Lists
 * that the user may not see help nobody, and change nothing.
 */
export async function otherSpelling(
  session: RestSession,
  kind: 'tables' | 'views',
  identifier: TableIdentifier,
  problem: ReturnType<typeof problemOf>,
  signal: AbortSignal | undefined,
): Promise<TableIdentifier> {
  const { namespace, name } = identifier;
  if (/namespace/i.test(problem.type)) throw await schemaNotFound(session, namespace, signal);
  const others = await listIdentifiers(session, kind, namespace, signal).catch((error: unknown) => {
    if (error instanceof QueryError && error.code === 'SCHEMA_NOT_FOUND') throw error;
    return [];
  });
  const alike = others.filter((each) => each.name.toLowerCase() === name.toLowerCase() && each.name !== name);
  const [only] = alike;
  if (only !== undefined && alike.length === 1) return only;
  const what = kind === 'tables' ? 'Table' : 'View';
  if (alike.length > 1) {
    const spellings = alike.map((each) => JSON.stringify(each.name)).join(' and ');
    throw new QueryError(
      'TABLE_NOT_FOUND',
      `The ${what.toLowerCase()} name ${JSON.stringify(name)} fits ${spellings}: spell it exactly.`,
    );
  }
  const names = others.map((each) => each.name);
  throw new QueryError(
    'TABLE_NOT_FOUND',
    `${what} ${quoted(namespace, name)} does not exist${suggestNames(name, names)}`,
  );
}

function sortedBy<T>(values: readonly T[], key: (value: T) => string): readonly T[] {
  return values
    .map((value) => [key(value), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, value]) => value);
}
