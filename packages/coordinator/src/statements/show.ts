import { compileLikePattern } from '@svc/flight/arrow';
import type { LikePattern, ShowCatalogs, ShowSchemas, ShowTables, Statement } from '@svc/sql';
import type { CatalogDirectory } from '../catalogs/catalog-directory.js';
import type { SessionSettings } from '../identity/session-settings.js';
import { isInformationSchema } from '../information-schema/names.js';
import { informationViews } from '../information-schema/views.js';
import { namespaceOf, schemaName } from '../planner/names.js';
import { type TextAnswer, textAnswer } from '../results/text-answer.js';

export type ShowStatement = ShowCatalogs | ShowSchemas | ShowTables;

export function isShow(statement: Statement): statement is ShowStatement {
  return (
    statement.kind === 'show-catalogs' ||
    statement.kind === 'show-schemas' ||
    statement.kind === 'show-tables'
  );
}

/** SHOW CATALOGS, SHOW SCHEMAS [IN c] and SHOW TABLES [IN [c.]s], each with LIKE; one column, ordered by name. */
export async function answerShow(
  statement: ShowStatement,
  settings: SessionSettings,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<TextAnswer> {
  const names = await listNames(statement, settings, catalogs, signal);
  const matches = likeMatcher(statement.like);
  const rows = names
    .filter(matches)
    .sort()
    .map((name) => [name]);
  return textAnswer([{ name: columnName(statement), isNullable: false }], rows);
}

/** SHOW DATABASES answers a column named as DuckDB's: Power BI's connector for Flight SQL reads it by that name. */
function columnName(statement: ShowStatement): string {
  switch (statement.kind) {
    case 'show-catalogs':
      return `${statement.word}_name`;
    case 'show-schemas':
      return 'schema_name';
    case 'show-tables':
      return 'table_name';
  }
}

/** Whether a name matches; everything does without a pattern. */
export function likeMatcher(like: LikePattern | undefined): (name: string) => boolean {
  return compileLikePattern(like && backslashPattern(like));
}

async function listNames(
  statement: ShowStatement,
  settings: SessionSettings,
  catalogs: CatalogDirectory,
  signal: AbortSignal,
): Promise<string[]> {
  switch (statement.kind) {
    case 'show-catalogs':
      return [...catalogs.names];
    case 'show-schemas': {
      const { catalog } = catalogs.get(statement.catalog ?? settings.catalog);
      return (await catalog.listNamespaces([], { signal })).map(schemaName);
    }
    case 'show-tables': {
      const { catalog } = catalogs.get(statement.catalog ?? settings.catalog);
      const schema = statement.schema ?? settings.schema;
      if (schema !== undefined && isInformationSchema([schema]))
        return informationViews.map((view) => view.name);
      const namespaces =
        schema === undefined ? await catalog.listNamespaces([], { signal }) : [namespaceOf(schema)];
      const names: string[] = [];
      for (const namespace of namespaces) {
        const relations = await catalog.listRelations(namespace, { signal });
        // Without a schema to list, each name must say where it is.
        names.push(
          ...relations.map(({ identifier: { name } }) =>
            schema === undefined ? `${schemaName(namespace)}.${name}` : name,
          ),
        );
      }
      return names;
    }
  }
}

/** The same pattern with `\\` as its escape character: SQL's LIKE has none unless it is given. */
function backslashPattern(like: LikePattern): string {
  const characters = [...like.pattern];
  let text = '';
  for (let index = 0; index < characters.length; index += 1) {
    const character = characters[index] ?? '';
    if (character === like.escape) {
      index += 1;
      text += `\\${characters[index] ?? ''}`;
    } else text += character === '\\' ? '\\\\' : character;
  }
  return text;
}
