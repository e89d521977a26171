import {
  asArray,
  asObject,
  field,
  objectField,
  replaceField,
  textField,
  unknownConstruct,
} from '../json/access.js';
import { isJsonArray, JsonNumber, type JsonObject, type JsonValue } from '../json/lossless.js';
import {
  atClauseShape,
  caseCheckShape,
  cteEntryShape,
  cteMapShape,
  cteShape,
  expressionShapes,
  type FieldRole,
  modifierShapes,
  type NodeShape,
  operatorTypes,
  orderShape,
  pivotEntryShape,
  pivotShape,
  queryShapes,
  renameShape,
  replacementShape,
  selectShape,
  tableShapes,
} from './fields.js';

/**
 * One step down a parsed statement: `mapExpression`, `mapTable` and `mapQuery` give every direct child to the visitor
 * and put its answers back. Unchanged parts are shared, so a walk that answers what it was given allocates nothing.
 * Anything that ast/fields.ts does not list throws NOT_SUPPORTED.
 */
export interface AstVisitor {
  expression(node: JsonObject): JsonObject;
  table(node: JsonObject): JsonObject;
  query(node: JsonObject): JsonObject;
  /** The WITH entries of a query, before everything else of it; `mapCtes` goes through them one by one. */
  ctes(cteMap: JsonObject): JsonObject;
}

export function mapExpression(node: JsonObject, visitor: AstVisitor): JsonObject {
  const kind = textField(node, 'class');
  if (kind === 'OPERATOR' && !operatorTypes.has(textField(node, 'type')))
    throw unknownConstruct(`operator ${textField(node, 'type')}`);
  return mapFields(node, shapeOf(expressionShapes, kind, 'expression'), visitor);
}

export function mapTable(node: JsonObject, visitor: AstVisitor): JsonObject {
  return mapFields(node, shapeOf(tableShapes, textField(node, 'type'), 'table reference'), visitor);
}

export function mapQuery(node: JsonObject, visitor: AstVisitor): JsonObject {
  return mapFields(node, shapeOf(queryShapes, textField(node, 'type'), 'query'), visitor);
}

/** Hands the query of every WITH entry, in order, to `visit` and the expressions of USING KEY to the visitor. */
export function mapCtes(
  cteMap: JsonObject,
  visitor: AstVisitor,
  visit: (name: string, query: JsonObject) => JsonObject,
): JsonObject {
  const mapEntry = (entry: JsonObject): JsonObject => {
    assertShape(entry, cteEntryShape);
    const name = textField(entry, 'key');
    const body: AstVisitor = { ...visitor, query: (query) => visit(name, query) };
    return replaceField(entry, 'value', mapFields(objectField(entry, 'value'), cteShape, body));
  };
  assertShape(cteMap, cteMapShape);
  return replaceField(cteMap, 'map', mapList(field(cteMap, 'map') ?? [], mapEntry));
}

function shapeOf(shapes: Readonly<Record<string, NodeShape>>, kind: string, what: string): NodeShape {
  const shape = Object.hasOwn(shapes, kind) ? shapes[kind] : undefined;
  if (shape === undefined) throw unknownConstruct(`${what} ${kind}`);
  return shape;
}

function assertShape(node: JsonObject, shape: NodeShape): void {
  for (const name in node) if (!Object.hasOwn(shape, name)) throw unknownConstruct(`field ${name}`);
}

function mapFields(node: JsonObject, shape: NodeShape, visitor: AstVisitor): JsonObject {
  // WITH names are in scope of every other field, so they come first.
  let mapped = Object.hasOwn(shape, 'cte_map') ? mapField(node, 'cte_map', 'ctes', visitor) : node;
  for (const name in node) {
    const role = Object.hasOwn(shape, name) ? shape[name] : undefined;
    if (role === undefined) throw unknownConstruct(`field ${name}`);
    if (role === 'ctes') continue;
    const value = field(node, name) ?? null;
    if (role === 'plain') assertPlain(value);
    else if (value !== null) {
      // The roles that nest are handled right here: a frame less per level counts in statements nested a thousand deep.
      const after =
        role === 'expression'
          ? visitor.expression(asObject(value))
          : role === 'expressions'
            ? mapExpressions(asArray(value), visitor)
            : mapRole(value, role, visitor);
      mapped = replaceField(mapped, name, after);
    }
  }
  return mapped;
}

function mapField(node: JsonObject, name: string, role: FieldRole, visitor: AstVisitor): JsonObject {
  const value = field(node, name) ?? null;
  return value === null ? node : replaceField(node, name, mapRole(value, role, visitor));
}

function mapExpressions(list: readonly JsonValue[], visitor: AstVisitor): readonly JsonValue[] {
  let mapped: JsonValue[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index];
    const after = visitor.expression(asObject(before));
    if (after !== before) mapped ??= [...list];
    if (mapped !== undefined) mapped[index] = after;
  }
  return mapped ?? list;
}

function mapRole(value: JsonValue, role: FieldRole, visitor: AstVisitor): JsonValue {
  switch (role) {
    case 'plain':
      return value;
    case 'expression':
      return visitor.expression(asObject(value));
    case 'expressions':
      return mapList(value, visitor.expression);
    case 'expression-rows':
      return mapArray(value, (row) => mapList(row, visitor.expression));
    case 'table':
      return visitor.table(asObject(value));
    case 'query':
      return visitor.query(asObject(value));
    case 'select':
      return mapFields(asObject(value), selectShape, visitor);
    case 'ctes':
      return visitor.ctes(asObject(value));
    case 'modifier':
      return mapModifier(asObject(value), visitor);
    case 'modifiers':
      return mapList(value, (modifier) => mapModifier(modifier, visitor));
    case 'orders':
      return mapEntries(value, visitor, orderShape);
    case 'case-checks':
      return mapEntries(value, visitor, caseCheckShape);
    case 'replacements':
      return mapEntries(value, visitor, replacementShape);
    case 'renames':
      return mapEntries(value, visitor, renameShape);
    case 'pivots':
      return mapEntries(value, visitor, pivotShape);
    case 'pivot-entries':
      return mapEntries(value, visitor, pivotEntryShape);
    case 'at-clause':
      return mapFields(asObject(value), atClauseShape, visitor);
  }
}

function mapEntries(value: JsonValue, visitor: AstVisitor, shape: NodeShape): JsonValue {
  return mapList(value, (entry) => mapFields(entry, shape, visitor));
}

function mapModifier(node: JsonObject, visitor: AstVisitor): JsonObject {
  return mapFields(node, shapeOf(modifierShapes, textField(node, 'type'), 'modifier'), visitor);
}

function mapList(value: JsonValue, map: (entry: JsonObject) => JsonObject): JsonValue {
  return mapArray(value, (entry) => map(asObject(entry)));
}

function mapArray(list: JsonValue, map: (entry: JsonValue) => JsonValue): JsonValue {
  const value = asArray(list);
  let mapped: JsonValue[] | undefined;
  for (let index = 0; index < value.length; index++) {
    const before = value[index] ?? null;
    const after = map(before);
    if (after !== before) mapped ??= [...value];
    if (mapped !== undefined) mapped[index] = after;
  }
  return mapped ?? value;
}

/** Constants and types hold no expressions; if a later version puts one there, it must not pass unseen. */
function assertPlain(value: JsonValue): void {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return;
  if (isJsonArray(value)) {
    for (const entry of value) assertPlain(entry);
    return;
  }
  for (const name in value as JsonObject) {
    if (name === 'class') throw unknownConstruct('an expression in an unexpected place');
    assertPlain((value as JsonObject)[name] ?? null);
  }
}
