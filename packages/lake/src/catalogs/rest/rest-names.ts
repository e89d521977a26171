/** Lists of namespaces, tables and views, page by page; and what an unknown name may have meant. */
import { QueryError } from '@svc/base';
import type { Namespace, TableIdentifier } from '../catalog.js';
import { quotedPath, relationMissing, schemaMissing, severalFit } from '../name-errors.js';
import { type CatalogProblem, catalogError, generalError, problemOf } from './rest-errors.js';
import type { RestAnswer } from './rest-service.js';
import { answerFields, type RestSession, type RoutePath } from './rest-session.js';

/** A service that never comes to an end of its list is broken, and more names are more than is held in memory. */
const maxPages = 10_000;
const maxListedNames = 1_000_000;

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
  const { routes } = await session.config(signal);
  const query = parent.length === 0 ? {} : { parent: routes.parent(parent) };
  const what = parent.length === 0 ? 'the list of schemas' : `the list of schemas in ${quotedPath(parent)}`;
  const found: Namespace[] = [];
  const options = { query, what, field: 'namespaces', namespace: parent, signal };
  for await (const page of pages(session, (each) => each.namespaces(), options)) {
    for (const levels of page.lists('namespaces')) found.push(levels);
    throwIfTooMany(found, what);
  }
  return sortedBy(found, (levels) => levels.join('\u001f'));
}

export async function listIdentifiers(
  session: RestSession,
  kind: RelationKind,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<readonly TableIdentifier[]> {
  const what = `the list of ${kind} in ${quotedPath(namespace)}`;
  const found: TableIdentifier[] = [];
  const options = { what, field: 'identifiers', namespace, signal };
  for await (const page of pages(session, (routes) => routes[kind](namespace), options)) {
    for (const each of page.objects('identifiers'))
      found.push({ namespace: each.strings('namespace') ?? namespace, name: each.string('name') });
    throwIfTooMany(found, what);
  }
  return sortedBy(found, ({ name }) => name);
}

function throwIfTooMany(found: readonly unknown[], what: string): void {
  if (found.length > maxListedNames)
    throw catalogError(`has more than ${maxListedNames} names in ${what}`, { retryable: false });
}

/** Of a namespace that the service does not know. What could be meant is told when the user may list it. */
export async function schemaNotFound(
  session: RestSession,
  namespace: Namespace,
  signal: AbortSignal | undefined,
): Promise<QueryError> {
  const near = await listNamespaces(session, namespace.slice(0, -1), signal).catch(() => []);
  return schemaMissing(
    namespace,
    namespace.at(-1) ?? '',
    near.map((levels) => levels.at(-1) ?? ''),
  );
}

/**
 * Asks for a table or view by its name, and where the service does not know it once more by the only one that differs in
 * case. Answers under which name what was answered. Throws TABLE_NOT_FOUND, SCHEMA_NOT_FOUND naming near names.
 */
export async function bySpelling(
  session: RestSession,
  kind: RelationKind,
  identifier: TableIdentifier,
  { signal, ask }: BySpelling,
): Promise<{ readonly identifier: TableIdentifier; readonly answer: RestAnswer }> {
  const answer = await ask(identifier);
  if (answer.status !== 404) return { identifier, answer };
  const other = await otherSpelling(session, kind, identifier, problemOf(answer), signal);
  return { identifier: other, answer: await ask(other) };
}

export type RelationKind = 'tables' | 'views';

export interface BySpelling {
  readonly signal: AbortSignal | undefined;
  readonly ask: (identifier: TableIdentifier) => Promise<RestAnswer>;
}

/** Lists that the user may not see help nobody, and change nothing. */
async function otherSpelling(
  session: RestSession,
  kind: RelationKind,
  identifier: TableIdentifier,
  problem: CatalogProblem,
  signal: AbortSignal | undefined,
): Promise<TableIdentifier> {
  const { namespace, name } = identifier;
  if (/namespace/i.test(problem.type)) throw await schemaNotFound(session, namespace, signal);
  const others = await listIdentifiers(session, kind, namespace, signal).catch((error: unknown) => {
    if (error instanceof QueryError && error.code === 'SCHEMA_NOT_FOUND') throw error;
    return [];
  });
  const alike = others.filter((each) => each.name.toLowerCase() === name.toLowerCase() && each.name !== name);
  const [only, ...further] = alike;
  const what = kind === 'tables' ? 'table' : 'view';
  const namesOf = (identifiers: readonly TableIdentifier[]) => identifiers.map((each) => each.name);
  if (only === undefined) throw relationMissing(what, identifier, namesOf(others));
  if (further.length > 0) throw severalFit(what, name, namesOf(alike));
  return only;
}

function sortedBy<T>(values: readonly T[], key: (value: T) => string): readonly T[] {
  return values
    .map((value) => [key(value), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
    .map(([, value]) => value);
}
