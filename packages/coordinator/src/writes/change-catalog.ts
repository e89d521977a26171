/** Statements that change the catalog and no rows: CREATE SCHEMA, CREATE TABLE with columns, DROP. */
import { QueryError } from '@svc/base';
import type { Namespace, WritableCatalog } from '@svc/lake';
import type { CreateSchema, CreateTable, DropObject } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { informationSchema, isInformationSchema } from '../information-schema/names.js';
import { namespaceOf, placeOf, schemaName, writtenName } from '../planner/names.js';
import { declaredColumns, tableDefinition } from './table-definition.js';

export interface ChangeOptions {
  readonly settings: SessionSettings;
  readonly catalogs: CatalogDirectory<WritableCatalog>;
  readonly signal: AbortSignal;
}

/** Does what the statement says; answers a line that says what was done. */
export async function changeCatalog(
  statement: CreateSchema | CreateTable | DropObject<'drop-schema'> | DropObject<'drop-table'>,
  options: ChangeOptions,
): Promise<string> {
  switch (statement.kind) {
    case 'create-schema':
      return await createSchema(statement, options);
    case 'create-table':
      return await createTable(statement, options);
    case 'drop-schema':
      return await dropSchema(statement, options);
    case 'drop-table':
      return await dropTable(statement, options);
  }
}

/** Where a new or existing table of a statement is, in a catalog that can be changed. */
export function writablePlace(
  parts: readonly string[],
  { settings, catalogs }: Omit<ChangeOptions, 'signal'>,
) {
  const place = placeOf(writtenName(parts), settings, catalogs);
  refuseInformationSchema(place.identifier.namespace);
  const name = `${place.catalog}.${schemaName(place.identifier.namespace)}.${place.identifier.name}`;
  return { ...place, name, writable: catalogs.get(place.catalog).catalog };
}

async function createSchema(statement: CreateSchema, options: ChangeOptions): Promise<string> {
  const { name, namespace, catalog } = schemaPlace(statement.name, options);
  if (statement.properties.length > 0)
    throw new QueryError('NOT_SUPPORTED', 'The schemas of this catalog have no properties and no comment.');
  try {
    await catalog.createNamespace(namespace, { signal: options.signal });
  } catch (error) {
    if (!statement.ifNotExists || !isCode(error, 'ALREADY_EXISTS')) throw error;
    return `Schema ${name} exists already.`;
  }
  return `Schema ${name} was created.`;
}

async function createTable(statement: CreateTable, options: ChangeOptions): Promise<string> {
  const { identifier, name, writable } = writablePlace(statement.name, options);
  const definition = tableDefinition(statement, declaredColumns(statement));
  try {
    await writable.createTable(identifier, definition, { signal: options.signal });
  } catch (error) {
    if (!statement.ifNotExists || !isCode(error, 'ALREADY_EXISTS')) throw error;
    return `Table ${name} exists already.`;
  }
  return `Table ${name} was created.`;
}

async function dropSchema(statement: DropObject, options: ChangeOptions): Promise<string> {
  const { name, namespace, catalog } = schemaPlace(statement.name, options);
  return await dropping(statement, `Schema ${name}`, 'SCHEMA_NOT_FOUND', () =>
    catalog.dropNamespace(namespace, { signal: options.signal }),
  );
}

async function dropTable(statement: DropObject, options: ChangeOptions): Promise<string> {
  const { signal } = options;
  const { identifier, name, writable } = writablePlace(statement.name, options);
  return await dropping(statement, `Table ${name}`, 'TABLE_NOT_FOUND', async () => {
    // Names match without regard to case where no other does, as in queries.
    const { identifier: found } = await writable.loadTable(identifier, { signal });
    await writable.dropTable(found, { signal, purge: statement.purge });
  });
}

/** Does not mind what is missing where the statement says so. */
export async function dropping(
  { ifExists }: DropObject,
  what: string,
  missing: 'SCHEMA_NOT_FOUND' | 'TABLE_NOT_FOUND',
  drop: () => Promise<void>,
): Promise<string> {
  try {
    await drop();
  } catch (error) {
    const isMissing = isCode(error, missing) || isCode(error, 'SCHEMA_NOT_FOUND');
    if (!ifExists || !isMissing) throw error;
    return `${what} does not exist.`;
  }
  return `${what} was dropped.`;
}

function schemaPlace(
  parts: readonly string[],
  { settings, catalogs }: ChangeOptions,
): { readonly name: string; readonly namespace: Namespace; readonly catalog: WritableCatalog } {
  const [schema = '', catalogName = settings.catalog] = [...parts].reverse();
  const { name, catalog } = catalogs.get(catalogName);
  const namespace = namespaceOf(schema);
  refuseInformationSchema(namespace);
  return { name: `${name}.${schema}`, namespace, catalog };
}

function refuseInformationSchema(namespace: Namespace): void {
  if (isInformationSchema(namespace))
    throw new QueryError(
      'INVALID_ARGUMENT',
      `${informationSchema} is in every catalog by itself; nothing is made, written or dropped there.`,
    );
}

export function isCode(error: unknown, code: string): boolean {
  return error instanceof QueryError && error.code === code;
}
