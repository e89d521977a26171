/**
 * A schema flattened in depth-first order: the order of nodes and buffers in an IPC record batch. Arrays of numbers
 * instead of objects per chunk, because a large result passes here once per 2,048 rows and column.
 */
import { QueryError } from '@svc/base';
import { type ArrowField, type BufferLayout, bufferCountOf, fieldLayout } from './types.js';

export interface PlanNode {
  readonly field: ArrowField;
  readonly layout: BufferLayout;
  readonly bufferCount: number;
  /** Index of the parent node, or -1 for a column. */
  readonly parent: number;
  readonly children: readonly number[];
}

export interface ArrayPlan {
  readonly nodes: readonly PlanNode[];
  /** Node indexes of the columns. */
  readonly columns: readonly number[];
  /** Node indexes of dictionary-encoded fields. */
  readonly dictionaries: readonly number[];
}

/** Throws NOT_SUPPORTED for layouts that the engine never produces (dense unions). */
export function planArrays(fields: readonly ArrowField[]): ArrayPlan {
  const nodes: PlanNode[] = [];
  const add = (field: ArrowField, parent: number): number => {
    const layout = fieldLayout(field);
    if (layout.kind === 'denseUnion')
      throw new QueryError(
        'NOT_SUPPORTED',
        `Column "${field.name}" is a dense union, which is not supported.`,
      );
    const index = nodes.length;
    const children: number[] = [];
    nodes.push({ field, layout, bufferCount: bufferCountOf(layout), parent, children });
    if (field.dictionary === undefined) for (const child of field.children) children.push(add(child, index));
    return index;
  };
  const columns = fields.map((field) => add(field, -1));
  const dictionaries = nodes.flatMap((node, index) => (node.field.dictionary === undefined ? [] : [index]));
  return { nodes, columns, dictionaries };
}
