/** Expressions that mean the same in Trino, Spark and here, by allow-list. */
import { constantInteger, constantText } from '../gate/constants.js';
import { statementValueNames } from '../gate/statement-values.js';
import { asArray, field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, type JsonObject, type JsonValue } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { type ForeignDialect, otherwise } from './foreign-dialect.js';

const sameEverywhere = () => undefined;

/** By class; each looks at the node itself, not at what lies below. */
const checks: Readonly<Record<string, (node: JsonObject, dialect: ForeignDialect) => void>> = {
  BETWEEN: (node, dialect) => checkCompared([field(node, 'lower'), field(node, 'upper')], dialect),
  CASE: sameEverywhere,
  CAST: checkCast,
  COLUMN_REF: checkColumn,
  COMPARISON: (node, dialect) => checkCompared([field(node, 'left'), field(node, 'right')], dialect),
  CONJUNCTION: sameEverywhere,
  CONSTANT: checkConstant,
  FUNCTION: checkFunction,
  OPERATOR: checkOperator,
  STAR: checkStar,
  SUBQUERY: checkSubquery,
  WINDOW: checkWindow,
};

/** Throws NOT_SUPPORTED naming what may mean something else. */
export function checkForeignExpression(node: JsonObject, dialect: ForeignDialect): void {
  const kind = textField(node, 'class');
  const check = Object.hasOwn(checks, kind) ? checks[kind] : undefined;
  if (check === undefined) throw otherwise(kind);
  check(node, dialect);
}

const fraction = /^\s*[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?\s*$/;
const wholeNumber = /^\s*[-+]?\d*\s*$/;

/** Compared with whole numbers, a text of a number with a fraction is rounded here and cut by Spark. */
function checkCompared(sides: readonly (JsonValue | undefined)[], dialect: ForeignDialect): void {
  for (const side of dialect === 'spark' ? sides : []) {
    const text = isJsonObject(side) ? constantText(side) : undefined;
    if (text !== undefined && fraction.test(text) && !wholeNumber.test(text))
      throw otherwise(`a comparison with the text '${abbreviate(text)}'`);
  }
}

const constantTypes: ReadonlySet<string> = new Set([
  'INTEGER',
  'BIGINT',
  'DECIMAL',
  'DOUBLE',
  'VARCHAR',
  'BOOLEAN',
]);

function checkConstant(node: JsonObject): void {
  const type = textField(objectField(objectField(node, 'value'), 'type'), 'id');
  if (!isNull(node) && !constantTypes.has(type)) throw otherwise(`a constant of type ${type}`);
}

function isNull(node: JsonObject): boolean {
  return textField(node, 'class') === 'CONSTANT' && field(objectField(node, 'value'), 'is_null') === true;
}

const integerTypes: ReadonlySet<string> = new Set(['TINYINT', 'SMALLINT', 'INTEGER', 'BIGINT']);
const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const timestampPattern = /^\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;

/** Of values, casts round, cut and print otherwise; of constants they are literals. A literal TIMESTAMP has Spark's zone. */
function checkCast(node: JsonObject, dialect: ForeignDialect): void {
  const child = objectField(node, 'child');
  const type = textField(objectField(node, 'cast_type'), 'id');
  const text = constantText(child);
  const isLiteral =
    isNull(child) ||
    (text !== undefined &&
      ((type === 'VARCHAR' && textField(child, 'class') === 'CONSTANT') ||
        (type === 'BOOLEAN' && (text === 't' || text === 'f')) ||
        (type === 'DATE' && datePattern.test(text)) ||
        (type === 'TIMESTAMP' && dialect === 'trino' && timestampPattern.test(text)))) ||
    (text === undefined &&
      integerTypes.has(type) &&
      textField(child, 'class') === 'CONSTANT' &&
      integerTypes.has(textField(objectField(objectField(child, 'value'), 'type'), 'id')));
  // The condition of IS TRUE is cast to BOOLEAN by the parser, and `CAST(x AS DOUBLE)` is exact or fails.
  const isSame = type === 'DOUBLE' || (type === 'BOOLEAN' && text === undefined);
  if (isLiteral || (isSame && field(node, 'try_cast') !== true)) return;
  throw otherwise(`CAST(… AS ${type})`);
}

function checkColumn(node: JsonObject): void {
  const [name, ...more] = asArray(field(node, 'column_names'));
  if (more.length === 0 && typeof name === 'string' && statementValueNames.has(name.toLowerCase()))
    throw otherwise(name);
}

const operators: ReadonlySet<string> = new Set([
  'COMPARE_IN',
  'COMPARE_NOT_IN',
  'OPERATOR_COALESCE',
  'OPERATOR_IS_NOT_NULL',
  'OPERATOR_IS_NULL',
  'OPERATOR_NOT',
]);

function checkOperator(node: JsonObject, dialect: ForeignDialect): void {
  const type = textField(node, 'type');
  if (type === 'COMPARE_IN' || type === 'COMPARE_NOT_IN') checkCompared(listField(node, 'children'), dialect);
  if (type === 'ARRAY_EXTRACT') throw otherwise('an index in brackets');
  if (!operators.has(type)) throw otherwise(type);
}

function checkStar(node: JsonObject): void {
  const lists = ['exclude_list', 'replace_list', 'qualified_exclude_list', 'rename_list'];
  const isPlain = lists.every((name) => asArray(field(node, name) ?? []).length === 0);
  if (!isPlain || field(node, 'columns') === true || isJsonObject(field(node, 'expr')))
    throw otherwise('* with something behind it');
}

const subqueries: ReadonlySet<string> = new Set(['EXISTS', 'NOT_EXISTS', 'SCALAR', 'ANY']);

function checkSubquery(node: JsonObject): void {
  const [type, comparison] = [textField(node, 'subquery_type'), textField(node, 'comparison_type')];
  if (!subqueries.has(type) || (type === 'ANY' && comparison !== 'COMPARE_EQUAL'))
    throw otherwise(`a subquery behind ${type}`);
}

/** By name: whether these arguments are ones for which it answers the same. */
const functions: Readonly<Record<string, (args: readonly JsonObject[]) => boolean>> = {
  '+': (args) => args.length <= 2,
  '-': (args) => args.length <= 2,
  '*': (args) => args.length === 2,
  '~~': ([, pattern]) => isText(pattern),
  '!~~': ([, pattern]) => isText(pattern),
  abs: (args) => args.length === 1,
  bool_and: (args) => args.length === 1,
  bool_or: (args) => args.length === 1,
  count: (args) => args.length <= 1,
  count_star: (args) => args.length === 0,
  length: (args) => args.length === 1,
  max: (args) => args.length === 1,
  min: (args) => args.length === 1,
  nullif: (args) => args.length === 2,
  starts_with: (args) => args.length === 2,
  substr: ([, ...range]) => isRange(range),
  substring: ([, ...range]) => isRange(range),
  sum: (args) => args.length === 1,
};

/** Why those are refused that are most likely to be met. */
const reasons: Readonly<Record<string, string>> = {
  '/': 'the division /',
  '%': 'the remainder %',
  '||': '|| of texts or lists',
  '~~': 'LIKE with a pattern that is no constant',
  '!~~': 'LIKE with a pattern that is no constant',
  '~~*': 'ILIKE',
  '!~~*': 'ILIKE',
  to_years: 'an INTERVAL',
  to_months: 'an INTERVAL',
  to_days: 'an INTERVAL',
  to_hours: 'an INTERVAL',
  to_minutes: 'an INTERVAL',
  to_seconds: 'an INTERVAL',
};

function checkFunction(node: JsonObject): void {
  const name = textField(node, 'function_name').toLowerCase();
  const args = listField(node, 'children');
  const isSame = Object.hasOwn(functions, name) ? functions[name] : undefined;
  if (isSame?.(args) !== true || args.some((arg) => textField(arg, 'class') === 'STAR'))
    throw otherwise((Object.hasOwn(reasons, name) ? reasons[name] : undefined) ?? `${abbreviate(name)}(…)`);
  if (listField(objectField(node, 'order_bys'), 'orders').length > 0)
    throw otherwise(`ORDER BY within ${abbreviate(name)}(…)`);
}

function isText(node: JsonObject | undefined): boolean {
  return node !== undefined && constantText(node) !== undefined;
}

/** From 1 on: what 0 and negative numbers mean differs. */
function isRange(range: readonly JsonObject[]): boolean {
  const [start, length] = range.map(constantInteger);
  if (start === undefined || start < 1n || range.length > 2) return false;
  return range.length === 1 || (length !== undefined && length >= 0n);
}

const windowFunctions: ReadonlySet<string> = new Set([
  'row_number',
  'rank',
  'dense_rank',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'count',
  'count_star',
  'sum',
  'min',
  'max',
]);
const frameEnds: ReadonlySet<string> = new Set([
  'UNBOUNDED_PRECEDING',
  'UNBOUNDED_FOLLOWING',
  'CURRENT_ROW_RANGE',
  'CURRENT_ROW_ROWS',
]);

function checkWindow(node: JsonObject): void {
  const name = textField(node, 'function_name').toLowerCase();
  const isPlainFrame = ['start', 'end'].every((end) => frameEnds.has(textField(node, end)));
  const isPlain =
    isPlainFrame &&
    field(node, 'ignore_nulls') === false &&
    textField(node, 'exclude_clause') === 'NO_OTHER' &&
    listField(node, 'arg_orders').length === 0;
  if (!windowFunctions.has(name) || !isPlain) throw otherwise(`${abbreviate(name)}(…) OVER (…)`);
}
