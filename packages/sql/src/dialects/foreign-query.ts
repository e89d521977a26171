/**
 * Queries in another engine's dialect that our parser happens to take. What is known to mean the same here passes;
 * everything else is refused by name, since it would silently answer something else: whole numbers divide otherwise,
 * NULLs sort elsewhere, casts round, functions of one name differ.
 */
import { type AstVisitor, mapCtes, mapExpression, mapQuery, mapTable } from '../ast/map.js';
import type { ParsedQuery } from '../ast/parsed-statement.js';
import { asArray, field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, type JsonObject } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { type ForeignDialect, otherwise } from './foreign-dialect.js';
import { checkForeignExpression } from './foreign-expression.js';

/** What the names of a foreign query's columns may depend on. */
export interface ForeignQuery {
  /** It answers columns of its tables as they are now. */
  readonly hasStar: boolean;
  /** How many columns it answers; undefined with a star. */
  readonly columnCount: number | undefined;
}

/** Throws NOT_SUPPORTED naming what may mean something else. */
export function checkForeignQuery({ query }: ParsedQuery, dialect: ForeignDialect): ForeignQuery {
  let hasStar = false;
  let hasUsing = false;
  const visitor: AstVisitor = {
    expression: (node) => {
      hasStar ||= textField(node, 'class') === 'STAR';
      checkForeignExpression(node, dialect);
      checkOrders(listField(node, 'orders'), dialect);
      return mapExpression(node, visitor);
    },
    table: (node) => {
      hasUsing = checkTable(node) || hasUsing;
      // The point of time travel was checked by the gate, and is read as the reader's own would be.
      return textField(node, 'type') === 'BASE_TABLE' ? node : mapTable(node, visitor);
    },
    query: (node) => {
      checkQuery(node, dialect);
      return mapQuery(node, visitor);
    },
    ctes: (cteMap) => mapCtes(cteMap, visitor, (_name, inner) => visitor.query(inner)),
  };
  visitor.query(query);
  if (hasStar && hasUsing) throw otherwise('the order of the columns of * behind JOIN … USING');
  return { hasStar, columnCount: hasStar ? undefined : columnCountOf(query) };
}

const setOperations: ReadonlySet<string> = new Set(['UNION', 'EXCEPT', 'INTERSECT']);

function checkQuery(node: JsonObject, dialect: ForeignDialect): void {
  for (const modifier of listField(node, 'modifiers')) checkModifier(modifier, dialect);
  switch (textField(node, 'type')) {
    case 'SELECT_NODE':
      if (textField(node, 'aggregate_handling') !== 'STANDARD_HANDLING') throw otherwise('GROUP BY ALL');
      if (field(node, 'qualify') !== null) throw otherwise('QUALIFY');
      if (field(node, 'sample') !== null) throw otherwise('a sample');
      checkAliases(node);
      return;
    case 'SET_OPERATION_NODE':
      if (!setOperations.has(textField(node, 'setop_type'))) throw otherwise(textField(node, 'setop_type'));
      return;
    default:
      throw otherwise('a recursive query');
  }
}

/**
 * A name that the select list gives and a table has too: in HAVING it is the list's here and the table's elsewhere, within
 * an expression of ORDER BY the other way round.
 */
function checkAliases(node: JsonObject): void {
  const aliases = new Set(
    listField(node, 'select_list').map((each) => textField(each, 'alias').toLowerCase()),
  );
  const having = field(node, 'having');
  if (isJsonObject(having)) refuseAliases(having, aliases, 'HAVING');
  for (const modifier of listField(node, 'modifiers'))
    for (const order of listField(modifier, 'orders')) {
      const expression = objectField(order, 'expression');
      const isName = textField(expression, 'class') === 'COLUMN_REF';
      if (!isName) refuseAliases(expression, aliases, 'an expression of ORDER BY');
    }
}

function refuseAliases(expression: JsonObject, aliases: ReadonlySet<string>, place: string): void {
  const visitor: AstVisitor = {
    expression: (each) => {
      const names = textField(each, 'class') === 'COLUMN_REF' ? asArray(field(each, 'column_names')) : [];
      const [name] = names;
      if (names.length === 1 && typeof name === 'string' && aliases.has(name.toLowerCase()))
        throw otherwise(`${abbreviate(name)} in ${place} beside the select list's own`);
      return mapExpression(each, visitor);
    },
    table: (each) => each,
    query: (each) => each,
    ctes: (each) => each,
  };
  visitor.expression(expression);
}

function checkModifier(modifier: JsonObject, dialect: ForeignDialect): void {
  switch (textField(modifier, 'type')) {
    case 'ORDER_MODIFIER':
      checkOrders(listField(modifier, 'orders'), dialect);
      return;
    case 'LIMIT_MODIFIER':
      return;
    case 'DISTINCT_MODIFIER':
      if (listField(modifier, 'distinct_on_targets').length > 0) throw otherwise('DISTINCT ON');
      return;
    default:
      throw otherwise('LIMIT of a percentage');
  }
}

/** Trino's NULLs are last in both directions, as ours. */
function checkOrders(orders: readonly JsonObject[], dialect: ForeignDialect): void {
  if (dialect === 'trino') return;
  if (orders.some((order) => textField(order, 'null_order') === 'ORDER_DEFAULT'))
    throw otherwise('ORDER BY without NULLS FIRST or NULLS LAST');
}

const joinTypes: ReadonlySet<string> = new Set(['INNER', 'LEFT', 'RIGHT', 'OUTER']);
const joinKinds: ReadonlySet<string> = new Set(['REGULAR', 'CROSS']);

/** Whether it is a join with USING. */
function checkTable(node: JsonObject): boolean {
  if (field(node, 'sample') !== null) throw otherwise('a sample');
  const type = textField(node, 'type');
  switch (type) {
    case 'BASE_TABLE':
    case 'SUBQUERY':
    case 'EMPTY':
    case 'EXPRESSION_LIST':
      return false;
    case 'JOIN': {
      const [joinType, kind] = [textField(node, 'join_type'), textField(node, 'ref_type')];
      if (!joinTypes.has(joinType)) throw otherwise(`${joinType} JOIN`);
      if (!joinKinds.has(kind)) throw otherwise(`${kind} JOIN`);
      return asArray(field(node, 'using_columns') ?? []).length > 0;
    }
    case 'TABLE_FUNCTION':
      throw otherwise(`${textField(objectField(node, 'function'), 'function_name')}(…) in FROM`);
    default:
      throw otherwise(`${type} in FROM`);
  }
}

function columnCountOf(query: JsonObject): number {
  return textField(query, 'type') === 'SELECT_NODE'
    ? listField(query, 'select_list').length
    : columnCountOf(objectField(query, 'left'));
}
