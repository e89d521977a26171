/**
 * The expression of a row filter or column mask, as the parser answers it. It is somebody's SQL of another day, computed in
 * front of whoever asks now: only what depends on the row, on who asks, and on mapping tables may stand in it.
 */
import { QueryError } from '@svc/base';
import { type AstVisitor, mapExpression } from '../ast/map.js';
import { type ParsedQuery, readSerializedSql } from '../ast/parsed-statement.js';
import { mapInScope, walkOn } from '../ast/scoped-walk.js';
import { type GatedQuery, gate } from '../gate/gate.js';
import { statementValueFunctions, statementValueNames } from '../gate/statement-values.js';
import { asArray, field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, type JsonObject } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';

/** What an expression is compiled for: one table and one identity. */
export interface PolicyContext {
  readonly table: string;
  readonly columns: readonly string[];
  /** Undefined where the name of the one who asks is nobody's word but his own. */
  readonly user: string | undefined;
  hasRole(role: string): boolean;
}

export interface PolicyExpression {
  /** `SELECT` of the expression, with constants for the identity. */
  readonly parsed: ParsedQuery;
  readonly gated: GatedQuery;
}

/** The text to be parsed: a comment at the end of the expression ends with its line. */
export function policyExpressionQuery(expression: string): string {
  return `SELECT (${expression}\n)`;
}

/**
 * Reads what the parser answered for `policyExpressionQuery`. Throws SYNTAX_ERROR, FUNCTION_NOT_ALLOWED, BINDING_ERROR for a
 * column that the table does not have, and NOT_SUPPORTED for what no policy may say.
 */
export function readPolicyExpression(
  expression: string,
  answer: string,
  context: PolicyContext,
): PolicyExpression {
  const parsed = readSerializedSql(policyExpressionQuery(expression), answer);
  checkOneExpression(parsed.query);
  const query = new PolicyWalk(context).query(parsed.query);
  const compiled = { ...parsed, query };
  const gated = gate(compiled, 'server');
  if (gated.parameters.length > 0) throw refused('parameters');
  if (gated.hasVolatile) throw refused('functions that answer differently each time');
  if (gated.fileReads.length > 0) throw refused('files');
  for (const table of gated.tables)
    if (table.timeTravel !== undefined) throw refused('AT, for a mapping table is read as it is now');
  return { parsed: compiled, gated };
}

/** The brackets of the expression must be its own: nothing of the text may stand outside of them. */
function checkOneExpression(query: JsonObject): void {
  const [expression, ...more] = listField(query, 'select_list');
  const isPlain =
    textField(query, 'type') === 'SELECT_NODE' &&
    asArray(field(query, 'modifiers') ?? []).length === 0 &&
    listField(objectField(query, 'cte_map'), 'map').length === 0 &&
    textField(objectField(query, 'from_table'), 'type') === 'EMPTY' &&
    asArray(field(query, 'group_expressions') ?? []).length === 0 &&
    ['where_clause', 'having', 'sample', 'qualify'].every((name) => (field(query, name) ?? null) === null);
  if (!isPlain || expression === undefined || more.length > 0 || textField(expression, 'alias') !== '')
    throw new QueryError('SYNTAX_ERROR', 'Syntax error: a policy has one expression and nothing behind it.');
}

function refused(what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `The expression of a policy takes no ${what}.`);
}

const userNames: ReadonlySet<string> = new Set(['current_user', 'session_user', 'user', 'current_role']);

/** The moment of the statement is everybody's; dates and local times follow a setting of the one who asks. */
const momentNames: ReadonlySet<string> = new Set([
  'now',
  'get_current_timestamp',
  'transaction_timestamp',
  'current_timestamp',
]);

/** Functions of DuckDB 1.5.5 that answer less or more than one value for each row: no filter, no mask. */
const rowMakers: ReadonlySet<string> = new Set(
  `any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last arg_min
  arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg bool_and bool_or corr count
  count_if count_star countif covar_pop covar_samp entropy favg first fsum geometric_mean geomean group_concat histogram
  histogram_exact kahan_sum kurtosis kurtosis_pop last list listagg mad max max_by mean median min min_by mode product quantile
  quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx regr_sxy regr_syy
  reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sumkahan var_pop var_samp variance wavg
  weighted_avg unnest unlist generate_subscripts`.split(/\s+/),
);

/** Puts constants in the place of what depends on the identity. */
class PolicyWalk {
  readonly #context: PolicyContext;
  readonly #columns: ReadonlySet<string>;
  /** Subqueries around the node. */
  #depth = 0;

  constructor(context: PolicyContext) {
    this.#context = context;
    this.#columns = new Set(context.columns.map((name) => name.toLowerCase()));
  }

  query(query: JsonObject): JsonObject {
    return mapInScope(query, {
      baseTable: (node) => {
        if ((field(node, 'sample') ?? null) !== null) throw refused('samples');
        return node;
      },
      commonTable: (node) => node,
      otherTable: walkOn,
      expression: (node, children) => this.#expression(node, children),
    });
  }

  #expression(node: JsonObject, children: AstVisitor): JsonObject {
    switch (textField(node, 'class')) {
      case 'COLUMN_REF':
        return this.#column(node);
      case 'FUNCTION':
        return this.#call(node, children);
      case 'SUBQUERY':
        return this.#within(() => mapExpression(node, children));
      case 'PARAMETER':
        throw refused('parameters');
      case 'POSITIONAL_REFERENCE':
        throw refused('columns by number');
      case 'LAMBDA':
        throw refused('lambda functions');
      case 'STAR':
        if (this.#depth === 0) throw refused('* or COLUMNS');
        break;
      case 'WINDOW':
        if (this.#depth === 0) throw refused('window functions');
        break;
    }
    return mapExpression(node, children);
  }

  #within(body: () => JsonObject): JsonObject {
    this.#depth++;
    try {
      return body();
    } finally {
      this.#depth--;
    }
  }

  #column(node: JsonObject): JsonObject {
    const names = asArray(field(node, 'column_names')).map((name) => String(name).toLowerCase());
    const [first = '', second] = names;
    const isBare = second === undefined;
    if (this.#depth > 0) {
      // Below, a name may be a mapping table's: only what no column is likely to be called means the user there.
      if (isBare && (first === 'user' || first === 'current_role'))
        throw new QueryError(
          'NOT_SUPPORTED',
          `"${first}" in a subquery of a policy: write current_user, or t.${first} for a column.`,
        );
      return isBare ? this.#value(first, node) : node;
    }
    if (this.#columns.has(first)) return node;
    if (isBare && statementValueNames.has(first)) return this.#value(first, node);
    if (!isBare && first === this.#context.table.toLowerCase() && this.#columns.has(second)) return node;
    throw new QueryError(
      'BINDING_ERROR',
      `The table has no column "${abbreviate(names.join('.'))}", which its policy names.`,
    );
  }

  #call(node: JsonObject, children: AstVisitor): JsonObject {
    const name = textField(node, 'function_name').toLowerCase();
    const isOurs = name === 'has_role' || userNames.has(name);
    if (isOurs && (textField(node, 'schema') !== '' || textField(node, 'catalog') !== ''))
      throw refused(`${name} of a schema`);
    if (name === 'has_role') return this.#hasRole(node);
    if (this.#depth === 0 && rowMakers.has(name))
      throw refused(`${name}, which makes other rows of the table's`);
    if (!statementValueFunctions.has(name)) return mapExpression(node, children);
    return this.#value(name, node);
  }

  /** What stands for a name of the session's own; `node` where it is none, or everybody's. */
  #value(name: string, node: JsonObject): JsonObject {
    if (userNames.has(name)) {
      const { user } = this.#context;
      if (user === undefined)
        throw new QueryError(
          'POLICY_NOT_APPLICABLE',
          'A policy asks for current_user, and the name of this session is not verified.',
        );
      return constant(user);
    }
    if (momentNames.has(name)) return node;
    if (statementValueNames.has(name) || statementValueFunctions.has(name))
      throw refused(`${name}, which depends on settings of the session: use now()`);
    return node;
  }

  #hasRole(node: JsonObject): JsonObject {
    const [role, ...more] = listField(node, 'children');
    const value = role === undefined ? undefined : field(role, 'value');
    const text =
      role !== undefined && textField(role, 'class') === 'CONSTANT' && isJsonObject(value)
        ? field(value, 'value')
        : undefined;
    if (typeof text !== 'string' || more.length > 0)
      throw new QueryError(
        'SYNTAX_ERROR',
        "Syntax error: has_role takes one role as text: has_role('admin').",
      );
    return booleanConstant(this.#context.hasRole(text));
  }
}

function constant(value: string): JsonObject {
  return {
    class: 'CONSTANT',
    type: 'VALUE_CONSTANT',
    alias: '',
    value: { type: { id: 'VARCHAR', type_info: null }, is_null: false, value },
  };
}

/** As the parser itself writes TRUE and FALSE. */
function booleanConstant(value: boolean): JsonObject {
  return {
    class: 'CAST',
    type: 'OPERATOR_CAST',
    alias: '',
    child: constant(value ? 't' : 'f'),
    cast_type: { id: 'BOOLEAN', type_info: null },
    try_cast: false,
  };
}
