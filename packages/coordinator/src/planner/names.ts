import { QueryError } from '@svc/base';
import type { Namespace, TableIdentifier } from '@svc/lake';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';

/** A namespace's levels as one SQL schema name: Iceberg's levels are joined by dots, as other engines show them. */
export function schemaName(namespace: Namespace): string {
  return namespace.join('.');
}

export function namespaceOf(schema: string): Namespace {
  return schema.split('.');
}

/** A table's name as a statement has it: absent parts are the session's to fill in. */
export interface WrittenName {
  readonly catalog?: string;
  readonly schema?: string;
  readonly table: string;
}

/** `[[catalog.]schema.]table` as parts. Throws TABLE_NOT_FOUND for any other number of them. */
export function writtenName(parts: readonly string[]): WrittenName {
  const [table, schema, catalog, ...more] = [...parts].reverse();
  if (table === undefined || more.length > 0) {
    throw new QueryError(
      'TABLE_NOT_FOUND',
      `"${parts.join('.')}" has ${parts.length} parts; a table's name has one to three: catalog.schema.table.`,
    );
  }
  return {
    table,
    ...(schema === undefined ? {} : { schema }),
    ...(catalog === undefined ? {} : { catalog }),
  };
}

/** A table's place: which catalog, and which name in it. */
export interface TablePlace {
  readonly catalog: string;
  readonly identifier: TableIdentifier;
}

/**
 * Completes `table`, `schema.table` or `catalog.schema.table` with the session's defaults. Throws SCHEMA_NOT_FOUND
 * for an unqualified name without a default schema, CATALOG_NOT_FOUND.
 */
export function placeOf(
  name: WrittenName,
  settings: SessionSettings,
  catalogs: CatalogDirectory,
): TablePlace {
  const { table, schema, catalog } = name;
  const schemaText = schema ?? settings.schema;
  if (schemaText === undefined) {
    throw new QueryError(
      'SCHEMA_NOT_FOUND',
      `"${table}" has no schema and the session has no default one: write schema.${table}, or say USE schema first.`,
    );
  }
  return {
    catalog: catalogs.get(catalog ?? settings.catalog).name,
    identifier: { namespace: namespaceOf(schemaText), name: table },
  };
}
