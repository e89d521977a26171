/**
 * The shape of DuckDB 1.5's `json_serialize_sql` answers as far as this package relies on it: which fields every node
 * has and what lies in them. A node or field that is not here is refused, never skipped, so that nothing can hide in a
 * corner that the gate does not look into.
 */

/**
 * What a field holds. `plain` is text, numbers, types and constants: nothing that could name a table or a function.
 * The others may be null where DuckDB leaves them out.
 */
export type FieldRole =
  | 'plain'
  | 'expression'
  | 'expressions'
  | 'expression-rows'
  | 'table'
  | 'query'
  | 'select'
  | 'ctes'
  | 'modifier'
  | 'modifiers'
  | 'orders'
  | 'case-checks'
  | 'replacements'
  | 'renames'
  | 'pivots'
  | 'pivot-entries'
  | 'at-clause';

export type NodeShape = Readonly<Record<string, FieldRole>>;

const everyExpression = { class: 'plain', type: 'plain', alias: 'plain', query_location: 'plain' } as const;

/** By `class`. */
export const expressionShapes: Readonly<Record<string, NodeShape>> = {
  BETWEEN: { ...everyExpression, input: 'expression', lower: 'expression', upper: 'expression' },
  CASE: { ...everyExpression, case_checks: 'case-checks', else_expr: 'expression' },
  CAST: { ...everyExpression, child: 'expression', cast_type: 'plain', try_cast: 'plain' },
  COLLATE: { ...everyExpression, child: 'expression', collation: 'plain' },
  COLUMN_REF: { ...everyExpression, column_names: 'plain' },
  COMPARISON: { ...everyExpression, left: 'expression', right: 'expression' },
  CONJUNCTION: { ...everyExpression, children: 'expressions' },
  CONSTANT: { ...everyExpression, value: 'plain' },
  DEFAULT: everyExpression,
  FUNCTION: {
    ...everyExpression,
    function_name: 'plain',
    schema: 'plain',
    catalog: 'plain',
    children: 'expressions',
    filter: 'expression',
    order_bys: 'modifier',
    distinct: 'plain',
    is_operator: 'plain',
    export_state: 'plain',
  },
  LAMBDA: { ...everyExpression, lhs: 'expression', expr: 'expression' },
  OPERATOR: { ...everyExpression, children: 'expressions' },
  PARAMETER: { ...everyExpression, identifier: 'plain' },
  POSITIONAL_REFERENCE: { ...everyExpression, index: 'plain' },
  STAR: {
    ...everyExpression,
    relation_name: 'plain',
    exclude_list: 'plain',
    qualified_exclude_list: 'plain',
    replace_list: 'replacements',
    rename_list: 'renames',
    columns: 'plain',
    expr: 'expression',
  },
  SUBQUERY: {
    ...everyExpression,
    subquery_type: 'plain',
    subquery: 'select',
    child: 'expression',
    comparison_type: 'plain',
  },
  WINDOW: {
    ...everyExpression,
    function_name: 'plain',
    schema: 'plain',
    catalog: 'plain',
    children: 'expressions',
    partitions: 'expressions',
    orders: 'orders',
    arg_orders: 'orders',
    start: 'plain',
    end: 'plain',
    start_expr: 'expression',
    end_expr: 'expression',
    offset_expr: 'expression',
    default_expr: 'expression',
    filter_expr: 'expression',
    ignore_nulls: 'plain',
    exclude_clause: 'plain',
    distinct: 'plain',
  },
};

/** Of OPERATOR nodes: every `type` that is known to be harmless. */
export const operatorTypes: ReadonlySet<string> = new Set([
  'ARRAY_CONSTRUCTOR',
  'ARRAY_EXTRACT',
  'ARRAY_SLICE',
  'ARROW',
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'GROUPING_FUNCTION',
  'OPERATOR_COALESCE',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_IS_NULL',
  'OPERATOR_NOT',
  'OPERATOR_TRY',
  'OPERATOR_UNPACK',
  'STRUCT_EXTRACT',
]);

const everyTable = { type: 'plain', alias: 'plain', sample: 'plain', query_location: 'plain' } as const;

/** By `type`. */
export const tableShapes: Readonly<Record<string, NodeShape>> = {
  BASE_TABLE: {
    ...everyTable,
    schema_name: 'plain',
    table_name: 'plain',
    catalog_name: 'plain',
    column_name_alias: 'plain',
    at_clause: 'at-clause',
  },
  EMPTY: everyTable,
  EXPRESSION_LIST: {
    ...everyTable,
    expected_names: 'plain',
    expected_types: 'plain',
    values: 'expression-rows',
  },
  JOIN: {
    ...everyTable,
    left: 'table',
    right: 'table',
    condition: 'expression',
    join_type: 'plain',
    ref_type: 'plain',
    using_columns: 'plain',
    delim_flipped: 'plain',
    duplicate_eliminated_columns: 'expressions',
  },
  PIVOT: {
    ...everyTable,
    source: 'table',
    aggregates: 'expressions',
    unpivot_names: 'plain',
    pivots: 'pivots',
    groups: 'plain',
    column_name_alias: 'plain',
    include_nulls: 'plain',
  },
  SHOW_REF: {
    ...everyTable,
    table_name: 'plain',
    catalog_name: 'plain',
    schema_name: 'plain',
    show_type: 'plain',
    query: 'query',
  },
  SUBQUERY: { ...everyTable, subquery: 'select', column_name_alias: 'plain' },
  TABLE_FUNCTION: {
    ...everyTable,
    function: 'expression',
    column_name_alias: 'plain',
    with_ordinality: 'plain',
  },
};

const everyQuery = { type: 'plain', modifiers: 'modifiers', cte_map: 'ctes' } as const;

/** By `type`. */
export const queryShapes: Readonly<Record<string, NodeShape>> = {
  SELECT_NODE: {
    ...everyQuery,
    select_list: 'expressions',
    from_table: 'table',
    where_clause: 'expression',
    group_expressions: 'expressions',
    group_sets: 'plain',
    aggregate_handling: 'plain',
    having: 'expression',
    sample: 'plain',
    qualify: 'expression',
  },
  SET_OPERATION_NODE: {
    ...everyQuery,
    setop_type: 'plain',
    setop_all: 'plain',
    left: 'query',
    right: 'query',
  },
  RECURSIVE_CTE_NODE: {
    ...everyQuery,
    cte_name: 'plain',
    union_all: 'plain',
    left: 'query',
    right: 'query',
    aliases: 'plain',
    key_targets: 'expressions',
  },
};

/** By `type`. */
export const modifierShapes: Readonly<Record<string, NodeShape>> = {
  ORDER_MODIFIER: { type: 'plain', orders: 'orders' },
  LIMIT_MODIFIER: { type: 'plain', limit: 'expression', offset: 'expression' },
  LIMIT_PERCENT_MODIFIER: { type: 'plain', limit: 'expression', offset: 'expression' },
  DISTINCT_MODIFIER: { type: 'plain', distinct_on_targets: 'expressions' },
};

export const selectShape: NodeShape = { node: 'query', named_param_map: 'plain' };
export const cteMapShape: NodeShape = { map: 'plain' };
export const cteEntryShape: NodeShape = { key: 'plain', value: 'plain' };
export const cteShape: NodeShape = {
  aliases: 'plain',
  query: 'select',
  materialized: 'plain',
  key_targets: 'expressions',
};
export const orderShape: NodeShape = { type: 'plain', null_order: 'plain', expression: 'expression' };
export const caseCheckShape: NodeShape = { when_expr: 'expression', then_expr: 'expression' };
export const replacementShape: NodeShape = { key: 'plain', value: 'expression' };
export const renameShape: NodeShape = { key: 'plain', value: 'plain' };
/** `pivot_enum` names a type of the engine; the gate refuses it. */
export const pivotShape: NodeShape = {
  pivot_expressions: 'expressions',
  unpivot_names: 'plain',
  entries: 'pivot-entries',
  pivot_enum: 'plain',
};
/** `star_expr` is any expression: `UNPIVOT t ON (f(a))`. */
export const pivotEntryShape: NodeShape = { values: 'plain', star_expr: 'expression', alias: 'plain' };
export const atClauseShape: NodeShape = { unit: 'plain', expr: 'expression' };
