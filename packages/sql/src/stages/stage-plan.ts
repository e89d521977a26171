/**
 * A plan in stages. A piece of the plan may be computed for a part of one scan's rows at a time when its rows are those of
 * all parts together; it ends where an operator needs all of them. There the operator is done in two where it can be
 * (aggregates, top-n, limits, distinct rows), and else above the rows of all pieces.
 */
import { mapInputs } from '../plan/map-inputs.js';
import type { GetNode, JoinType, OrderNode, PlanNode } from '../plan/plan-node.js';
import { type PlannedScan, scansByNode } from '../scan/scan-requests.js';
import type { LevelOfScan } from './hidden-rows.js';
import { narrowPlan } from './narrow-plan.js';
import { type SplitAggregate, splitAggregate } from './partial-aggregate.js';
import { checkPlacement, createIsCorrelated, isBarrier, isNoLarger, isRepeatable } from './plan-facts.js';
import { createRowSizes, type ScanSize } from './row-sizes.js';
import { createStageWriter } from './stage-writer.js';
import type { StagedPlan } from './staged-plan.js';

export interface StagePlanOptions {
  /** Of the answer's columns. */
  readonly names: readonly string[];
  /** That would be read for the scan. */
  bytesOf(scan: PlannedScan): number;
  /** Of its rows where they are handed on. Absent: as many as would be read. */
  rowBytesOf?(scan: PlannedScan): number;
  /** Rows of a join's other side that may be handed to every fragment, in bytes of the rows that are scanned for them. */
  readonly mayBroadcastBytes: number;
  /** A scan of no more than this is read whole wherever it is needed. */
  readonly readWholeBytes?: number;
  /** Where policies hide rows of scans behind barriers. */
  readonly levelOfScan?: LevelOfScan;
}

/** Rows that are those of all parts of a scan together; without one, rows as they are. */
interface Piece {
  readonly node: PlanNode;
  readonly split: GetNode | undefined;
}

const defaultReadWholeBytes = 1 << 20;

/** Throws PlanNotUnderstood, with a reason for people, for a statement that is to run on one node. */
export function stagePlan(plan: PlanNode, options: StagePlanOptions): StagedPlan {
  checkPlacement(plan);
  const narrowed = narrowPlan(plainUnions(plan));
  const scans = scansByNode(narrowed);
  const writer = createStageWriter(scans, options.levelOfScan ?? (() => 0));
  const sizes = new Map(
    [...scans].map(([get, scan]) => {
      const bytes = options.bytesOf(scan);
      return [get, { bytes, rowBytes: options.rowBytesOf?.(scan) ?? bytes }];
    }),
  );
  const stager = createStager(sizes, options, writer.add);
  const last = stager.gather(narrowed);
  return writer.finish(last, options.names);
}

function createStager(
  sizes: ReadonlyMap<GetNode, ScanSize>,
  { mayBroadcastBytes, readWholeBytes = defaultReadWholeBytes }: StagePlanOptions,
  addStage: (node: PlanNode, split: GetNode | undefined) => PlanNode,
) {
  const isCorrelated = createIsCorrelated();
  const rowSizes = createRowSizes({ sizes, mayBroadcastBytes, readWholeBytes, isCorrelated });
  const { reach, dividedSide } = rowSizes;
  const ctes = new Map<bigint, PlanNode>();

  /** The plan below as it may stand in a text that is run once: what is worth dividing has become stages. */
  function gather(node: PlanNode): PlanNode {
    if (isCorrelated(node)) return gatherCorrelated(node);
    switch (node.kind) {
      case 'aggregate':
        return inTwo(node, splitAggregate(node));
      case 'distinct':
        return inTwo(node, node.on ? undefined : { partial: again(node), final: again(node) });
      case 'top-n': {
        const first = { ...node, limit: firstRows(node.limit, node.offset), offset: 0n };
        return inTwo(node, { partial: again(first), final: again(node) });
      }
      case 'limit':
        return isBarrier(node) ? divided(node) : gatherLimit(node);
      case 'materialized-cte':
        define(node);
        return gather(node.child);
      case 'cte-reference':
        return ctes.get(node.cteIndex) ?? node;
      case 'join':
      case 'get':
      case 'projection':
      case 'filter':
      case 'unnest':
      case 'cross-product':
      case 'set-operation':
        return divided(node);
      default:
        return mapInputs(node, gather);
    }
  }

  function divided(node: PlanNode): PlanNode {
    return reach(node) > 0 ? together(distribute(node)) : mapInputs(node, gather);
  }

  function gatherCorrelated(node: PlanNode): PlanNode {
    if (node.kind === 'materialized-cte' && !isCorrelated(node.definition)) {
      define(node);
      return gather(node.child);
    }
    return mapInputs(node, beside);
  }

  /** An operator over all rows of its child, or over what its first half answers for each part of them. */
  function inTwo(node: Above, halves: SplitAggregate | undefined): PlanNode {
    return halves === undefined || reach(node.child) === 0
      ? again(node)(gather(node.child))
      : halves.final(together(distribute(node.child), halves.partial));
  }

  function gatherLimit(node: Extract<PlanNode, { readonly kind: 'limit' }>): PlanNode {
    const { limit, offset } = node;
    const skipped = offset.kind === 'rows' ? offset.rows : offset.kind === 'none' ? 0n : undefined;
    if (limit.kind !== 'rows' || skipped === undefined) return again(node)(gather(node.child));
    const rows = {
      ...node,
      limit: { kind: 'rows', rows: firstRows(limit.rows, skipped) },
      offset: { kind: 'none' },
    } as const;
    const order = orderBelow(node.child);
    if (order === undefined) return inTwo(node, { partial: again(rows), final: again(node) });
    // The first rows in an order: only the order's own child can be divided.
    const first = (child: PlanNode): PlanNode => ({
      ...rows,
      child: { ...order, projection: undefined, child },
    });
    const below = reach(order.child) === 0 ? gather(order.child) : together(distribute(order.child), first);
    return again(node)(replaceOrder(node.child, below));
  }

  /** The rows of all pieces, each behind `partial`; those that are divided come from stages. */
  function together(
    pieces: readonly Piece[],
    partial: (child: PlanNode) => PlanNode = (child) => child,
  ): PlanNode {
    const parts = pieces.map(({ node, split }) =>
      split === undefined ? partial(node) : addStage(partial(node), split),
    );
    const [only, ...others] = parts;
    if (only !== undefined && others.length === 0) return only;
    return { kind: 'set-operation', operation: 'union', all: true, children: parts };
  }

  /** Rows that every fragment reads whole. They are made once, so that all read the same. */
  function once(node: PlanNode): PlanNode {
    const gathered = gather(node);
    return isRepeatable(gathered) ? gathered : addStage(gathered, undefined);
  }

  /** A join's side that stands whole beside the divided one; what is correlated can only be computed right there. */
  function beside(node: PlanNode): PlanNode {
    return isCorrelated(node) ? gatherCorrelated(node) : once(node);
  }

  /** Where a join only asks whether there is a partner, each one is handed on once. */
  function partners(join: Extract<PlanNode, { readonly left: PlanNode }>, side: 'left' | 'right'): PlanNode {
    const rows = join[side];
    if (join.kind !== 'join' || join.flavour === 'delim' || reach(rows) === 0) return rows;
    return partnerSides[join.joinType] === side
      ? { kind: 'distinct', on: false, targets: [], orders: [], child: rows }
      : rows;
  }

  function define({ cteIndex, definition }: Extract<PlanNode, { readonly kind: 'materialized-cte' }>): void {
    const rows = once(definition);
    // It stands for every reference, in definitions as well, where it may grow without end.
    const isSmall = isNoLarger(rows, mostRepeatedOperators);
    ctes.set(cteIndex, isSmall ? rows : addStage(rows, undefined));
    rowSizes.define(cteIndex, definition);
  }

  function distribute(node: PlanNode): readonly Piece[] {
    if (reach(node) === 0) return [{ node: gather(node), split: undefined }];
    switch (node.kind) {
      case 'get':
        return [{ node, split: node }];
      case 'projection':
      case 'filter':
      case 'unnest':
      case 'limit':
        return distribute(node.child).map(({ node: child, split }) => ({ node: { ...node, child }, split }));
      case 'set-operation':
        return node.children.flatMap(distribute);
      case 'materialized-cte':
        define(node);
        return distribute(node.child);
      case 'join':
      case 'cross-product': {
        const side = dividedSide(node);
        if (side === 'left') {
          const right = beside(partners(node, 'right'));
          return distribute(node.left).map(({ node: left, split }) => ({
            node: { ...node, left, right },
            split,
          }));
        }
        const left = beside(partners(node, 'left'));
        return distribute(node.right).map(({ node: right, split }) => ({
          node: { ...node, left, right },
          split,
        }));
      }
      default:
        throw new Error(`${node.kind} cannot be divided`);
    }
  }

  return { gather };
}

/** What is larger is made once, however cheap its operators are. */
const mostRepeatedOperators = 64;

/** The side of which a join answers nothing but whether it has a partner. */
const partnerSides: Readonly<Partial<Record<JoinType, 'left' | 'right'>>> = {
  SEMI: 'right',
  ANTI: 'right',
  MARK: 'right',
  RIGHT_SEMI: 'left',
  RIGHT_ANTI: 'left',
};

type Above = Extract<PlanNode, { readonly kind: 'aggregate' | 'distinct' | 'top-n' | 'limit' }>;

/** The same operator over another child. */
function again(node: Above): (child: PlanNode) => PlanNode {
  return (child) => ({ ...node, child });
}

const mostRows = (1n << 63n) - 1n;

/** How many rows of each part may be among those that the limit picks behind the offset. */
function firstRows(limit: bigint, offset: bigint): bigint {
  return limit + offset < mostRows ? limit + offset : mostRows;
}

/** The order that a limit picks the first rows of. */
function orderBelow(node: PlanNode): OrderNode | undefined {
  if (node.kind === 'projection') return orderBelow(node.child);
  return node.kind === 'order' ? node : undefined;
}

function replaceOrder(node: PlanNode, rows: PlanNode): PlanNode {
  return node.kind === 'order'
    ? { ...node, child: rows }
    : mapInputs(node, (input) => replaceOrder(input, rows));
}

/** UNION stands in the plan as a union that keeps duplicates below an operator that drops them. */
function plainUnions(node: PlanNode): PlanNode {
  const plain = mapInputs(node, plainUnions);
  if (plain.kind !== 'distinct' || plain.on || plain.child.kind !== 'set-operation') return plain;
  return plain.child.operation === 'union' ? { ...plain, child: { ...plain.child, all: true } } : plain;
}
