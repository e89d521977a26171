/** CREATE VIEW and DROP VIEW. */
import { QueryError } from '@svc/base';
import { type ViewDefinition, viewDialect } from '@svc/lake';
import type { CreateView, DropObject } from '@svc/sql';
import type { Session } from '../identity/session.js';
import { namespaceOf } from '../planner/names.js';
import { describeQueryStatement } from '../planner/plan-query.js';
import { ownerOf, type PlannerDependencies } from '../planner/planner-dependencies.js';
import { dropping, isCode, writablePlace } from './change-catalog.js';
import { columnsOfQuery } from './query-columns.js';
import { withComment } from './table-definition.js';

export interface ViewChange {
  readonly session: Session;
  readonly signal: AbortSignal;
}

/**
 * The query is gated and bound before the view is made: a view that could not be read is none. Answers a line that says
 * what was done. Throws what binding the query throws, NOT_SUPPORTED for what no view can have.
 */
export async function createView(
  statement: CreateView,
  dependencies: PlannerDependencies,
  { session, signal }: ViewChange,
): Promise<string> {
  const { settings } = session;
  const change = { settings, catalogs: dependencies.catalogsToChange(session), signal };
  const { catalog, identifier, name, writable } = writablePlace(statement.name, change);
  const query = await dependencies.analyzer.analyzeView(
    statement.query,
    ownerOf(session, dependencies.policies),
    signal,
  );
  if (query.gated.parameters.length > 0) throw new QueryError('NOT_SUPPORTED', 'A view has no parameters.');
  const { schema } = await describeQueryStatement(
    { ...dependencies, catalogsOf: dependencies.catalogsToChange },
    { query, session, signal },
  );
  const definition: ViewDefinition = {
    columns: viewColumns(statement, schema),
    representations: [{ sql: statement.query, dialect: viewDialect }],
    defaultCatalog: settings.catalog === catalog ? catalog : settings.catalog,
    defaultNamespace: settings.schema === undefined ? [] : namespaceOf(settings.schema),
    properties: withComment(statement.properties, statement.comment),
  };
  try {
    await writable.createView(identifier, definition, { signal });
    return `View ${name} was created.`;
  } catch (error) {
    if (!isCode(error, 'ALREADY_EXISTS')) throw error;
    if (statement.ifNotExists) return `View ${name} exists already.`;
    if (!statement.orReplace) throw error;
  }
  await writable.replaceView(identifier, definition, { signal });
  return `View ${name} was replaced.`;
}

export async function dropView(
  statement: DropObject,
  dependencies: PlannerDependencies,
  { session, signal }: ViewChange,
): Promise<string> {
  const { identifier, name, writable } = writablePlace(statement.name, {
    settings: session.settings,
    catalogs: dependencies.catalogsToChange(session),
  });
  return await dropping(statement, `View ${name}`, 'TABLE_NOT_FOUND', async () => {
    const { identifier: found } = await writable.loadView(identifier, { signal });
    await writable.dropView(found, { signal });
  });
}

function viewColumns({ columns: named }: CreateView, schema: Uint8Array): ViewDefinition['columns'] {
  const columns = columnsOfQuery(schema);
  if (named.length === 0) return columns;
  if (named.length !== columns.length)
    throw new QueryError(
      'BINDING_ERROR',
      `The view names ${named.length} columns, but its query answers ${columns.length}.`,
    );
  return columns.map((column, index) => {
    const { name = column.name, comment } = named[index] ?? {};
    return { ...column, name, ...(comment === undefined ? {} : { doc: comment }) };
  });
}
