import { booleanType, typeOfExpression } from '../plan/expression-type.js';
import type { PlanExpression } from '../plan/plan-expression.js';
import type { JoinCondition, JoinNode, JoinType, PlanNode } from '../plan/plan-node.js';
import { NotPrintable } from './not-printable.js';
import { printComparison, printExpression } from './print-expression.js';
import type { Printer } from './print-plan.js';
import {
  columnName,
  columnsOf,
  pickedColumns,
  type Relation,
  type Source,
  selectOf,
  withDefinitions,
} from './relation.js';

export function printCrossProduct(printer: Printer, left: PlanNode, right: PlanNode): Relation {
  const sources = [left, right].map((side) => printer.source(printer.print(side)));
  const picked = sources.map((source) => pickedColumns(source, undefined));
  return {
    sql: selectOf(
      picked.flatMap(({ texts }) => texts),
      sources.map(({ text }) => text).join(' CROSS JOIN '),
    ),
    types: picked.flatMap(({ types }) => types),
  };
}

/**
 * A delim join hands the distinct values of one side down to the other: both stand in a WITH before the join, so that the
 * values are those of the very rows that are joined.
 */
export function printJoin(printer: Printer, join: JoinNode): Relation {
  if (join.flavour !== 'delim') {
    const [left, right] = [join.left, join.right].map((side) => printer.source(printer.print(side)));
    if (left === undefined || right === undefined) throw new NotPrintable('a join of one side');
    return printSides(printer, join, left, right);
  }
  const outer = printer.print(join.delimFlipped ? join.right : join.left);
  const rows = printer.freshName('rows');
  const rowSource = { alias: printer.freshName('t'), types: outer.types, text: rows };
  const named = { ...rowSource, text: `${rows} AS ${rowSource.alias}` };
  const keys = printer.freshName('keys');
  if (join.delimColumns.length === 0) throw new NotPrintable('a correlated subquery without values');
  const keyTexts = join.delimColumns.map((each) => printExpression(each, columnsOf(named)));
  const keySource = { alias: keys, types: join.delimColumns.map(typeOfExpression), text: keys };
  const inner = printer.source(printer.withDelim(keySource, join.delimFlipped ? join.left : join.right));
  const joined = join.delimFlipped
    ? printSides(printer, join, inner, named)
    : printSides(printer, join, named, inner);
  return withDefinitions(
    [
      [rows, outer.sql],
      [keys, selectOf(keyTexts, named.text, 'DISTINCT ')],
    ],
    joined,
  );
}

const joinWords: Readonly<Partial<Record<JoinType, string>>> = {
  INNER: 'INNER JOIN',
  LEFT: 'LEFT JOIN',
  RIGHT: 'RIGHT JOIN',
  FULL: 'FULL JOIN',
};

function printSides(printer: Printer, join: JoinNode, left: Source, right: Source): Relation {
  const { joinType, leftProjection, rightProjection } = join;
  const lefts = pickedColumns(left, leftProjection);
  const rights = pickedColumns(right, rightProjection);
  switch (joinType) {
    case 'INNER':
    case 'LEFT':
    case 'RIGHT':
    case 'FULL': {
      const word = `${join.flavour === 'asof' ? asofWord(join) : ''}${joinWords[joinType]}`;
      const from = `${left.text} ${word} ${right.text} ON ${conditionOf(join, left, right)}`;
      return {
        sql: selectOf([...lefts.texts, ...rights.texts], from),
        types: [...lefts.types, ...rights.types],
      };
    }
    case 'SEMI':
    case 'ANTI': {
      mustNotBeAsof(join);
      const from = `${left.text} ${joinType} JOIN ${right.text} ON ${conditionOf(join, left, right)}`;
      return { sql: selectOf(lefts.texts, from), types: lefts.types };
    }
    case 'RIGHT_SEMI':
    case 'RIGHT_ANTI': {
      mustNotBeAsof(join);
      const word = joinType === 'RIGHT_SEMI' ? 'SEMI' : 'ANTI';
      const from = `${right.text} ${word} JOIN ${left.text} ON ${conditionOf(join, left, right)}`;
      return { sql: selectOf(rights.texts, from), types: rights.types };
    }
    case 'MARK': {
      mustNotBeAsof(join);
      return withSubquery(printer, right, (named) => ({
        sql: selectOf([...lefts.texts, markOf(join, left, named)], left.text),
        types: [...lefts.types, booleanType],
      }));
    }
    case 'SINGLE':
      mustNotBeAsof(join);
      return withSubquery(printer, right, (named) => printSingle(join, left, named));
  }
}

/**
 * The engine cannot take every join out of a correlated subquery that it was not itself written in, so the subquery only
 * chooses among rows that a WITH before it computes.
 */
function withSubquery(printer: Printer, side: Source, print: (named: Source) => Relation): Relation {
  const name = printer.freshName('side');
  const columns = pickedColumns(side, undefined).texts;
  return withDefinitions(
    [[name, selectOf(columns, side.text)]],
    print({ ...side, text: `${name} AS ${side.alias}` }),
  );
}

function mustNotBeAsof({ flavour }: JoinNode): void {
  if (flavour === 'asof') throw new NotPrintable('an ASOF join of this kind');
}

function asofWord({ joinType }: JoinNode): string {
  if (joinType !== 'INNER' && joinType !== 'LEFT') throw new NotPrintable('an ASOF join of this kind');
  return 'ASOF ';
}

function conditionOf(join: JoinNode, left: Source, right: Source): string {
  if (join.flavour === 'any') {
    if (join.condition === undefined || join.conditions.length > 0)
      throw new NotPrintable('a join condition');
    return printExpression(join.condition, columnsOf(left, right));
  }
  if (join.condition !== undefined) throw new NotPrintable('a join condition of two kinds');
  if (join.conditions.length === 0) throw new NotPrintable('a join without a condition');
  return join.conditions.map((condition) => comparisonOf(condition, left, right)).join(' AND ');
}

function comparisonOf(
  { operator, left, right }: JoinCondition,
  leftSource: Source,
  rightSource: Source,
): string {
  const print = (side: PlanExpression, source: Source) => printExpression(side, columnsOf(source));
  return printComparison(operator, print(left, leftSource), print(right, rightSource));
}

/**
 * Whether a row has a partner, as a value of three kinds: true, false, and NULL where a NULL on either side might have been
 * one. Conditions that take NULL for a value only choose the rows to look at.
 */
function markOf(join: JoinNode, left: Source, right: Source): string {
  if (join.flavour === 'any' || join.condition !== undefined || join.conditions.length === 0)
    throw new NotPrintable('a subquery compared in a way of its own');
  const isChoice = ({ operator }: JoinCondition) => operator === 'is-not-distinct';
  const choices = join.conditions.filter(isChoice).map((each) => comparisonOf(each, left, right));
  const compared = join.conditions.filter((condition) => !isChoice(condition));
  const where = choices.length === 0 ? '' : ` WHERE ${choices.join(' AND ')}`;
  const [first, ...others] = compared;
  if (first === undefined) return `EXISTS (SELECT 1 FROM ${right.text}${where})`;
  const subject = printExpression(first.left, columnsOf(left));
  const value = printExpression(first.right, columnsOf(right));
  if (others.length === 0) {
    const subquery = `(SELECT ${value} FROM ${right.text}${where})`;
    if (first.operator === '=') return `(${subject} IN ${subquery})`;
    if (first.operator === 'is-distinct') throw new NotPrintable('a subquery compared with IS DISTINCT FROM');
    return `(${subject} ${first.operator} ANY ${subquery})`;
  }
  if (choices.length > 0 || compared.some(({ operator }) => operator !== '='))
    throw new NotPrintable('a correlated subquery compared by several columns');
  const subjects = compared.map((each) => printExpression(each.left, columnsOf(left)));
  const values = compared.map((each) => printExpression(each.right, columnsOf(right)));
  return `((${subjects.join(', ')}) IN (SELECT ${values.join(', ')} FROM ${right.text}))`;
}

/** At most one partner for each row: the engine's own scalar subquery answers it, or the error that there are several. */
function printSingle(join: JoinNode, left: Source, right: Source): Relation {
  const lefts = pickedColumns(left, join.leftProjection);
  const rights = pickedColumns(right, join.rightProjection);
  const condition = conditionOf(join, left, right);
  const fields = rights.texts.map((text, index) => `${columnName(index)} := ${text}`);
  const known = rights.types.map((type) => {
    if (type === undefined) throw new NotPrintable('the place where a row is stored');
    return type;
  });
  if (fields.length === 0) throw new NotPrintable('a scalar subquery without a value');
  const subquery = `(SELECT struct_pack(${fields.join(', ')}) FROM ${right.text} WHERE ${condition}) AS partner`;
  const list = [...lefts.texts.map((text, index) => `${text} AS ${columnName(index)}`), subquery];
  const alias = `${left.alias}s`;
  const answered = [
    ...lefts.texts.map((_text, index) => `${alias}.${columnName(index)}`),
    ...fields.map((_field, index) => `struct_extract(${alias}.partner, '${columnName(index)}')`),
  ];
  return {
    sql: selectOf(answered, `(SELECT ${list.join(', ')} FROM ${left.text}) AS ${alias}`),
    types: [...lefts.types, ...known],
  };
}
