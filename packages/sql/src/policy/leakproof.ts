/**
 * Whether a statement may read a table through a policy's view as if the view were its own: then the engine may compute
 * what the statement says in whatever order it likes. It may where nothing that the engine can move below the policy's filter
 * could tell of a row that the filter hides: by failing, or by what its message quotes. What is not known here may not.
 */

import type { ParsedQuery } from '../ast/parsed-statement.js';
import { asArray, field, listField, objectField, textField } from '../json/access.js';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../json/lossless.js';
import { isConstantNode, isLeakproofNode } from './leakproof-nodes.js';

/** `isView`: others' conditions are asked of what the query answers. */
export function isLeakproofQuery({ query }: ParsedQuery, { isView }: { readonly isView: boolean }): boolean {
  return queryHolds(query, !isView);
}

/** `isOuter`: nobody asks a condition of what the query answers. */
function queryHolds(query: JsonObject, isOuter: boolean): boolean {
  const ctes = listField(objectField(query, 'cte_map'), 'map').every((entry) =>
    queryHolds(subqueryOf(objectField(entry, 'value'), 'query'), false),
  );
  if (!ctes) return false;
  switch (textField(query, 'type')) {
    case 'SELECT_NODE':
      return selectHolds(query, isOuter);
    case 'SET_OPERATION_NODE':
      return (
        modifiersHold(query, isOuter) &&
        queryHolds(objectField(query, 'left'), isOuter) &&
        queryHolds(objectField(query, 'right'), isOuter)
      );
    default:
      return false;
  }
}

function selectHolds(query: JsonObject, isOuter: boolean): boolean {
  if (isPresent(query, 'qualify') || isPresent(query, 'sample')) return false;
  const hasConditions = isPresent(query, 'where_clause') || isPresent(query, 'having');
  const from = objectField(query, 'from_table');
  // What a subquery alone computes is asked for by nobody, if this query asks for nothing.
  const isThrough = isOuter && !hasConditions && textField(from, 'type') === 'SUBQUERY';
  const answers = (expression: JsonObject) => (isOuter ? mayStandAbove(expression) : mayBeMoved(expression));
  const groups = listField(query, 'group_expressions');
  return (
    tableHolds(from, isThrough) &&
    conditionHolds(query, 'where_clause') &&
    conditionHolds(query, 'having') &&
    groups.every(isOuter && !isPresent(query, 'having') ? mayStandAbove : mayBeMoved) &&
    listField(query, 'select_list').every(answers) &&
    modifiersHold(query, isOuter)
  );
}

function modifiersHold(query: JsonObject, isOuter: boolean): boolean {
  const check = isOuter ? mayStandAbove : mayBeMoved;
  return listField(query, 'modifiers').every((modifier) => {
    switch (textField(modifier, 'type')) {
      case 'ORDER_MODIFIER':
        return listField(modifier, 'orders').every((order) => check(objectField(order, 'expression')));
      case 'LIMIT_MODIFIER':
        return ['limit', 'offset'].every(
          (name) => !isPresent(modifier, name) || isConstantNode(objectField(modifier, name)),
        );
      case 'DISTINCT_MODIFIER':
        return listField(modifier, 'distinct_on_targets').every(mayBeMoved);
      default:
        return false;
    }
  });
}

function tableHolds(table: JsonObject, isThrough: boolean): boolean {
  if (isPresent(table, 'sample')) return false;
  switch (textField(table, 'type')) {
    case 'BASE_TABLE':
    case 'EMPTY':
      return true;
    case 'SUBQUERY':
      return queryHolds(subqueryOf(table, 'subquery'), isThrough);
    case 'EXPRESSION_LIST':
      return asArray(field(table, 'values')).every((row) =>
        asArray(row).every((value) => isJsonObject(value) && isConstantNode(value)),
      );
    case 'JOIN':
      return (
        joinKinds.has(textField(table, 'ref_type')) &&
        tableHolds(objectField(table, 'left'), false) &&
        tableHolds(objectField(table, 'right'), false) &&
        conditionHolds(table, 'condition')
      );
    default:
      return false;
  }
}

const joinKinds: ReadonlySet<string> = new Set(['REGULAR', 'CROSS', 'NATURAL']);

function conditionHolds(node: JsonObject, name: string): boolean {
  return !isPresent(node, name) || isLeakproofNode(objectField(node, name), subqueryHolds);
}

/** A condition on what is answered may be asked of it below: then it must be leakproof, or be made of many rows. */
function mayBeMoved(expression: JsonObject): boolean {
  return isLeakproofNode(expression, subqueryHolds);
}

/** Whatever it computes it computes of rows that have passed all conditions; its subqueries have conditions of their own. */
function mayStandAbove(expression: JsonObject): boolean {
  return subqueriesOf(expression).every((subquery) => {
    const child = field(subquery, 'child') ?? null;
    return subqueryHolds(subquery) && (!isJsonObject(child) || mayBeMoved(child));
  });
}

function subqueryHolds(expression: JsonObject): boolean {
  return queryHolds(subqueryOf(expression, 'subquery'), false);
}

function subqueriesOf(value: JsonValue): readonly JsonObject[] {
  if (isJsonArray(value)) return value.flatMap(subqueriesOf);
  if (!isJsonObject(value)) return [];
  if (textField(value, 'class') === 'SUBQUERY') return [value];
  return Object.values(value).flatMap((each) => subqueriesOf(each ?? null));
}

function subqueryOf(node: JsonObject, name: string): JsonObject {
  return objectField(objectField(node, name), 'node');
}

function isPresent(node: JsonObject, name: string): boolean {
  return (field(node, name) ?? null) !== null;
}
