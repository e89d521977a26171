/** A point in time that a statement computes: `AT (TIMESTAMP => now() - INTERVAL 1 DAY)`. */
import { type AstVisitor, mapExpression } from '../ast/map.js';
import { field, textField } from '../json/access.js';
import { type JsonObject, type JsonValue, parseJson, stringifyJson } from '../json/lossless.js';
import { checkFunction } from './function-gate.js';
import { volatileFunctions } from './function-lists.js';
import { statementValueNames } from './statement-values.js';

/** What has one value without a row of a table, and without running for long. */
const constantClasses: ReadonlySet<string> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'OPERATOR',
]);

/**
 * Whether the expression is one over constants, now() and its kin; it is computed apart from the statement. Throws
 * FUNCTION_NOT_ALLOWED for a function that no statement may name.
 */
export function isConstantExpression(expression: JsonObject): boolean {
  let isConstant = true;
  const visitor: AstVisitor = {
    expression: (node) => {
      isConstant &&= isConstantNode(node);
      return isConstant ? mapExpression(node, visitor) : node;
    },
    table: (node) => node,
    query: (node) => node,
    ctes: (cteMap) => cteMap,
  };
  visitor.expression(expression);
  return isConstant;
}

function isConstantNode(node: JsonObject): boolean {
  const kind = textField(node, 'class');
  if (kind === 'FUNCTION') return !volatileFunctions.has(checkFunction(node));
  if (kind !== 'COLUMN_REF') return constantClasses.has(kind);
  const names = field(node, 'column_names');
  return (
    Array.isArray(names) && names.length === 1 && statementValueNames.has(String(names[0]).toLowerCase())
  );
}

/** The expression by itself, to be kept as text. */
export function printExpression(expression: JsonObject): string {
  return stringifyJson(expression);
}

/** The JSON for `json_deserialize_sql` of `SELECT` and the expression. */
export function selectOfExpression(printed: string): string {
  const node = {
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: { map: [] },
    select_list: [parseJson(printed)],
    from_table: { type: 'EMPTY', alias: '', sample: null },
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: 'STANDARD_HANDLING',
    having: null,
    sample: null,
    qualify: null,
  } satisfies JsonValue;
  return stringifyJson({ error: false, statements: [{ node, named_param_map: [] }] });
}
