/** A point in a table's history that a statement computes: `AT (TIMESTAMP => now() - INTERVAL 1 DAY)`, `AT (VERSION => ?)`. */
import { type AstVisitor, mapExpression } from '../ast/map.js';
import { field, textField } from '../json/access.js';
import { isJsonObject, type JsonObject, type JsonValue, parseJson, stringifyJson } from '../json/lossless.js';
import { checkFunction } from './function-gate.js';
import { volatileFunctions } from './function-lists.js';
import { statementValueNames } from './statement-values.js';
import { checkCast } from './type-gate.js';

export interface TimeExpression {
  readonly kind: 'expression';
  readonly unit: 'VERSION' | 'TIMESTAMP';
  /** In the parser's JSON: see `selectOfExpression`. */
  readonly expression: string;
  /** Identifiers of the parameters in it, each once. */
  readonly parameters: readonly string[];
}

/** What has one value without a row of a table, and without running for long. */
const constantClasses: ReadonlySet<string> = new Set([
  'BETWEEN',
  'CASE',
  'CAST',
  'COMPARISON',
  'CONJUNCTION',
  'CONSTANT',
  'OPERATOR',
  'PARAMETER',
]);

/**
 * The expression, if it is one over constants, parameters, now() and its kin; it is computed apart from the statement.
 * Throws FUNCTION_NOT_ALLOWED for a function that no statement may name, BINDING_ERROR for such a type.
 */
export function readTimeExpression(
  expression: JsonObject,
  unit: TimeExpression['unit'],
): TimeExpression | undefined {
  const parameters = new Set<string>();
  let isConstant = true;
  const visitor: AstVisitor = {
    expression: (node) => {
      isConstant &&= isConstantNode(node);
      if (textField(node, 'class') === 'PARAMETER')
        parameters.add(textField(node, 'identifier').toLowerCase());
      return isConstant ? mapExpression(node, visitor) : node;
    },
    table: (node) => node,
    query: (node) => node,
    ctes: (cteMap) => cteMap,
  };
  visitor.expression(expression);
  if (!isConstant) return undefined;
  return { kind: 'expression', unit, expression: stringifyJson(expression), parameters: [...parameters] };
}

function isConstantNode(node: JsonObject): boolean {
  const kind = textField(node, 'class');
  if (kind === 'CAST') checkCast(node);
  if (kind === 'FUNCTION') return !volatileFunctions.has(checkFunction(node));
  if (kind !== 'COLUMN_REF') return constantClasses.has(kind);
  const names = field(node, 'column_names');
  return (
    Array.isArray(names) && names.length === 1 && statementValueNames.has(String(names[0]).toLowerCase())
  );
}

/** The JSON for `json_deserialize_sql` of `SELECT` and the expression. */
export function selectOfExpression({ expression }: TimeExpression): string {
  return selectOf(parseJson(expression));
}

/** The same for describing it: a parameter that stands alone gets the type of what is asked for. */
export function describedExpression({ expression, unit }: TimeExpression): string {
  const node = parseJson(expression);
  const standsAlone = isJsonObject(node) && textField(node, 'class') === 'PARAMETER';
  return selectOf(standsAlone ? castTo(pointTypes[unit], node) : node);
}

/** Engine types by what they stand for; a branch's name is asked for by a cast. */
const pointTypes = { VERSION: 'BIGINT', TIMESTAMP: 'TIMESTAMP WITH TIME ZONE' } as const;

function castTo(type: string, child: JsonObject): JsonObject {
  return {
    class: 'CAST',
    type: 'OPERATOR_CAST',
    alias: '',
    child,
    cast_type: { id: type, type_info: null },
    try_cast: false,
  };
}

function selectOf(expression: JsonValue): string {
  const node = {
    type: 'SELECT_NODE',
    modifiers: [],
    cte_map: { map: [] },
    select_list: [expression],
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
