/** CREATE TABLE and CREATE SCHEMA, and the clauses that they share with CREATE VIEW. */
import { QueryError } from '@svc/base';
import { parseColumnType } from './column-type.js';
import type { Cursor } from './cursor.js';
import type {
  CreateSchema,
  CreateTable,
  DeclaredColumn,
  PartitionTransform,
  Properties,
} from './ddl-statements.js';
import { seesQuery, writeBehindWith } from './query.js';
import { refuseColumnClause, refuseTableClause, refuseTableElement } from './refused-clauses.js';

/** `[IF NOT EXISTS] name`. */
export function parseNewName(cursor: Cursor, what: string, maxParts: number, orReplace = false) {
  const ifNotExists = cursor.accept('IF', 'NOT', 'EXISTS');
  if (orReplace && ifNotExists) throw cursor.error('OR REPLACE and IF NOT EXISTS exclude each other');
  return { ifNotExists, name: cursor.name(what, maxParts) };
}

/** `CREATE SCHEMA [IF NOT EXISTS] [catalog.]schema [COMMENT text] [WITH [PROPERTIES | DBPROPERTIES] (…)]`, from behind SCHEMA. */
export function parseCreateSchema(cursor: Cursor): CreateSchema {
  const named = parseNewName(cursor, 'a schema', 2);
  const { comment, properties } = parseClauses(cursor);
  refuseTableClause(cursor, 'CREATE SCHEMA');
  cursor.expectEnd();
  const all: Properties = comment === undefined ? properties : [...properties, ['comment', comment]];
  return { kind: 'create-schema', statementType: 'create_schema', ...named, properties: all };
}

/**
 * `CREATE [OR REPLACE] TABLE [IF NOT EXISTS] name [(column type [NOT NULL] [COMMENT text], …)] [USING iceberg] [PARTITIONED BY (…)] [COMMENT text]
 * [TBLPROPERTIES (…)] [AS query]`, from behind TABLE.
 */
export function parseCreateTable(cursor: Cursor, orReplace: boolean): CreateTable {
  const named = parseNewName(cursor, 'a table', 3, orReplace);
  const columns = cursor.sees('(') ? parseColumns(cursor) : [];
  parseUsing(cursor);
  const { comment, properties, partitioning } = parseClauses(cursor, true);
  refuseTableClause(cursor, 'CREATE TABLE');
  const query = cursor.accept('AS') ? parseEmbeddedQuery(cursor) : undefined;
  if (query === undefined) {
    cursor.expectEnd();
    if (columns.length === 0) throw cursor.error('expected columns in brackets, or AS and a query');
  } else if (columns.length > 0) {
    throw cursor.error('a table AS a query takes its columns from the query: leave the list of columns out');
  }
  return {
    kind: 'create-table',
    statementType: 'ctas',
    ...named,
    orReplace,
    columns,
    partitioning,
    properties,
    comment,
    query,
  };
}

/** Spark's `USING iceberg`, which is what every table is. */
function parseUsing(cursor: Cursor): void {
  if (!cursor.accept('USING') || cursor.accept('ICEBERG')) return;
  const format = cursor.identifier('a table format');
  throw new QueryError(
    'NOT_SUPPORTED',
    `CREATE TABLE … USING ${format} is not supported: tables are Iceberg's.`,
  );
}

/** The query from here to the end of the statement. */
export function parseEmbeddedQuery(cursor: Cursor): string {
  if (!seesQuery(cursor) || writeBehindWith(cursor) !== undefined) throw cursor.error('expected a query');
  return cursor.rest();
}

function parseColumns(cursor: Cursor): readonly DeclaredColumn[] {
  cursor.expect('(');
  const columns: DeclaredColumn[] = [];
  do {
    refuseTableElement(cursor);
    const name = cursor.identifier('a column');
    if (columns.some((column) => column.name.toLowerCase() === name.toLowerCase()))
      throw cursor.error(`the column "${name}" is there twice`);
    const type = parseColumnType(cursor);
    columns.push({ name, type, ...parseColumnClauses(cursor, name) });
  } while (cursor.accept(','));
  cursor.expect(')');
  return columns;
}

function parseColumnClauses(cursor: Cursor, column: string): Pick<DeclaredColumn, 'isRequired' | 'comment'> {
  let isRequired = false;
  let comment: string | undefined;
  for (;;) {
    if (cursor.accept('NOT', 'NULL')) isRequired = true;
    else if (cursor.accept('COMMENT')) comment = cursor.string('the comment');
    else if (!cursor.accept('NULL')) break;
  }
  refuseColumnClause(cursor, `column "${column}"`);
  if (!cursor.sees(',') && !cursor.sees(')'))
    throw cursor.error('expected NOT NULL, COMMENT, a comma or the end of the columns');
  return { isRequired, comment };
}

export interface Clauses {
  readonly comment: string | undefined;
  readonly properties: Properties;
  readonly partitioning: readonly PartitionTransform[];
}

/** Clauses in any order, each at most once. */
export function parseClauses(cursor: Cursor, hasPartitions = false): Clauses {
  let comment: string | undefined;
  let properties: Properties | undefined;
  let partitioning: readonly PartitionTransform[] | undefined;
  const once = (known: unknown, what: string) => {
    if (known !== undefined) throw cursor.error(`${what} is there twice`);
  };
  for (;;) {
    if (cursor.sees('COMMENT')) {
      once(comment, 'COMMENT');
      cursor.expect('COMMENT');
      comment = cursor.string('the comment');
    } else if (hasPartitions && cursor.sees('PARTITIONED', 'BY')) {
      once(partitioning, 'PARTITIONED BY');
      cursor.accept('PARTITIONED', 'BY');
      partitioning = parsePartitioning(cursor);
    } else if (
      cursor.accept('TBLPROPERTIES') ||
      cursor.accept('WITH', 'PROPERTIES') ||
      cursor.accept('WITH', 'DBPROPERTIES') ||
      (!hasPartitions && cursor.sees('WITH', '(') && cursor.accept('WITH'))
    ) {
      once(properties, 'the list of properties');
      properties = parseProperties(cursor);
    } else return { comment, properties: properties ?? [], partitioning: partitioning ?? [] };
  }
}

/** `('key' = 'value', …)`; keys may also be dotted words. */
function parseProperties(cursor: Cursor): Properties {
  const properties: (readonly [string, string])[] = [];
  cursor.expect('(');
  do {
    const key = cursor.seesString ? cursor.string('a key') : propertyName(cursor);
    if (properties.some(([known]) => known === key))
      throw cursor.error(`the property "${key}" is there twice`);
    cursor.expect('=');
    properties.push([key, cursor.seesString ? cursor.string('a value') : bareValue(cursor)]);
  } while (cursor.accept(','));
  cursor.expect(')');
  return properties;
}

function propertyName(cursor: Cursor): string {
  let name = cursor.identifier('a property');
  while (cursor.sees('.') || cursor.sees('-')) {
    name += cursor.accept('.') ? '.' : '';
    if (cursor.accept('-')) name += '-';
    name += cursor.identifier('a property');
  }
  return name;
}

/** A number, or true or false. */
function bareValue(cursor: Cursor): string {
  for (const word of ['TRUE', 'FALSE']) if (cursor.accept(word)) return word.toLowerCase();
  return String(cursor.integer('a value: text in quotes, a number, true or false'));
}

const timeTransforms: Readonly<Record<string, 'year' | 'month' | 'day' | 'hour'>> = {
  YEAR: 'year',
  YEARS: 'year',
  MONTH: 'month',
  MONTHS: 'month',
  DAY: 'day',
  DAYS: 'day',
  HOUR: 'hour',
  HOURS: 'hour',
};

/** `(column, month(column), bucket(16, column), truncate(10, column), …)`; the number may stand behind the column too. */
function parsePartitioning(cursor: Cursor): readonly PartitionTransform[] {
  const fields: PartitionTransform[] = [];
  cursor.expect('(');
  do fields.push(parseTransform(cursor));
  while (cursor.accept(','));
  cursor.expect(')');
  return fields;
}

function parseTransform(cursor: Cursor): PartitionTransform {
  const word = cursor.words(1);
  const time = Object.hasOwn(timeTransforms, word) ? timeTransforms[word] : undefined;
  const isTransform = time !== undefined || ['BUCKET', 'TRUNCATE', 'IDENTITY', 'VOID'].includes(word);
  if (!isTransform || !cursor.accept(word, '(')) {
    if (cursor.tokens.is(cursor.index + 1, '('))
      throw cursor.error(
        'expected a column, or year, month, day, hour, bucket, truncate, identity or void of one',
      );
    return { kind: 'identity', column: cursor.identifier('a column') };
  }
  const field = transformOf(cursor, word, time);
  cursor.expect(')');
  return field;
}

function transformOf(
  cursor: Cursor,
  word: string,
  time: 'year' | 'month' | 'day' | 'hour' | undefined,
): PartitionTransform {
  if (time !== undefined) return { kind: time, column: cursor.identifier('a column') };
  if (word === 'IDENTITY') return { kind: 'identity', column: cursor.identifier('a column') };
  if (word === 'VOID') return { kind: 'void', column: cursor.identifier('a column') };
  const what = word === 'BUCKET' ? 'the number of buckets' : 'the width';
  let number: number | undefined;
  if (cursor.seesNumber) {
    number = cursor.integer(what);
    cursor.expect(',');
  }
  const column = cursor.identifier('a column');
  if (number === undefined) {
    cursor.expect(',');
    number = cursor.integer(what);
  }
  if (number < 1 || number > 2 ** 31 - 1) throw cursor.error(`${what} must be 1 to 2147483647`);
  return word === 'BUCKET'
    ? { kind: 'bucket', count: number, column }
    : { kind: 'truncate', width: number, column };
}
