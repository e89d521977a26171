/** Clauses of other systems in statements that write: known, so that they are named and not taken for a slip. */
import { QueryError } from '@svc/base';
import type { Cursor } from './cursor.js';

/** Of a column, or in the place of one. */
const columnClauses: readonly (readonly string[])[] = [
  ['PRIMARY', 'KEY'],
  ['FOREIGN', 'KEY'],
  ['UNIQUE'],
  ['REFERENCES'],
  ['CHECK'],
  ['CONSTRAINT'],
  ['DEFAULT'],
  ['GENERATED'],
  ['COLLATE'],
];

const tableClauses: readonly (readonly [words: readonly string[], instead: string])[] = [
  [['LIKE'], 'write its columns, or use CREATE TABLE … AS SELECT * FROM … LIMIT 0'],
  [['CLONE'], 'use CREATE TABLE … AS'],
  [['WITH', '('], 'properties stand in TBLPROPERTIES (…), the partitioning in PARTITIONED BY (…)'],
  [['LOCATION'], 'the catalog says where things lie'],
  [['SORTED', 'BY'], 'tables have no sort order; ORDER BY of a query holds for its rows'],
  [['ORDER', 'BY'], 'tables have no sort order; ORDER BY of a query holds for its rows'],
  [['CLUSTERED', 'BY'], 'use PARTITIONED BY (bucket(n, column))'],
  [['PARTITION', 'BY'], 'use PARTITIONED BY (…)'],
  [['STORED', 'AS'], 'data files are Parquet'],
  [['OPTIONS'], 'use TBLPROPERTIES (…)'],
];

/** Throws NOT_SUPPORTED when such a clause begins here; `of` is what it stands in. */
export function refuseColumnClause(cursor: Cursor, of: string): void {
  for (const words of columnClauses)
    if (cursor.sees(...words))
      throw new QueryError(
        'NOT_SUPPORTED',
        `${words.join(' ')} of ${of} is not supported: columns of a table have a type, NOT NULL and a COMMENT.`,
      );
}

/** What stands in the place of a column and is none: a column's name is followed by its type, never by a bracket. */
const constraints: readonly (readonly string[])[] = [
  ['PRIMARY', 'KEY', '('],
  ['FOREIGN', 'KEY', '('],
  ['UNIQUE', '('],
  ['CHECK', '('],
];

/** Throws NOT_SUPPORTED when a constraint or LIKE begins here, where a column should. */
export function refuseTableElement(cursor: Cursor): void {
  if (cursor.sees('LIKE')) refuseTableClause(cursor, 'CREATE TABLE');
  const { tokens, index } = cursor;
  const first = cursor.sees('CONSTRAINT') ? index + 2 : index;
  const isConstraint = constraints.some((words) =>
    words.every((word, offset) => tokens.is(first + offset, word)),
  );
  if (isConstraint) refuseColumnClause(cursor, 'a table');
}

/** Throws NOT_SUPPORTED when such a clause begins here, saying what is used instead. */
export function refuseTableClause(cursor: Cursor, statement: string): void {
  for (const [words, instead] of tableClauses)
    if (cursor.sees(...words))
      throw new QueryError(
        'NOT_SUPPORTED',
        `${statement} … ${words.join(' ')} is not supported: ${instead}.`,
      );
}
