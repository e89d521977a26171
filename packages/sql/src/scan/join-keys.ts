/**
 * Which scans a join's condition says something of: where `a.k = b.k` decides that rows of one side are not needed, only
 * rows of that side's scan matter whose key is one of the other side's. Leaving the others out changes nothing that the
 * join answers.
 */

import { columnCount, leftColumnCount } from '../plan/column-count.js';
import { integerTypeNames, type LogicalType, printLogicalType } from '../plan/logical-type.js';
import type { PlanExpression } from '../plan/plan-expression.js';
import type { JoinNode, JoinType, PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { type ColumnOrigin, originsOf } from './column-origin.js';
import { isSameNumber } from './narrow-cast.js';

/** A column of a scan, as a key. */
export interface KeyColumn {
  /** The stub file of the table's view. */
  readonly stubFile: string;
  readonly name: string;
  /** As the engine prints it. */
  readonly type: string;
}

/** Rows of the target are of no use unless their key is one of the source's. NULL is none. */
export interface PlannedJoinKeys {
  readonly target: KeyColumn;
  readonly source: KeyColumn;
}

/** Of all joins of a plan. The scan of a target is one of those that `scanRequests` answers for its table. */
export function joinKeys(plan: PlanNode): readonly PlannedJoinKeys[] {
  return keysBelow(plan, undefined);
}

/** What the reader of a delim join's distinct values finds behind them: the side that they are of, and which they are. */
interface DelimValues {
  readonly side: PlanNode;
  readonly columns: readonly PlanExpression[];
}

function keysBelow(node: PlanNode, delim: DelimValues | undefined): readonly PlannedJoinKeys[] {
  if (node.kind !== 'join') return inputsOf(node).flatMap((input) => keysBelow(input, delim));
  const { flavour, left, right, delimColumns, delimFlipped } = node;
  if (flavour !== 'delim') {
    const own = flavour === 'comparison' ? keysOfJoin(node, needsMatch[node.joinType], delim) : [];
    return [...own, ...keysBelow(left, delim), ...keysBelow(right, delim)];
  }
  const [outer, inner] = delimFlipped ? [right, left] : [left, right];
  // Whose values are read below a second one is not looked into.
  const values = hasDelimJoin(inner) ? undefined : { side: outer, columns: delimColumns };
  const { left: needsLeft, right: needsRight } = needsMatch[node.joinType];
  const needed = { left: needsLeft && !delimFlipped, right: needsRight && delimFlipped };
  return [...keysOfJoin(node, needed, values), ...keysBelow(outer, delim), ...keysBelow(inner, values)];
}

function hasDelimJoin(node: PlanNode): boolean {
  return (node.kind === 'join' && node.flavour === 'delim') || inputsOf(node).some(hasDelimJoin);
}

interface NeededRows {
  /** Of that side only rows are needed that match one of the other. */
  readonly left: boolean;
  readonly right: boolean;
}

/** A MARK join answers NULL depending on rows that match nothing; a SINGLE join is not looked at. */
const needsMatch: Readonly<Record<JoinType, NeededRows>> = {
  INNER: { left: true, right: true },
  SEMI: { left: true, right: true },
  RIGHT_SEMI: { left: true, right: true },
  LEFT: { left: false, right: true },
  ANTI: { left: false, right: true },
  RIGHT: { left: true, right: false },
  RIGHT_ANTI: { left: true, right: false },
  FULL: { left: false, right: false },
  MARK: { left: false, right: false },
  SINGLE: { left: false, right: false },
};

function keysOfJoin(
  join: JoinNode,
  needed: NeededRows,
  delim: DelimValues | undefined,
): readonly PlannedJoinKeys[] {
  return join.conditions.flatMap(({ operator, left, right }) => {
    if (operator !== '=' && operator !== 'is-not-distinct') return [];
    const [one, other] = [
      { node: join.left, expression: left },
      { node: join.right, expression: right },
    ];
    const areNullsEqual = operator === 'is-not-distinct';
    return [
      ...(needed.left ? keysBetween(one, other, { areNullsEqual, delim }) : []),
      ...(needed.right ? keysBetween(other, one, { areNullsEqual, delim }) : []),
    ];
  });
}

/** An expression over what an operator answers. */
interface KeySide {
  readonly node: PlanNode;
  readonly expression: PlanExpression;
}

interface Comparison {
  readonly areNullsEqual: boolean;
  readonly delim: DelimValues | undefined;
}

function keysBetween(
  target: KeySide,
  source: KeySide,
  { areNullsEqual, delim }: Comparison,
): readonly PlannedJoinKeys[] {
  const into = targetColumn(target);
  const intoKey = into && keyColumn(into);
  if (into === undefined || intoKey === undefined) return [];
  return sourceColumns(source, delim).flatMap(({ origin, isNeverNull }) => {
    const fromKey = keyColumn(origin);
    if (fromKey === undefined || origin.get === into.get || (areNullsEqual && !isNeverNull)) return [];
    return areComparable(into.type, origin.type) ? [{ target: intoKey, source: fromKey }] : [];
  });
}

function keyColumn({ get, path, type }: ColumnOrigin): KeyColumn | undefined {
  const [stubFile] = get.files;
  const [name, ...fields] = path;
  if (stubFile === undefined || name === undefined || fields.length > 0) return undefined;
  return { stubFile, name, type: printLogicalType(type) };
}

/** The expression without casts that widen a number without changing it. */
function uncast(expression: PlanExpression): PlanExpression {
  if (expression.kind !== 'cast' || expression.tryCast) return expression;
  const { child } = expression;
  return child.kind === 'reference' && isSameNumber(child.type, expression.type) ? child : expression;
}

const keyTypes: ReadonlySet<string> = new Set([
  ...integerTypeNames,
  'DECIMAL',
  'VARCHAR',
  'UUID',
  'DATE',
  'TIMESTAMP',
  'TIMESTAMP_NS',
  'TIMESTAMP WITH TIME ZONE',
]);

/** Floats are none: neither NaN nor the two zeros are told apart by bounds as the engine does. */
function areComparable(target: LogicalType, source: LogicalType): boolean {
  if (!keyTypes.has(target.id) || !keyTypes.has(source.id)) return false;
  return (
    printLogicalType(target) === printLogicalType(source) ||
    isSameNumber(target, source) ||
    isSameNumber(source, target)
  );
}

/** A column of what an operator answers. */
interface Below {
  readonly node: PlanNode;
  readonly index: number;
}

/** The scan's column, where rows that have another value in it can as well be left out below all the operators between. */
function targetColumn({ node, expression }: KeySide): ColumnOrigin | undefined {
  let column = referenced(node, uncast(expression));
  while (column !== undefined && column.node.kind !== 'get') column = rowsPass(column);
  return column && originsOf(column.node)(column.index);
}

interface SourceColumn {
  readonly origin: ColumnOrigin;
  /** NULL is not among the values that are compared. */
  readonly isNeverNull: boolean;
}

/** Columns of scans that have all values of the expression, but NULL. */
function sourceColumns(
  { node, expression }: KeySide,
  delim: DelimValues | undefined,
): readonly SourceColumn[] {
  const found: SourceColumn[] = [];
  // Conditions of a few joins lead to one column in more ways than can be counted.
  const followed = new Map<PlanNode, Set<string>>();
  const follow = (column: Below | undefined, isWithoutNulls: boolean, canBecomeNull: boolean): void => {
    if (column === undefined) return;
    const { node: below, index } = column;
    const ways = followed.get(below) ?? new Set();
    followed.set(below, ways);
    const way = `${index} ${isWithoutNulls} ${canBecomeNull}`;
    if (ways.has(way)) return;
    ways.add(way);
    if (below.kind === 'get') {
      const origin = originsOf(below)(index);
      if (origin !== undefined) found.push({ origin, isNeverNull: isWithoutNulls });
      return;
    }
    if (below.kind === 'delim-get') {
      const values = delim?.columns[index];
      for (const column of delim === undefined || values === undefined
        ? []
        : sourceColumns({ node: delim.side, expression: values }, undefined))
        found.push({ ...column, isNeverNull: isWithoutNulls || (column.isNeverNull && !canBecomeNull) });
      return;
    }
    const next = columnBelow(below, index);
    const isPlain = passesNoNulls(below);
    const equal = next === undefined ? [] : equalColumns(below, next);
    const isNowWithoutNulls = isWithoutNulls || (equal.length > 0 && !canBecomeNull);
    for (const other of [next, ...equal]) follow(other, isNowWithoutNulls, canBecomeNull || !isPlain);
  };
  follow(referenced(node, uncast(expression)), false, false);
  return found;
}

/** What an inner join compares a column of one of its sides with: in its rows they are equal, and not NULL. */
function equalColumns(node: PlanNode, { node: side, index }: Below): readonly Below[] {
  if (node.kind !== 'join' || node.flavour !== 'comparison' || node.joinType !== 'INNER') return [];
  return node.conditions.flatMap(({ operator, left, right }) => {
    if (operator !== '=') return [];
    const [own, other, otherSide] = side === node.left ? [left, right, node.right] : [right, left, node.left];
    const isIt = own.kind === 'reference' && own.index === index;
    return isIt ? (referenced(otherSide, other) ?? []) : [];
  });
}

/** Where no row is answered that has NULL in a column which has none below. */
function passesNoNulls(node: PlanNode): boolean {
  if (node.kind === 'join') return node.joinType === 'INNER' || node.joinType === 'SEMI';
  return node.kind === 'projection' || node.kind === 'filter' || node.kind === 'distinct';
}

/** The column below, where leaving out rows there is the same as leaving them out above. */
function rowsPass({ node, index }: Below): Below | undefined {
  switch (node.kind) {
    case 'distinct':
      return node.on ? undefined : columnBelow(node, index);
    case 'aggregate':
      return node.groupingSets.every((set) => set.includes(index)) ? columnBelow(node, index) : undefined;
    case 'join': {
      const below =
        node.flavour === 'comparison' || node.flavour === 'any' ? columnBelow(node, index) : undefined;
      return below !== undefined && keepsRowsOf(node, below.node) ? below : undefined;
    }
    case 'projection':
    case 'filter':
    case 'order':
    case 'cross-product':
    case 'materialized-cte':
      return columnBelow(node, index);
    default:
      return undefined;
  }
}

/** Rows of this side are answered for themselves: what becomes of one does not depend on the others of its side. */
function keepsRowsOf({ joinType, left }: JoinNode, side: PlanNode): boolean {
  switch (joinType) {
    case 'INNER':
      return true;
    case 'LEFT':
    case 'SEMI':
    case 'ANTI':
    case 'MARK':
    case 'SINGLE':
      return side === left;
    case 'RIGHT':
    case 'RIGHT_SEMI':
    case 'RIGHT_ANTI':
      return side !== left;
    case 'FULL':
      return false;
  }
}

/** The column below that has all values of an operator's column, but NULL; undefined where it may have others. */
function columnBelow(node: PlanNode, index: number): Below | undefined {
  switch (node.kind) {
    case 'projection':
      return referenced(node.child, node.expressions[index]);
    case 'aggregate':
      return referenced(node.child, node.groups[index]);
    case 'filter':
    case 'order':
      return at(node.child, node.projection === undefined ? index : node.projection[index]);
    case 'distinct':
    case 'limit':
    case 'top-n':
    case 'sample':
    case 'materialized-cte':
      return at(node.child, index);
    case 'join':
      return belowJoin(node, index);
    case 'cross-product':
      return belowSides({ ...node, leftColumns: columnCount(node.left) }, index);
    default:
      return undefined;
  }
}

function belowJoin(join: JoinNode, index: number): Below | undefined {
  const { left, right, leftProjection, rightProjection } = join;
  if (join.joinType === 'RIGHT_SEMI' || join.joinType === 'RIGHT_ANTI')
    return at(right, rightProjection === undefined ? index : rightProjection[index]);
  const leftColumns = leftColumnCount(join);
  if (leftColumns === undefined) return undefined;
  if (join.joinType === 'MARK' && index >= leftColumns) return undefined;
  return belowSides({ left, right, leftColumns, leftProjection, rightProjection }, index);
}

interface Sides {
  readonly left: PlanNode;
  readonly right: PlanNode;
  readonly leftColumns: number | undefined;
  readonly leftProjection?: readonly number[] | undefined;
  readonly rightProjection?: readonly number[] | undefined;
}

/** The columns of the right side stand behind those of the left one. */
function belowSides(
  { left, right, leftColumns, leftProjection, rightProjection }: Sides,
  index: number,
): Below | undefined {
  if (leftColumns === undefined) return undefined;
  if (index < leftColumns) return at(left, leftProjection === undefined ? index : leftProjection[index]);
  const position = index - leftColumns;
  return at(right, rightProjection === undefined ? position : rightProjection[position]);
}

function referenced(node: PlanNode, expression: PlanExpression | undefined): Below | undefined {
  return expression?.kind === 'reference' ? at(node, expression.index) : undefined;
}

function at(node: PlanNode, index: number | undefined): Below | undefined {
  return index === undefined ? undefined : { node, index };
}
