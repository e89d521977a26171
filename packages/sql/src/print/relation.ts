import { type LogicalType, printLogicalType } from '../plan/logical-type.js';
import type { PlanExpression, ReferenceExpression } from '../plan/plan-expression.js';
import { NotPrintable } from './not-printable.js';
import type { ColumnText } from './print-expression.js';
import { printType } from './print-value.js';

/**
 * The rows of an operator: a whole SELECT whose columns are c0, c1, …. A column without a type is there for its position
 * only: nothing may look at its value, which stands for where a row is stored, or for nothing at all.
 */
export interface Relation {
  readonly sql: string;
  readonly types: readonly (LogicalType | undefined)[];
}

/** A relation in FROM, under a name that no other one in the text has. */
export interface Source {
  readonly alias: string;
  readonly types: Relation['types'];
  readonly text: string;
}

export function columnName(index: number): string {
  return `c${index}`;
}

export function columnOf({ alias }: Source, index: number): string {
  return `${alias}.${columnName(index)}`;
}

/**
 * References into the columns of the sources, one after the other. This is the check of positions: every expression that
 * is printed goes through it, so a rewrite that lost a column cannot pass for another one.
 */
export function columnsOf(...sources: readonly Source[]): ColumnText {
  return (reference) => {
    let index = reference.index;
    for (const source of sources) {
      if (index < source.types.length) return checkedColumn(source, index, reference);
      index -= source.types.length;
    }
    throw new NotPrintable(`a reference to column ${reference.index}, which is not there`);
  };
}

function checkedColumn(source: Source, index: number, { type }: ReferenceExpression): string {
  const found = source.types[index];
  if (found === undefined) throw new NotPrintable('the place where a row is stored');
  if (printLogicalType(found) !== printLogicalType(type))
    throw new NotPrintable(
      `a reference of type ${printLogicalType(type)} to a column of type ${printLogicalType(found)}`,
    );
  // What the name of a type does not tell (a collation, the values of an enumeration) might change what it means here.
  printType(type);
  return columnOf(source, index);
}

/** SELECT of these texts, named by position. */
export function selectOf(texts: readonly string[], from: string, before = ''): string {
  const list = texts.map((text, index) => `${text} AS ${columnName(index)}`);
  // A SELECT needs a column; nobody refers to this one.
  return `SELECT ${before}${list.length === 0 ? '0 AS nothing' : list.join(', ')} FROM ${from}`;
}

/** A relation that reads named ones: its own text may have a WITH already, so it stands in parentheses. */
export function withDefinitions(
  definitions: readonly (readonly [name: string, sql: string])[],
  { sql, types }: Relation,
): Relation {
  const list = definitions.map(([name, definition]) => `${name} AS MATERIALIZED (${definition})`);
  const texts = types.map((_type, index) => `d.${columnName(index)}`);
  return { sql: `WITH ${list.join(', ')} ${selectOf(texts, `(${sql}) AS d`)}`, types };
}

/** The columns of a source at these positions; all of them when undefined. */
export function pickedColumns(
  source: Source,
  positions: readonly number[] | undefined,
): { readonly texts: readonly string[]; readonly types: Relation['types'] } {
  const picked = positions ?? [...source.types.keys()];
  for (const position of picked)
    if (position >= source.types.length) throw new NotPrintable(`column ${position}, which is not there`);
  return {
    texts: picked.map((position) => columnOf(source, position)),
    types: picked.map((position) => source.types[position]),
  };
}

/** Aggregates and windows may not stand in place of a scalar expression, nor unnest. */
export function isScalar(expression: PlanExpression): boolean {
  return expression.kind !== 'aggregate' && expression.kind !== 'window' && expression.kind !== 'unnest';
}
