/** SHOW CREATE: the statement that makes the table or view anew. */
import { QueryError } from '@svc/base';
import { engineType } from '@svc/fragment-fn';
import { type LoadedTable, type LoadedView, type NestedField, sqlOfView, viewDialect } from '@svc/lake';
import { quoteIdentifier, quoteString } from '@svc/sql';
import type { Relation } from '../planner/load-relation.js';

/** Throws NOT_SUPPORTED for a view of another dialect, or of what no statement makes. */
export function createStatementOf(relation: Relation): string {
  const name = relation.path.map(quoteIdentifier).join('.');
  switch (relation.kind) {
    case 'table':
      return tableStatement(name, relation.columns, relation.loaded);
    case 'view':
      return viewStatement(name, relation.columns, relation.loaded);
    case 'computed':
      throw new QueryError('NOT_SUPPORTED', `${name} is there by itself: no statement makes it.`);
  }
}

function tableStatement(name: string, columns: readonly NestedField[], { metadata }: LoadedTable): string {
  const properties = new Map([['format-version', String(metadata.formatVersion)], ...metadata.properties]);
  const list = columns.map(
    (column) =>
      `  ${quoteIdentifier(column.name)} ${typeText(column)}${column.required ? ' NOT NULL' : ''}${commentOf(column.doc)}`,
  );
  const lines = [`CREATE TABLE ${name} (`, list.join(',\n'), ')'];
  const partitions = partitionTexts(columns, metadata);
  if (partitions.length > 0) lines.push(`PARTITIONED BY (${partitions.join(', ')})`);
  return [...lines, ...clauses(properties)].join('\n');
}

function viewStatement(name: string, columns: readonly NestedField[], { metadata }: LoadedView): string {
  const sql = sqlOfView(metadata, viewDialect);
  if (sql === undefined)
    throw new QueryError(
      'NOT_SUPPORTED',
      `The view ${name} is written for another dialect than ${viewDialect}.`,
    );
  const list = columns.map((column) => `${quoteIdentifier(column.name)}${commentOf(column.doc)}`).join(', ');
  return [`CREATE VIEW ${name} (${list})`, ...clauses(metadata.properties), `AS ${sql}`].join('\n');
}

function typeText({ type }: NestedField): string {
  return type.kind === 'unsupported' ? type.text : engineType(type);
}

function commentOf(doc: string | undefined): string {
  return doc === undefined ? '' : ` COMMENT ${quoteString(doc)}`;
}

function clauses(properties: ReadonlyMap<string, string>): readonly string[] {
  const { comment, ...others } = Object.fromEntries(properties);
  const list = Object.entries(others).map(([key, value]) => `${quoteString(key)} = ${quoteString(value)}`);
  return [
    ...(comment === undefined ? [] : [`COMMENT ${quoteString(comment)}`]),
    ...(list.length === 0 ? [] : [`TBLPROPERTIES (${list.join(', ')})`]),
  ];
}

/** Fields of the present spec by the names that the statement takes; a field within a struct has none there. */
function partitionTexts(
  columns: readonly NestedField[],
  metadata: LoadedTable['metadata'],
): readonly string[] {
  const spec = metadata.partitionSpecs.find(({ specId }) => specId === metadata.defaultSpecId);
  return (spec?.fields ?? []).map(({ sourceIds: [sourceId], transform }) => {
    const column = columns.find(({ id }) => id === sourceId);
    const source = column === undefined ? `/* field ${sourceId} */` : quoteIdentifier(column.name);
    const [, kind = transform, number] = /^(\w+)(?:\[(\d+)\])?$/.exec(transform) ?? [];
    if (kind === 'identity') return source;
    return number === undefined ? `${kind}(${source})` : `${kind}(${number}, ${source})`;
  });
}
