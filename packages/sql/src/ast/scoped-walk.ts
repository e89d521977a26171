import { field, listField, objectField, textField } from '../json/access.js';
import type { JsonObject } from '../json/lossless.js';
import { type AstVisitor, mapCtes, mapExpression, mapQuery, mapTable } from './map.js';

/** What a walk does; `children` maps what lies below the node. */
export interface ScopedCallbacks {
  /** A name that means a table, not a common table expression; its AT clause is not walked. */
  baseTable(node: JsonObject): JsonObject;
  /** A name that means a common table expression. */
  commonTable(node: JsonObject): JsonObject;
  /** Any other table reference. */
  otherTable(node: JsonObject, children: AstVisitor): JsonObject;
  expression(node: JsonObject, children: AstVisitor): JsonObject;
}

/**
 * Lower-case names of the common table expressions that a bare table name may mean at a place: those of the query, which
 * grow while its WITH entries are walked, and those around it. A chain, because thousands of entries are legal.
 */
interface Scope {
  readonly names: Set<string>;
  readonly outer: Scope | undefined;
}

/**
 * Walks a query with the scopes of its common table expressions, as DuckDB binds them: WITH entries see those before
 * them, RECURSIVE or not; a recursive entry sees itself on its right side only, while its left side, like any entry's
 * own query, sees what the name meant outside.
 */
export function mapInScope(query: JsonObject, callbacks: ScopedCallbacks): JsonObject {
  return visitorOf(callbacks, { names: new Set(), outer: undefined }).query(query);
}

/** Checks a node's own fields and leaves what lies below alone. */
const shapeOnly: AstVisitor = {
  expression: (node) => node,
  table: (node) => node,
  query: (node) => node,
  ctes: (cteMap) => cteMap,
};

function visitorOf(callbacks: ScopedCallbacks, scope: Scope): AstVisitor {
  const visitor: AstVisitor = {
    expression: (node) => callbacks.expression(node, visitor),
    table: (node) => {
      if (textField(node, 'type') !== 'BASE_TABLE') return callbacks.otherTable(node, visitor);
      mapTable(node, shapeOnly);
      return isCommonTable(node, scope) ? callbacks.commonTable(node) : callbacks.baseTable(node);
    },
    query: (node) => mapScopedQuery(node, callbacks, scope),
    ctes: (cteMap) => cteMap,
  };
  return visitor;
}

function mapScopedQuery(node: JsonObject, callbacks: ScopedCallbacks, outer: Scope): JsonObject {
  const cteMap = objectField(node, 'cte_map');
  const isRecursive = textField(node, 'type') === 'RECURSIVE_CTE_NODE';
  if (!isRecursive && listField(cteMap, 'map').length === 0)
    return mapQuery(node, visitorOf(callbacks, outer));
  const scope: Scope = { names: new Set(), outer };
  const visitor = visitorOf(callbacks, scope);
  const ctes = mapCtes(cteMap, visitorOf(callbacks, outer), (name, query) => {
    const mapped = visitor.query(query);
    scope.names.add(name.toLowerCase());
    return mapped;
  });
  if (!isRecursive) return mapQuery(node, { ...visitor, ctes: () => ctes });
  const name = textField(node, 'cte_name').toLowerCase();
  const right = objectField(node, 'right');
  const recursive = visitorOf(callbacks, { names: new Set([name, recurringName(name)]), outer: scope });
  const sides = (side: JsonObject) => (side === right ? recursive : visitor).query(side);
  return mapQuery(node, { ...visitor, ctes: () => ctes, query: sides });
}

function isInScope(scope: Scope, name: string): boolean {
  for (let place: Scope | undefined = scope; place !== undefined; place = place.outer)
    if (place.names.has(name)) return true;
  return false;
}

/** `recurring.name`: all rows so far of a recursion with USING KEY. No name has a NUL, so this is no other's. */
function recurringName(name: string): string {
  return `recurring\0${name}`;
}

function isCommonTable(node: JsonObject, scope: Scope): boolean {
  if (textField(node, 'catalog_name') !== '') return false;
  const schema = textField(node, 'schema_name').toLowerCase();
  const table = textField(node, 'table_name').toLowerCase();
  return schema === ''
    ? isInScope(scope, table)
    : schema === 'recurring' && isInScope(scope, recurringName(table));
}

/** For callbacks that only pass through. */
export function walkOn(node: JsonObject, children: AstVisitor): JsonObject {
  return field(node, 'class') === undefined ? mapTable(node, children) : mapExpression(node, children);
}
