import type { JsonValue } from '../json/lossless.js';
import type { LogicalType } from './logical-type.js';
import type { PlanValue } from './plan-value.js';

/** Expressions of an optimised plan. References are positions in the output of the operator below. */
export type PlanExpression =
  | ReferenceExpression
  | { readonly kind: 'constant'; readonly type: LogicalType; readonly value: PlanValue }
  | ComparisonExpression
  | {
      readonly kind: 'conjunction';
      readonly operator: 'and' | 'or';
      readonly children: readonly PlanExpression[];
    }
  | BetweenExpression
  | CastExpression
  | CaseExpression
  | OperatorExpression
  | FunctionExpression
  | AggregateExpression
  | WindowExpression
  | { readonly kind: 'unnest'; readonly type: LogicalType; readonly child: PlanExpression }
  /** A prepared statement's parameter without a value yet. */
  | { readonly kind: 'parameter'; readonly identifier: string; readonly type: LogicalType };

export interface ReferenceExpression {
  readonly kind: 'reference';
  readonly type: LogicalType;
  readonly index: number;
}

export type PlanComparison = '=' | '<>' | '<' | '<=' | '>' | '>=' | 'is-distinct' | 'is-not-distinct';

export interface ComparisonExpression {
  readonly kind: 'comparison';
  readonly operator: PlanComparison;
  readonly left: PlanExpression;
  readonly right: PlanExpression;
}

export interface BetweenExpression {
  readonly kind: 'between';
  readonly input: PlanExpression;
  readonly lower: PlanExpression;
  readonly upper: PlanExpression;
  readonly lowerInclusive: boolean;
  readonly upperInclusive: boolean;
}

export interface CastExpression {
  readonly kind: 'cast';
  readonly type: LogicalType;
  readonly child: PlanExpression;
  readonly tryCast: boolean;
}

export interface CaseExpression {
  readonly kind: 'case';
  readonly type: LogicalType;
  readonly checks: readonly { readonly when: PlanExpression; readonly result: PlanExpression }[];
  readonly otherwise: PlanExpression;
}

export interface OperatorExpression {
  readonly kind: 'operator';
  readonly operator: 'not' | 'is-null' | 'is-not-null' | 'coalesce' | 'in' | 'not-in' | 'try';
  readonly type: LogicalType;
  readonly children: readonly PlanExpression[];
}

/** `bindData` is the engine's own form (lambda bodies, separators); only this folder may look into it. */
export interface FunctionExpression {
  readonly kind: 'function';
  readonly name: string;
  readonly type: LogicalType;
  readonly children: readonly PlanExpression[];
  readonly bindData: JsonValue | undefined;
}

export interface PlanOrder {
  readonly expression: PlanExpression;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

export interface AggregateExpression {
  readonly kind: 'aggregate';
  readonly name: string;
  readonly type: LogicalType;
  readonly children: readonly PlanExpression[];
  readonly distinct: boolean;
  readonly filter: PlanExpression | undefined;
  readonly orders: readonly PlanOrder[];
  readonly bindData: JsonValue | undefined;
}

export interface WindowExpression {
  readonly kind: 'window';
  /** The engine's word: WINDOW_AGGREGATE, WINDOW_ROW_NUMBER, … */
  readonly windowKind: string;
  /** The aggregate's name where `windowKind` is WINDOW_AGGREGATE. */
  readonly name: string | undefined;
  readonly type: LogicalType;
  readonly children: readonly PlanExpression[];
  readonly partitions: readonly PlanExpression[];
  readonly orders: readonly PlanOrder[];
  readonly argumentOrders: readonly PlanOrder[];
  readonly filter: PlanExpression | undefined;
  readonly ignoreNulls: boolean;
  readonly distinct: boolean;
  /** The engine's words: UNBOUNDED_PRECEDING, EXPR_FOLLOWING_ROWS, … */
  readonly start: string;
  readonly end: string;
  readonly exclude: string;
  readonly startOffset: PlanExpression | undefined;
  readonly endOffset: PlanExpression | undefined;
  readonly offset: PlanExpression | undefined;
  readonly defaultValue: PlanExpression | undefined;
}
