import { QueryError } from '@svc/base';
import { quoteIdentifier, quoteString } from '@svc/sql';
import { namespaceStatements } from './view-sql.js';

export interface EngineSession {
  readonly tables: readonly { readonly catalog: string; readonly schema: string }[];
  readonly defaultCatalog: string;
  readonly defaultSchema: string | undefined;
  readonly settings: Readonly<Record<string, string>>;
}

const allowedSettings: ReadonlySet<string> = new Set(['TimeZone']);

/**
 * Makes the statement's environment: catalogs and schemas of its tables, the settings, and the default schema that
 * resolves its unqualified names, whose case does not matter. A default schema without any table of the statement in it is left out: nothing can
 * be found there.
 */
export function sessionStatements(session: EngineSession): readonly string[] {
  const settings = Object.entries(session.settings).map(([name, value]) => {
    if (!allowedSettings.has(name))
      throw new QueryError('INTERNAL_ERROR', `The setting ${name} is not one of a session's.`);
    return `SET ${name} = ${quoteString(value)}`;
  });
  return [...namespaceStatements(session.tables), ...settings, ...useStatements(session)];
}

function useStatements({ defaultCatalog, defaultSchema, tables }: EngineSession): readonly string[] {
  const inCatalog = tables.filter((table) => table.catalog === defaultCatalog);
  if (inCatalog.length === 0) return [];
  const name = defaultSchema?.toLowerCase();
  const isSchemaUsed = inCatalog.some((table) => table.schema.toLowerCase() === name);
  const schema = isSchemaUsed && defaultSchema !== undefined ? `.${quoteIdentifier(defaultSchema)}` : '';
  return [`USE ${quoteIdentifier(defaultCatalog)}${schema}`];
}
