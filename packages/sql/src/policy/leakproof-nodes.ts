/** Expressions of a parsed statement that tell nothing of a row but whether they are true of it. */
import { field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, type JsonObject } from '../json/lossless.js';

/** Of OPERATOR nodes: those that neither compute nor look into values. */
const operators: ReadonlySet<string> = new Set([
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'OPERATOR_COALESCE',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_IS_NULL',
  'OPERATOR_NOT',
]);

/** LIKE, ILIKE and GLOB, whose patterns have no escape that could be wrong. */
const likeFunctions: ReadonlySet<string> = new Set(['~~', '!~~', '~~*', '!~~*', '~~~']);

/** What one of them computes, it computes of rows that have passed all conditions below it. */
const aggregateFunctions: ReadonlySet<string> = new Set([
  'avg',
  'bool_and',
  'bool_or',
  'count',
  'count_star',
  'max',
  'min',
  'stddev',
  'stddev_pop',
  'stddev_samp',
  'sum',
  'var_pop',
  'var_samp',
  'variance',
]);

/**
 * Comparisons, IN, LIKE, IS NULL and BETWEEN over columns and constants, what is made of aggregates and constants only, and
 * subqueries of which `subqueryHolds` says so. Casts that the engine adds are not seen here: the plan shows them.
 */
export function isLeakproofNode(node: JsonObject, subqueryHolds: (subquery: JsonObject) => boolean): boolean {
  const holds = (child: JsonObject): boolean => isLeakproofNode(child, subqueryHolds);
  const has = (...names: readonly string[]): boolean => names.every((name) => holds(objectField(node, name)));
  switch (textField(node, 'class')) {
    case 'COLUMN_REF':
    case 'CONSTANT':
    case 'PARAMETER':
      return true;
    case 'STAR':
      return (field(node, 'expr') ?? null) === null && listField(node, 'replace_list').length === 0;
    case 'COMPARISON':
      return has('left', 'right');
    case 'BETWEEN':
      return has('input', 'lower', 'upper');
    case 'CONJUNCTION':
      return listField(node, 'children').every(holds);
    case 'OPERATOR':
      return operators.has(textField(node, 'type')) && listField(node, 'children').every(holds);
    case 'CASE':
      return (
        listField(node, 'case_checks').every(
          (check) => holds(objectField(check, 'when_expr')) && holds(objectField(check, 'then_expr')),
        ) && has('else_expr')
      );
    case 'SUBQUERY': {
      const child = field(node, 'child') ?? null;
      return subqueryHolds(node) && (!isJsonObject(child) || holds(child));
    }
    case 'FUNCTION':
      return (
        isOfAggregates(node) ||
        (likeFunctions.has(textField(node, 'function_name')) && listField(node, 'children').every(holds))
      );
    case 'CAST':
      return isOfAggregates(node);
    default:
      return false;
  }
}

/** The same value for every row: the optimiser computes it once, or the plan shows that it has not. */
export function isConstantNode(node: JsonObject): boolean {
  return isOver(node, () => false);
}

/** Constants, and aggregates of whatever it is. */
function isOfAggregates(node: JsonObject): boolean {
  return isOver(
    node,
    (call) =>
      aggregateFunctions.has(textField(call, 'function_name').toLowerCase()) &&
      (field(call, 'filter') ?? null) === null &&
      !hasSubquery(call),
  );
}

function isOver(node: JsonObject, isLeaf: (call: JsonObject) => boolean): boolean {
  switch (textField(node, 'class')) {
    case 'CONSTANT':
    case 'PARAMETER':
      return true;
    case 'CAST':
      return isOver(objectField(node, 'child'), isLeaf);
    case 'FUNCTION':
      return (
        isLeaf(node) ||
        (field(node, 'is_operator') === true &&
          listField(node, 'children').every((child) => isOver(child, isLeaf))) ||
        isInterval(node)
      );
    default:
      return false;
  }
}

/** INTERVAL '1' YEAR, as the parser writes it: `to_years(CAST(trunc(CAST('1' AS DOUBLE)) AS INTEGER))`. */
function isInterval(node: JsonObject): boolean {
  return (
    /^(?:trunc|to_(?:years|months|weeks|days|hours|minutes|seconds))$/.test(
      textField(node, 'function_name'),
    ) && listField(node, 'children').every(isConstantNode)
  );
}

function hasSubquery(node: JsonObject): boolean {
  if (textField(node, 'class') === 'SUBQUERY') return true;
  return Object.values(node).some((value) =>
    isJsonObject(value)
      ? hasSubquery(value)
      : Array.isArray(value) && value.some((each) => isJsonObject(each) && hasSubquery(each)),
  );
}
