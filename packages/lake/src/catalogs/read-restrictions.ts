/**
 * What a catalog demands of whoever reads a table for this user (Iceberg REST OpenAPI, `ReadRestrictions`): rows that must not be seen and
 * columns that are shown otherwise. A reader that cannot do all of it must not read the table.
 */
import type { JsonValue } from '../iceberg/spec/lossless-json.js';

export interface ReadRestrictions {
  /** Rows for which it is false or null are not there. Of the columns as they are, before any action. */
  readonly rowFilter: RestrictionExpression | undefined;
  readonly columns: readonly ColumnAction[];
}

export interface ColumnAction {
  readonly fieldId: number;
  /** As the catalog names it: `mask-alphanum`, or one that nobody here knows. */
  readonly action: string;
}

export type RestrictionExpression =
  | { readonly kind: 'constant'; readonly value: boolean }
  | {
      readonly kind: 'and' | 'or';
      readonly left: RestrictionExpression;
      readonly right: RestrictionExpression;
    }
  | { readonly kind: 'not'; readonly child: RestrictionExpression }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly column: RestrictedColumn }
  | {
      readonly kind: 'comparison';
      readonly operator: ComparisonOperator;
      readonly column: RestrictedColumn;
      readonly value: JsonValue;
    }
  | {
      readonly kind: 'set';
      readonly operator: 'in' | 'not-in';
      readonly column: RestrictedColumn;
      readonly values: readonly JsonValue[];
    }
  /** `what` names the kind of thing, and never holds a value. */
  | { readonly kind: 'unknown'; readonly what: string };

export type RestrictedColumn =
  | { readonly kind: 'id'; readonly id: number }
  | { readonly kind: 'name'; readonly name: string };

export const unaryOperators = ['is-null', 'not-null', 'is-nan', 'not-nan'] as const;
export type UnaryOperator = (typeof unaryOperators)[number];

export const comparisonOperators = [
  'lt',
  'lt-eq',
  'gt',
  'gt-eq',
  'eq',
  'not-eq',
  'starts-with',
  'not-starts-with',
] as const;
export type ComparisonOperator = (typeof comparisonOperators)[number];
