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

/** Lower-case names of the common table expressions that a bare table name may mean at a place. */
type Scope = ReadonlySet<string>;

/**
 * Walks a query with the scopes of its common table expressions, as DuckDB binds them: WITH entries see those before
 * them, RECURSIVE or not; a recursive entry sees itself on its right side only, while its left side, like any entry's
 * own query, sees what the name meant outside.
 */
export function mapInScope(query: JsonObject, callbacks: ScopedCallbacks): JsonObject {
  return visitorOf(callbacks, new Set()).query(query);
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
  let scope = outer;
  let ctes: JsonObject | undefined;
  const cteMap = objectField(node, 'cte_map');
  if (listField(cteMap, 'map').length > 0)
    ctes = mapCtes(cteMap, visitorOf(callbacks, outer), (name, query) => {
      const mapped = visitorOf(callbacks, scope).query(query);
      scope = new Set([...scope, name.toLowerCase()]);
      return mapped;
    });
  const plain = visitorOf(callbacks, scope);
  const visitor: AstVisitor = { ...plain, ctes: (map) => ctes ?? map };
  if (textField(node, 'type') !== 'RECURSIVE_CTE_NODE') return mapQuery(node, visitor);
  const name = textField(node, 'cte_name').toLowerCase();
  const right = objectField(node, 'right');
  const recursive = visitorOf(callbacks, new Set([...scope, name, recurringName(name)]));
  return mapQuery(node, { ...visitor, query: (side) => (side === right ? recursive : plain).query(side) });
}

/** `recurring.name`: all rows so far of a recursion with USING KEY. No name has a NUL, so this is no other's. */
function recurringName(name: string): string {
  return `recurring\0${name}`;
}

function isCommonTable(node: JsonObject, scope: Scope): boolean {
  if (textField(node, 'catalog_name') !== '') return false;
  const schema = textField(node, 'schema_name').toLowerCase();
  const table = textField(node, 'table_name').toLowerCase();
  return schema === '' ? scope.has(table) : schema === 'recurring' && scope.has(recurringName(table));
}

/** For callbacks that only pass through. */
export function walkOn(node: JsonObject, children: AstVisitor): JsonObject {
  return field(node, 'class') === undefined ? mapTable(node, children) : mapExpression(node, children);
}
