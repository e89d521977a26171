import type { LogicalType } from './logical-type.js';
import type { PlanComparison, PlanExpression, PlanOrder } from './plan-expression.js';
import type { PlanTableFilter } from './plan-filter.js';
import type { PlanValue } from './plan-value.js';

/** Operators of the engine's optimised logical plan. What an operator answers is described by position. */
export type PlanNode =
  | GetNode
  | ProjectionNode
  | FilterNode
  | AggregateNode
  | JoinNode
  | DelimGetNode
  | { readonly kind: 'cross-product' | 'positional-join'; readonly left: PlanNode; readonly right: PlanNode }
  | OrderNode
  | TopNNode
  | LimitNode
  | DistinctNode
  | WindowNode
  | UnnestNode
  | SampleNode
  | SetOperationNode
  | MaterializedCteNode
  | RecursiveCteNode
  | CteReferenceNode
  | ExpressionGetNode
  | ChunkGetNode
  | { readonly kind: 'dummy-scan' }
  | { readonly kind: 'empty-result'; readonly types: readonly LogicalType[] }
  | StageReadNode;

/** The rows of an earlier stage. The engine never answers one: it takes the place of what that stage computes. */
export interface StageReadNode {
  readonly kind: 'stage-read';
  readonly stage: string;
  readonly types: readonly LogicalType[];
}

/** One column that a scan reads. Virtual columns (row numbers, nothing at all) have no index. */
export interface ScanColumn {
  /** Position in `names`. */
  readonly index: number | undefined;
  /** As of a field. */
  readonly isCast: boolean;
  /** Struct fields below it that are read, by name; empty means the whole column. */
  readonly children: readonly ScanField[];
}

export interface ScanField {
  readonly name: string;
  /** The engine answers it as another type: a cast of the statement is computed where the scan is. */
  readonly isCast: boolean;
  readonly children: readonly ScanField[];
}

/** A table function in FROM; base tables are `read_parquet` of a stub. */
export interface GetNode {
  readonly kind: 'get';
  readonly functionName: string;
  /** Files of read_parquet; empty for other functions. */
  readonly files: readonly string[];
  readonly names: readonly string[];
  readonly types: readonly LogicalType[];
  readonly columns: readonly ScanColumn[];
  /** Positions in `columns` that are answered; undefined means all. */
  readonly projection: readonly number[] | undefined;
  /** `column` is a position in `names`. Joined by AND. */
  readonly filters: readonly { readonly column: number; readonly filter: PlanTableFilter }[];
  /** Lateral input of functions like unnest. */
  readonly child: PlanNode | undefined;
}

export interface ProjectionNode {
  readonly kind: 'projection';
  readonly child: PlanNode;
  readonly expressions: readonly PlanExpression[];
}

export interface FilterNode {
  readonly kind: 'filter';
  readonly child: PlanNode;
  /** Joined by AND. */
  readonly expressions: readonly PlanExpression[];
  /** Positions of the child's columns that are answered; undefined means all. */
  readonly projection: readonly number[] | undefined;
}

/** Answers groups, then aggregates, then GROUPING values. */
export interface AggregateNode {
  readonly kind: 'aggregate';
  readonly child: PlanNode;
  readonly groups: readonly PlanExpression[];
  readonly groupingSets: readonly (readonly number[])[];
  readonly groupingFunctions: readonly (readonly number[])[];
  readonly aggregates: readonly PlanExpression[];
}

export type JoinType =
  | 'INNER'
  | 'LEFT'
  | 'RIGHT'
  | 'FULL'
  | 'SEMI'
  | 'ANTI'
  | 'MARK'
  | 'SINGLE'
  | 'RIGHT_SEMI'
  | 'RIGHT_ANTI';

export interface JoinNode {
  readonly kind: 'join';
  /** `delim` computes one side for the distinct values of the other; `any` joins on an arbitrary condition. */
  readonly flavour: 'comparison' | 'asof' | 'delim' | 'any';
  readonly joinType: JoinType;
  readonly left: PlanNode;
  readonly right: PlanNode;
  readonly conditions: readonly JoinCondition[];
  /** Of `any` joins: over the columns of left, then right. */
  readonly condition: PlanExpression | undefined;
  readonly leftProjection: readonly number[] | undefined;
  readonly rightProjection: readonly number[] | undefined;
  readonly delimColumns: readonly PlanExpression[];
  readonly delimFlipped: boolean;
}

export interface JoinCondition {
  readonly operator: PlanComparison;
  /** Over the columns of the left side. */
  readonly left: PlanExpression;
  /** Over the columns of the right side. */
  readonly right: PlanExpression;
}

/** The distinct values that the delim join above hands down. */
export interface DelimGetNode {
  readonly kind: 'delim-get';
  readonly types: readonly LogicalType[];
}

export interface OrderNode {
  readonly kind: 'order';
  readonly child: PlanNode;
  readonly orders: readonly PlanOrder[];
  readonly projection: readonly number[] | undefined;
}

export interface TopNNode {
  readonly kind: 'top-n';
  readonly child: PlanNode;
  readonly orders: readonly PlanOrder[];
  readonly limit: bigint;
  readonly offset: bigint;
}

export type LimitValue =
  | { readonly kind: 'none' }
  | { readonly kind: 'rows'; readonly rows: bigint }
  | { readonly kind: 'percent'; readonly percent: number }
  /** Rows or percent by an expression over the child's columns. */
  | { readonly kind: 'expression'; readonly isPercent: boolean; readonly expression: PlanExpression };

export interface LimitNode {
  readonly kind: 'limit';
  readonly child: PlanNode;
  readonly limit: LimitValue;
  readonly offset: LimitValue;
}

export interface DistinctNode {
  readonly kind: 'distinct';
  readonly child: PlanNode;
  readonly on: boolean;
  /** None, where it is not DISTINCT ON, means all columns; the engine itself names them. */
  readonly targets: readonly PlanExpression[];
  readonly orders: readonly PlanOrder[];
}

/** Answers the child's columns, then the windows. */
export interface WindowNode {
  readonly kind: 'window';
  readonly child: PlanNode;
  readonly expressions: readonly PlanExpression[];
}

/** Answers the child's columns, then the elements. */
export interface UnnestNode {
  readonly kind: 'unnest';
  readonly child: PlanNode;
  readonly expressions: readonly PlanExpression[];
}

export interface SampleNode {
  readonly kind: 'sample';
  readonly child: PlanNode;
  readonly size: PlanValue;
  readonly isPercent: boolean;
  readonly method: string;
}

export interface SetOperationNode {
  readonly kind: 'set-operation';
  readonly operation: 'union' | 'except' | 'intersect';
  readonly all: boolean;
  readonly children: readonly PlanNode[];
}

export interface MaterializedCteNode {
  readonly kind: 'materialized-cte';
  readonly cteIndex: bigint;
  readonly name: string;
  readonly definition: PlanNode;
  readonly child: PlanNode;
}

export interface RecursiveCteNode {
  readonly kind: 'recursive-cte';
  readonly cteIndex: bigint;
  readonly name: string;
  readonly all: boolean;
  readonly left: PlanNode;
  readonly right: PlanNode;
}

export interface CteReferenceNode {
  readonly kind: 'cte-reference';
  readonly cteIndex: bigint;
  readonly types: readonly LogicalType[];
}

/** VALUES. */
export interface ExpressionGetNode {
  readonly kind: 'expression-get';
  readonly types: readonly LogicalType[];
  readonly rows: readonly (readonly PlanExpression[])[];
}

/** Constant rows that the optimiser made, by column. */
export interface ChunkGetNode {
  readonly kind: 'chunk-get';
  readonly types: readonly LogicalType[];
  readonly columns: readonly (readonly PlanValue[])[];
}
