import type { GetNode, PlanNode } from '../plan/plan-node.js';
import { inputsOf } from '../plan/read-plan.js';
import { isBarrier } from '../stages/plan-facts.js';
import { columnPaths, originOfColumn, originsOf } from './column-origin.js';
import { filterOfExpression } from './expression-filter.js';
import { rejectionOfExpression } from './rejection.js';
import { everyValue, limitedUse, type PositionUse, useBelow } from './row-use.js';
import type { ScanFilter, ScanRequest } from './scan-request.js';
import { filterOfTableFilter } from './table-filter.js';

/** One scan of a planned statement. */
export interface PlannedScan {
  /** The stub file of the table's view; the caller knows which table it made it for. */
  readonly stubFile: string;
  readonly request: ScanRequest;
}

/**
 * Every scan of a stub in the plan, in the order of the tree. A table that is referred to twice is there twice; a table
 * that is not there at all is not read (its part of the statement is provably empty). Scans of other table functions
 * are left out.
 */
export function scanRequests(plan: PlanNode): readonly PlannedScan[] {
  return [...scansByNode(plan).values()];
}

/** By the operator that scans, in the order of the tree. */
export function scansByNode(plan: PlanNode): ReadonlyMap<GetNode, PlannedScan> {
  const found: Found = { filters: new Map(), uses: new Map(), rejections: new Map() };
  collect(plan, everyValue, found);
  const scans = new Map<GetNode, PlannedScan>();
  for (const [get, filters] of found.filters) {
    const [stubFile] = get.files;
    if (stubFile === undefined) continue;
    const use = limitedUse(get, found.uses.get(get) ?? everyValue, found.rejections.get(get) ?? []);
    const request = { columns: columnPaths(get), filters: distinct(filters), ...(use && { use }) };
    scans.set(get, { stubFile, request });
  }
  return scans;
}

interface Found {
  readonly filters: Map<GetNode, ScanFilter[]>;
  readonly uses: Map<GetNode, PositionUse>;
  /** Of conditions above a scan. */
  readonly rejections: Map<GetNode, (ScanFilter | undefined)[]>;
}

function collect(node: PlanNode, use: PositionUse, found: Found): void {
  const { filters, uses } = found;
  if (node.kind === 'get') {
    addTo(filters, node, pushedFilters(node));
    uses.set(node, use);
  } else if (node.kind === 'filter') {
    const get = scanBelow(node);
    if (get !== undefined) {
      const origins = originsOf(node.child);
      addTo(
        filters,
        get,
        node.expressions.map((expression) => filterOfExpression(expression, origins)),
      );
      const rejections = node.expressions.map((expression) => rejectionOfExpression(expression, origins));
      found.rejections.set(get, [...(found.rejections.get(get) ?? []), ...rejections]);
    }
  }
  const below = useBelow(node, use);
  for (const input of inputsOf(node)) collect(input, below, found);
}

/** The scan that a filter stands on, with nothing between but filters, projections and barriers. */
function scanBelow(node: PlanNode): GetNode | undefined {
  let below = node;
  while (
    below.kind === 'filter' ||
    below.kind === 'projection' ||
    (below.kind === 'limit' && isBarrier(below))
  )
    below = below.child;
  return below.kind === 'get' ? below : undefined;
}

function pushedFilters(get: GetNode): readonly (ScanFilter | undefined)[] {
  return get.filters.map(({ column, filter }) => {
    const origin = originOfColumn(get, column);
    return origin && filterOfTableFilter(filter, origin);
  });
}

function addTo(
  filters: Map<GetNode, ScanFilter[]>,
  get: GetNode,
  found: readonly (ScanFilter | undefined)[],
): void {
  const known = filters.get(get) ?? [];
  filters.set(get, known);
  for (const filter of found)
    if (filter?.kind === 'and') known.push(...filter.filters);
    else if (filter !== undefined) known.push(filter);
}

/** The optimiser often leaves a condition both in the scan and above it. */
function distinct(filters: readonly ScanFilter[]): readonly ScanFilter[] {
  const seen = new Map<string, ScanFilter>();
  for (const filter of filters)
    seen.set(
      JSON.stringify(filter, (_key, value: unknown) =>
        typeof value === 'bigint'
          ? `${value}n`
          : Number.isFinite(value) || typeof value !== 'number'
            ? value
            : String(value),
      ),
      filter,
    );
  return [...seen.values()];
}
