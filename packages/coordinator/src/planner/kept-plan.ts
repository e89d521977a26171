/**
 * The engine's plan of a statement, for whoever would have it run in stages. As text it takes hundreds of kilobytes and as
 * nodes more, and most of it says the same again and again: it is kept compressed.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { type PlanNode, readPlan } from '@svc/sql';

export interface KeptPlan {
  readonly compressed: Uint8Array;
  /** One per table of the statement, as the plan names them. */
  readonly stubFiles: readonly string[];
}

export function keepPlan(planText: string, stubFiles: readonly string[]): KeptPlan {
  return { compressed: deflateRawSync(planText, { level: 1 }), stubFiles };
}

export function keptPlan({ compressed }: KeptPlan): PlanNode {
  return readPlan(inflateRawSync(compressed).toString('utf8'));
}
