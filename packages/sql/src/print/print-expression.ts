import { typeOfExpression } from '../plan/expression-type.js';
import type { LogicalType } from '../plan/logical-type.js';
import type {
  CaseExpression,
  FunctionExpression,
  OperatorExpression,
  PlanComparison,
  PlanExpression,
  PlanOrder,
  ReferenceExpression,
} from '../plan/plan-expression.js';
import { quoteIdentifier, quoteString } from '../text/literals.js';
import { NotPrintable } from './not-printable.js';
import { printType, printValue } from './print-value.js';
import { functionsWithKnownData, printableFunctions } from './printable-functions.js';

/** The SQL of a column of the operator below. Throws for a position that is not there, or has another type. */
export type ColumnText = (reference: ReferenceExpression) => string;

/** A scalar expression in SQL, in parentheses where it needs them. */
export function printExpression(expression: PlanExpression, column: ColumnText): string {
  const print = (operand: PlanExpression) => printExpression(operand, column);
  switch (expression.kind) {
    case 'reference':
      return column(expression);
    case 'constant':
      return printValue(expression.value);
    case 'comparison':
      return printComparison(expression.operator, print(expression.left), print(expression.right));
    case 'conjunction':
      if (expression.children.length === 0) throw new NotPrintable('a condition without parts');
      return `(${expression.children.map(print).join(` ${expression.operator.toUpperCase()} `)})`;
    case 'between': {
      const [input, lower, upper] = [expression.input, expression.lower, expression.upper].map(print);
      const above = `${input} ${expression.lowerInclusive ? '>=' : '>'} ${lower}`;
      return `(${above} AND ${input} ${expression.upperInclusive ? '<=' : '<'} ${upper})`;
    }
    case 'cast':
      return printCast(print(expression.child), typeOfExpression(expression.child), expression);
    case 'case':
      return printCase(expression, print);
    case 'operator':
      return printOperator(expression, print);
    case 'function':
      return printFunction(expression, print);
    case 'aggregate':
      throw new NotPrintable(`the aggregate ${expression.name} inside of an expression`);
    case 'window':
      throw new NotPrintable('a window inside of an expression');
    case 'unnest':
      throw new NotPrintable('unnest inside of an expression');
    case 'parameter':
      throw new NotPrintable('a parameter without a value');
  }
}

const comparisonTexts: Readonly<Record<PlanComparison, string>> = {
  '=': '=',
  '<>': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
  'is-distinct': 'IS DISTINCT FROM',
  'is-not-distinct': 'IS NOT DISTINCT FROM',
};

export function printComparison(operator: PlanComparison, left: string, right: string): string {
  return `(${left} ${comparisonTexts[operator]} ${right})`;
}

export function printOrders(orders: readonly PlanOrder[], column: ColumnText): string {
  return orders
    .map(({ expression, descending, nullsFirst }) => {
      const direction = `${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
      return `${printExpression(expression, column)} ${direction}`;
    })
    .join(', ');
}

/** Structs are cast by name or by position, which the plan does not say. */
function printCast(
  child: string,
  from: LogicalType,
  { type, tryCast }: { readonly type: LogicalType; readonly tryCast: boolean },
): string {
  if ((hasStruct(type) || hasStruct(from)) && type.id !== 'VARCHAR')
    throw new NotPrintable('a cast of structs');
  return `${tryCast ? 'TRY_CAST' : 'CAST'}(${child} AS ${printType(type)})`;
}

function hasStruct(type: LogicalType): boolean {
  switch (type.kind) {
    case 'struct':
    case 'map':
      return true;
    case 'list':
    case 'array':
      return hasStruct(type.child);
    default:
      return false;
  }
}

function printCase(
  { checks, otherwise }: CaseExpression,
  print: (operand: PlanExpression) => string,
): string {
  const branches = checks.map(({ when, result }) => `WHEN ${print(when)} THEN ${printResult(result, print)}`);
  return `(CASE ${branches.join(' ')} ELSE ${printResult(otherwise, print)} END)`;
}

/** The error of a scalar subquery with more than one row; `error` is no function that users may call. */
function printResult(result: PlanExpression, print: (operand: PlanExpression) => string): string {
  if (result.kind !== 'function' || result.name !== 'error') {
    if (result.kind === 'cast' && result.child.kind === 'function' && result.child.name === 'error')
      return `CAST(${printResult(result.child, print)} AS ${printType(result.type)})`;
    return print(result);
  }
  const [message] = result.children;
  if (message?.kind !== 'constant' || message.value.kind !== 'scalar')
    throw new NotPrintable('an error with a made message');
  return `CAST(error(${quoteString(String(message.value.value))}) AS ${result.type.id === 'NULL' ? 'VARCHAR' : printType(result.type)})`;
}

function printOperator(
  { operator, children }: OperatorExpression,
  print: (operand: PlanExpression) => string,
): string {
  const [first, ...rest] = children.map(print);
  if (first === undefined) throw new NotPrintable(`${operator} without operands`);
  switch (operator) {
    case 'not':
      return `(NOT ${first})`;
    case 'is-null':
      return `(${first} IS NULL)`;
    case 'is-not-null':
      return `(${first} IS NOT NULL)`;
    case 'coalesce':
      return `coalesce(${[first, ...rest].join(', ')})`;
    case 'try':
      return `TRY(${first})`;
    case 'in':
    case 'not-in': {
      const [only] = rest;
      if (only === undefined) throw new NotPrintable('IN without values');
      // One value in parentheses might be taken for a list to look into.
      if (rest.length === 1) return printComparison(operator === 'in' ? '=' : '<>', first, only);
      return `(${first} ${operator === 'in' ? 'IN' : 'NOT IN'} (${rest.join(', ')}))`;
    }
  }
}

function printFunction(call: FunctionExpression, print: (operand: PlanExpression) => string): string {
  const { name, children, type } = call;
  if (name === 'struct_pack') return printStructPack(call, print);
  if (name === 'struct_extract') return printStructExtract(call, print);
  if (!printableFunctions.has(name)) throw new NotPrintable(`the function ${name}`);
  if (call.bindData !== undefined && !functionsWithKnownData.has(name))
    throw new NotPrintable(`the function ${name} with data of its own`);
  if (type.kind === 'decimal' && (name === '+' || name === '-') && children.length === 2)
    return printDecimalSum(name, type, children, print);
  const text = `${quoteIdentifier(name)}(${children.map(print).join(', ')})`;
  // The engine takes the width of a decimal answer from the arguments, but may have known better here.
  return type.kind === 'decimal' ? `CAST(${text} AS ${printType(type)})` : text;
}

/**
 * The engine casts both sides to the answer's type. Printed so, it would do that again and answer a type one digit wider,
 * so operands are cast to one digit less, which they fit in: it is how the width came about.
 */
function printDecimalSum(
  name: string,
  type: Extract<LogicalType, { readonly kind: 'decimal' }>,
  children: readonly PlanExpression[],
  print: (operand: PlanExpression) => string,
): string {
  const narrower = { ...type, width: type.width - 1 };
  const operands = children.map((child) => {
    if (type.width === 38 || child.kind !== 'cast' || child.tryCast) return undefined;
    const from = typeOfExpression(child.child);
    const fits =
      from.kind === 'decimal' &&
      from.scale <= type.scale &&
      from.width - from.scale < type.width - type.scale;
    return fits ? `CAST(${print(child.child)} AS ${printType(narrower)})` : undefined;
  });
  const texts = children.map((child, index) => operands[index] ?? print(child));
  return `CAST((${texts.join(` ${name} `)}) AS ${printType(type)})`;
}

function printStructPack(
  { type, children }: FunctionExpression,
  print: (operand: PlanExpression) => string,
): string {
  if (type.kind !== 'struct' || type.fields.length !== children.length) throw new NotPrintable('struct_pack');
  printType(type);
  const fields = type.fields.map(({ name }) => quoteIdentifier(name));
  return `struct_pack(${children.map((child, index) => `${fields[index]} := ${print(child)}`).join(', ')})`;
}

function printStructExtract(
  { children }: FunctionExpression,
  print: (operand: PlanExpression) => string,
): string {
  const [struct, key] = children;
  if (struct === undefined || key?.kind !== 'constant' || key.value.kind !== 'scalar')
    throw new NotPrintable('struct_extract by a computed name');
  if (typeof key.value.value !== 'string' || typeOfExpression(struct).kind !== 'struct')
    throw new NotPrintable('struct_extract by position');
  return `struct_extract(${print(struct)}, ${quoteString(key.value.value)})`;
}
