import type { LogicalType } from '../plan/logical-type.js';
import type { PlanExpression } from '../plan/plan-expression.js';
import type { GetNode, PlanNode, ScanField } from '../plan/plan-node.js';
import { isBarrier } from '../stages/plan-facts.js';
import type { ColumnPath } from './scan-request.js';

/** A column of a scan, seen through the operators above it. */
export interface ColumnOrigin {
  readonly get: GetNode;
  readonly path: ColumnPath;
  readonly type: LogicalType;
}

/** By output position; undefined for what is computed or comes from elsewhere. */
export type Origins = (index: number) => ColumnOrigin | undefined;

/** Where the columns of an operator come from, through projections and filters down to one scan. */
export function originsOf(node: PlanNode): Origins {
  switch (node.kind) {
    case 'get':
      return (index) => originInGet(node, index);
    case 'projection': {
      const below = originsOf(node.child);
      return (index) => {
        const expression = node.expressions[index];
        return expression && originOfExpression(expression, below);
      };
    }
    case 'filter': {
      const below = originsOf(node.child);
      return (index) => {
        const source = node.projection === undefined ? index : node.projection[index];
        return source === undefined ? undefined : below(source);
      };
    }
    case 'limit':
      // Rows go through it as they are, so what is asked of them above may leave out what is read below.
      return isBarrier(node) ? originsOf(node.child) : () => undefined;
    default:
      return () => undefined;
  }
}

/** References, and fields of structs reached by a constant name. */
export function originOfExpression(expression: PlanExpression, origins: Origins): ColumnOrigin | undefined {
  if (expression.kind === 'reference') return origins(expression.index);
  if (expression.kind !== 'function' || expression.name !== 'struct_extract') return undefined;
  const [struct, key] = expression.children;
  const below = struct && originOfExpression(struct, origins);
  if (below?.type.kind !== 'struct' || key?.kind !== 'constant' || key.value.kind !== 'scalar')
    return undefined;
  const name = key.value.value;
  const field = below.type.fields.find((candidate) => candidate.name === name);
  return field && { get: below.get, path: [...below.path, field.name], type: field.type };
}

export function originOfColumn(get: GetNode, column: number): ColumnOrigin | undefined {
  const name = get.names[column];
  const type = get.types[column];
  return name === undefined || type === undefined ? undefined : { get, path: [name], type };
}

function originInGet(get: GetNode, index: number): ColumnOrigin | undefined {
  const position = get.projection === undefined ? index : get.projection[index];
  const column = position === undefined ? undefined : get.columns[position]?.index;
  return column === undefined ? undefined : originOfColumn(get, column);
}

/** The paths that a scan reads: whole columns, or the struct fields that are used. */
export function columnPaths(get: GetNode): readonly ColumnPath[] {
  const paths = new Map<string, ColumnPath>();
  for (const { index, children } of get.columns) {
    const name = index === undefined ? undefined : get.names[index];
    if (name !== undefined)
      for (const path of fieldPaths([name], children)) paths.set(JSON.stringify(path), path);
  }
  return [...paths.values()];
}

function fieldPaths(path: ColumnPath, children: readonly ScanField[]): readonly ColumnPath[] {
  return children.length === 0
    ? [path]
    : children.flatMap((child) => fieldPaths([...path, child.name], child.children));
}
