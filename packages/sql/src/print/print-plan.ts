import { typeOfExpression } from '../plan/expression-type.js';
import type { LogicalType } from '../plan/logical-type.js';
import { printLogicalType } from '../plan/logical-type.js';
import type { PlanExpression } from '../plan/plan-expression.js';
import type { AggregateNode, GetNode, LimitNode, LimitValue, PlanNode } from '../plan/plan-node.js';
import { quoteIdentifier } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';
import { printAggregate } from './print-aggregate.js';
import { printExpression, printOrders } from './print-expression.js';
import { printCrossProduct, printJoin } from './print-join.js';
import { printScan } from './print-scan.js';
import { printType, printValue } from './print-value.js';
import { printWindow } from './print-window.js';
import {
  columnName,
  columnOf,
  columnsOf,
  isScalar,
  pickedColumns,
  type Relation,
  type Source,
  selectOf,
  withDefinitions,
} from './relation.js';

/** How a text names what it reads. */
export interface PrintNames {
  /** Of a scan's table. */
  scan(get: GetNode): string;
  /** Of an earlier stage's rows, whose columns are named by position. */
  stage(name: string): string;
}

/** What the printers of operators share while one text is made. */
export interface Printer {
  print(node: PlanNode): Relation;
  /** The relation in parentheses, under a new name. */
  source(relation: Relation): Source;
  freshName(prefix: string): string;
  /** Prints `node` with delim-gets that read the source. */
  withDelim(source: Source, node: PlanNode): Relation;
}

type NodeOf<K extends PlanNode['kind']> = Extract<PlanNode, { readonly kind: K }>;

/** A plan as one SELECT. Throws NotPrintable, never guesses. */
export function printPlan(plan: PlanNode, names: PrintNames): Relation {
  let count = 0;
  const delims: Source[] = [];
  const ctes = new Map<bigint, Source>();
  const printer: Printer = {
    print: (node) => printNode(node),
    freshName: (prefix) => `${prefix}${++count}`,
    source: ({ sql, types }) => {
      const alias = printer.freshName('t');
      return { alias, types, text: `(${sql}) AS ${alias}` };
    },
    withDelim: (source, node) => {
      delims.push(source);
      try {
        return printNode(node);
      } finally {
        delims.pop();
      }
    },
  };

  const readSource = (source: Source | undefined, types: readonly LogicalType[], what: string): Relation => {
    if (source === undefined) throw new NotPrintable(`${what} outside of its scope`);
    if (types.some((type, index) => !isSameType(type, source.types[index])))
      throw new NotPrintable(`${what} with other columns`);
    const alias = printer.freshName('t');
    const texts = types.map((_type, index) => columnOf({ ...source, alias }, index));
    return { sql: selectOf(texts, `${source.text} AS ${alias}`), types };
  };

  const printCte = ({ cteIndex, definition, child }: NodeOf<'materialized-cte'>): Relation => {
    const defined = printNode(definition);
    const name = printer.freshName('cte');
    ctes.set(cteIndex, { alias: name, types: defined.types, text: name });
    const body = printNode(child);
    ctes.delete(cteIndex);
    return withDefinitions([[name, defined.sql]], body);
  };

  const printNode = (node: PlanNode): Relation => {
    switch (node.kind) {
      case 'get':
        if (node.functionName !== 'read_parquet' && node.functionName !== 'parquet_scan')
          throw new NotPrintable(`the table function ${node.functionName}`);
        if (node.child !== undefined || node.files.length !== 1)
          throw new NotPrintable('a scan of more than a table');
        return printScan(node, names.scan(node));
      case 'stage-read': {
        const alias = printer.freshName('t');
        const text = `${names.stage(node.stage)} AS ${alias}`;
        const source = { alias, text, types: node.types };
        return {
          sql: selectOf(
            node.types.map((_type, index) => columnOf(source, index)),
            text,
          ),
          types: node.types,
        };
      }
      case 'projection':
        return printProjection(printer, node.child, node.expressions);
      case 'filter':
        return printFilterNode(printer, node);
      case 'aggregate':
        return printAggregation(printer, node);
      case 'join':
        return printJoin(printer, node);
      case 'cross-product':
        return printCrossProduct(printer, node.left, node.right);
      case 'order': {
        const source = printer.source(printNode(node.child));
        const { texts, types } = pickedColumns(source, node.projection);
        const orders = printOrders(node.orders, columnsOf(source));
        return { sql: `${selectOf(texts, source.text)} ORDER BY ${orders}`, types };
      }
      case 'top-n': {
        const source = printer.source(printNode(node.child));
        const { texts, types } = pickedColumns(source, undefined);
        const orders = printOrders(node.orders, columnsOf(source));
        const range = `LIMIT ${node.limit} OFFSET ${node.offset}`;
        return { sql: `${selectOf(texts, source.text)} ORDER BY ${orders} ${range}`, types };
      }
      case 'limit':
        return printLimit(printer, node);
      case 'distinct':
        return printDistinct(printer, node);
      case 'window': {
        const source = printer.source(printNode(node.child));
        const { texts, types } = pickedColumns(source, undefined);
        const windows = node.expressions.map((each) => printWindow(each, columnsOf(source)));
        return {
          sql: selectOf([...texts, ...windows], source.text),
          types: [...types, ...node.expressions.map(typeOfExpression)],
        };
      }
      case 'unnest':
        return printUnnest(printer, node);
      case 'set-operation':
        return printSetOperation(printer, node);
      case 'materialized-cte':
        return printCte(node);
      case 'cte-reference':
        return readSource(ctes.get(node.cteIndex), node.types, 'a common table expression');
      case 'delim-get':
        return readSource(delims.at(-1), node.types, 'the values of a correlated subquery');
      case 'expression-get':
        return printRows(
          node.rows.map((row) => row.map((each) => printExpression(each, columnsOf()))),
          node.types,
        );
      case 'chunk-get': {
        const count = node.columns[0]?.length ?? 0;
        const rows = Array.from({ length: count }, (_, row) =>
          node.columns.map((column) => {
            const value = column[row];
            if (value === undefined) throw new NotPrintable('constant rows of unequal length');
            return printValue(value);
          }),
        );
        return printRows(rows, node.types);
      }
      case 'dummy-scan':
        return { sql: `SELECT 0 AS ${columnName(0)}`, types: [undefined] };
      case 'empty-result':
        return printRows([], node.types);
      case 'positional-join':
        throw new NotPrintable('a positional join');
      case 'sample':
        throw new NotPrintable('a sample');
      case 'recursive-cte':
        throw new NotPrintable('a recursive common table expression');
    }
  };
  return printNode(plan);
}

export function isSameType(one: LogicalType | undefined, other: LogicalType | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  return printLogicalType(one) === printLogicalType(other);
}

function printProjection(
  printer: Printer,
  child: PlanNode,
  expressions: readonly PlanExpression[],
): Relation {
  const source = printer.source(printer.print(child));
  const texts = expressions.map((each) => {
    // Handed on, a column that nobody may look at stays one.
    if (
      each.kind === 'reference' &&
      source.types[each.index] === undefined &&
      each.index < source.types.length
    )
      return columnOf(source, each.index);
    return printExpression(each, columnsOf(source));
  });
  const types = expressions.map((each) =>
    each.kind === 'reference' ? source.types[each.index] : typeOfExpression(each),
  );
  return { sql: selectOf(texts, source.text), types };
}

function printFilterNode(printer: Printer, { child, expressions, projection }: NodeOf<'filter'>): Relation {
  const source = printer.source(printer.print(child));
  const { texts, types } = pickedColumns(source, projection);
  const conditions = expressions.map((each) => printExpression(each, columnsOf(source)));
  const where = conditions.length === 0 ? '' : ` WHERE ${conditions.join(' AND ')}`;
  return { sql: selectOf(texts, source.text) + where, types };
}

function printAggregation(printer: Printer, node: AggregateNode): Relation {
  const { groups, aggregates, groupingSets, groupingFunctions } = node;
  const source = printer.source(printer.print(node.child));
  const columns = columnsOf(source);
  const keys = groups.map((group) => printExpression(group, columns));
  const keyAt = (index: number) => {
    const key = keys[index];
    if (key === undefined) throw new NotPrintable('a grouping set of a column that is not there');
    return key;
  };
  const texts = [
    ...keys,
    ...aggregates.map((aggregate) => printAggregate(aggregate, columns)),
    ...groupingFunctions.map((indexes) => `GROUPING(${indexes.map(keyAt).join(', ')})`),
  ];
  const types: Relation['types'] = [
    ...[...groups, ...aggregates].map(typeOfExpression),
    ...groupingFunctions.map((): LogicalType => ({ kind: 'plain', id: 'BIGINT' })),
  ];
  if (texts.length === 0) throw new NotPrintable('an aggregation of nothing');
  return { sql: selectOf(texts, source.text) + groupBy(keys, groupingSets, keyAt), types };
}

function groupBy(
  keys: readonly string[],
  sets: AggregateNode['groupingSets'],
  keyAt: (index: number) => string,
): string {
  if (isPlainGrouping(keys.length, sets)) return keys.length === 0 ? '' : ` GROUP BY ${keys.join(', ')}`;
  return ` GROUP BY GROUPING SETS (${sets.map((set) => `(${set.map(keyAt).join(', ')})`).join(', ')})`;
}

/** By all groups, and by nothing else. */
export function isPlainGrouping(groupCount: number, sets: AggregateNode['groupingSets']): boolean {
  const [only, ...others] = sets;
  if (only === undefined) return true;
  return others.length === 0 && new Set(only).size === groupCount;
}

function printLimit(printer: Printer, { child, limit, offset }: LimitNode): Relation {
  const source = printer.source(printer.print(child));
  const { texts, types } = pickedColumns(source, undefined);
  const parts = [limitText('LIMIT', limit), limitText('OFFSET', offset)].filter((part) => part !== '');
  return { sql: [selectOf(texts, source.text), ...parts].join(' '), types };
}

function limitText(word: 'LIMIT' | 'OFFSET', value: LimitValue): string {
  switch (value.kind) {
    case 'none':
      return '';
    case 'rows':
      return `${word} ${value.rows}`;
    case 'percent':
      if (word === 'OFFSET' || !/^\d+(?:\.\d+)?$/.test(String(value.percent)))
        throw new NotPrintable('a limit in percent');
      return `LIMIT ${value.percent} %`;
    case 'expression':
      throw new NotPrintable('a computed limit');
  }
}

function printDistinct(printer: Printer, { child, on, targets, orders }: NodeOf<'distinct'>): Relation {
  const source = printer.source(printer.print(child));
  const { texts, types } = pickedColumns(source, undefined);
  const columns = columnsOf(source);
  const order = orders.length === 0 ? '' : ` ORDER BY ${printOrders(orders, columns)}`;
  if (on) {
    const keys = targets.map((target) => printExpression(target, columns)).join(', ');
    return { sql: selectOf(texts, source.text, `DISTINCT ON (${keys}) `) + order, types };
  }
  const positions = new Set(targets.map((target) => (target.kind === 'reference' ? target.index : -1)));
  const isOfAll = positions.size === types.length && types.every((_type, index) => positions.has(index));
  if (targets.length > 0 && !isOfAll) throw new NotPrintable('distinct rows by some of their columns');
  if (types.includes(undefined)) throw new NotPrintable('distinct places where rows are stored');
  return { sql: selectOf(texts, source.text, 'DISTINCT '), types };
}

function printUnnest(printer: Printer, { child, expressions }: NodeOf<'unnest'>): Relation {
  const source = printer.source(printer.print(child));
  const { texts, types } = pickedColumns(source, undefined);
  const elements = expressions.map((each) => {
    if (each.kind !== 'unnest' || !isScalar(each.child)) throw new NotPrintable('unnest of what is no list');
    const list = typeOfExpression(each.child);
    if (list.kind !== 'list' || !isSameType(list.child, each.type))
      throw new NotPrintable('unnest of what is no list');
    return `unnest(${printExpression(each.child, columnsOf(source))})`;
  });
  return {
    sql: selectOf([...texts, ...elements], source.text),
    types: [...types, ...expressions.map(typeOfExpression)],
  };
}

function printSetOperation(
  printer: Printer,
  { operation, all, children }: NodeOf<'set-operation'>,
): Relation {
  const relations = children.map((child) => printer.print(child));
  const [first, ...others] = relations;
  // The engine leaves away a side that has no rows.
  if (first !== undefined && others.length === 0 && operation === 'union' && all) return first;
  if (first === undefined || others.length === 0) throw new NotPrintable('a set operation on one set');
  if (others.length > 1 && operation !== 'union') throw new NotPrintable(`${operation} of several sets`);
  for (const { types } of others)
    if (
      types.length !== first.types.length ||
      types.some((type, index) => !isSameType(type, first.types[index]))
    )
      throw new NotPrintable('a set operation on different columns');
  const texts = relations.map((relation) => {
    const source = printer.source(relation);
    return selectOf(pickedColumns(source, undefined).texts, source.text);
  });
  const word = `${operation.toUpperCase()}${all ? ' ALL' : ''}`;
  const source = printer.source({ sql: texts.join(` ${word} `), types: first.types });
  return { sql: selectOf(pickedColumns(source, undefined).texts, source.text), types: first.types };
}

function printRows(rows: readonly (readonly string[])[], types: readonly LogicalType[]): Relation {
  if (rows.some((row) => row.length !== types.length)) throw new NotPrintable('rows of another width');
  const names = types.map((_type, index) => columnName(index));
  if (rows.length === 0 || names.length === 0) {
    if (rows.length > 0) throw new NotPrintable('rows without columns');
    const nulls = types.map((type) => `CAST(NULL AS ${printType(type)})`);
    return { sql: `${selectOf(nulls, '(SELECT 0 AS nothing)')} WHERE false`, types };
  }
  const list = rows.map((row) => `(${row.join(', ')})`).join(', ');
  const casts = types.map(
    (type, index) => `CAST(v.${quoteIdentifier(columnName(index))} AS ${printType(type)})`,
  );
  return { sql: selectOf(casts, `(VALUES ${list}) AS v(${names.join(', ')})`), types };
}
