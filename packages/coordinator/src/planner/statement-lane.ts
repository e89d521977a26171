import type { FragmentLane } from '@svc/fragment-fn';
import { isJsonArray, isJsonObject, type JsonValue } from '@svc/sql';
import type { AnalyzedQuery } from './analyze.js';

/** Parts of a syntax tree that can make many rows out of a short text. */
const multiplyingNodes: ReadonlySet<string> = new Set([
  'JOIN',
  'TABLE_FUNCTION',
  'RECURSIVE_CTE_NODE',
  'PIVOT',
]);

/** Functions that do the same in a select list. */
const multiplyingFunctions: ReadonlySet<string> = new Set([
  'unnest',
  'range',
  'generate_series',
  'generate_subscripts',
  'repeat',
]);

/** Analyses are kept, and with each its lane. */
const lanes = new WeakMap<AnalyzedQuery, FragmentLane>();

/**
 * The lane that is kept for small work takes what is small by its text alone: `SELECT 1`, a connection pool's health
 * check, a computation on constants. Everything else waits among the queries, however few tables it names.
 */
export function statementLane(query: AnalyzedQuery): FragmentLane {
  let lane = lanes.get(query);
  if (lane === undefined) {
    lane = laneOf(query);
    lanes.set(query, lane);
  }
  return lane;
}

function laneOf({ parsed, gated }: AnalyzedQuery): FragmentLane {
  if (gated.tables.length > 0 || gated.fileReads.length > 0) return 'query';
  for (const name of multiplyingFunctions) if (gated.functions.has(name)) return 'query';
  return hasMultiplyingNode(parsed.statement) ? 'query' : 'small';
}

function hasMultiplyingNode(value: JsonValue | undefined): boolean {
  if (isJsonArray(value)) return value.some(hasMultiplyingNode);
  if (!isJsonObject(value)) return false;
  const { type } = value;
  if (typeof type === 'string' && multiplyingNodes.has(type)) return true;
  return Object.values(value).some(hasMultiplyingNode);
}
