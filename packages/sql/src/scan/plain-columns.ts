import type { PlanNode } from '../plan/plan-node.js';
import { originsOf } from './column-origin.js';

/** A statement that answers whole columns of one table, every row of them, and computes nothing. */
export interface PlainColumns {
  readonly stubFile: string;
  /** The table's columns, in the order of the answer; one may be there several times. */
  readonly columns: readonly string[];
}

/** Undefined for every other statement. The order of rows is then nobody's but the engine's. */
export function plainColumns(plan: PlanNode): PlainColumns | undefined {
  let node = plan;
  while (node.kind === 'projection') node = node.child;
  if (node.kind !== 'get' || node.filters.length > 0 || node.child !== undefined) return undefined;
  const [stubFile, ...others] = node.files;
  if (stubFile === undefined || others.length > 0) return undefined;
  const count =
    plan.kind === 'projection' ? plan.expressions.length : (node.projection ?? node.columns).length;
  const origins = originsOf(plan);
  const columns: string[] = [];
  for (let index = 0; index < count; index++) {
    const [name, ...fields] = origins(index)?.path ?? [];
    if (name === undefined || fields.length > 0) return undefined;
    columns.push(name);
  }
  return columns.length === 0 ? undefined : { stubFile, columns };
}
