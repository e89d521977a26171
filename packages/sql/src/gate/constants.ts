import { field, listField, objectField, textField } from '../json/access.js';
import { isJsonObject, JsonNumber, type JsonObject } from '../json/lossless.js';

const hugeIntegerTypes: ReadonlySet<string> = new Set(['HUGEINT', 'UHUGEINT']);

/** The integer that an expression of literals, casts, signs and + - * is; undefined for anything else. */
export function constantInteger(expression: JsonObject): bigint | undefined {
  switch (textField(expression, 'class')) {
    case 'CONSTANT':
      return literalInteger(objectField(expression, 'value'));
    case 'CAST':
      return constantInteger(objectField(expression, 'child'));
    case 'FUNCTION':
      return arithmetic(textField(expression, 'function_name'), listField(expression, 'children'));
    default:
      return undefined;
  }
}

/** The text of a string literal; undefined for anything else. */
export function constantText(expression: JsonObject): string | undefined {
  if (textField(expression, 'class') !== 'CONSTANT') return undefined;
  const value = field(objectField(expression, 'value'), 'value');
  return typeof value === 'string' ? value : undefined;
}

function literalInteger(value: JsonObject): bigint | undefined {
  const type = textField(objectField(value, 'type'), 'id');
  const number = field(value, 'value');
  if (hugeIntegerTypes.has(type) && isJsonObject(number)) {
    const { upper, lower } = number;
    return upper instanceof JsonNumber && lower instanceof JsonNumber
      ? (BigInt(upper.text) << 64n) + BigInt(lower.text)
      : undefined;
  }
  if (typeof number === 'string')
    return /^\s*[-+]?\d{1,40}\s*$/.test(number) ? BigInt(number.trim()) : undefined;
  if (!(number instanceof JsonNumber)) return undefined;
  if (type === 'DECIMAL') return decimalInteger(value, BigInt(number.text));
  if (/^-?\d+$/.test(number.text)) return BigInt(number.text);
  const float = Number(number.text);
  return Number.isFinite(float) ? BigInt(Math.trunc(float)) : undefined;
}

function decimalInteger(value: JsonObject, unscaled: bigint): bigint {
  const scale = field(objectField(objectField(value, 'type'), 'type_info'), 'scale');
  return unscaled / 10n ** (scale instanceof JsonNumber ? BigInt(scale.text) : 0n);
}

function arithmetic(operator: string, operands: readonly JsonObject[]): bigint | undefined {
  const values = operands.map(constantInteger);
  const [left, right] = values;
  if (left === undefined) return undefined;
  if (values.length === 1) return operator === '-' ? -left : operator === '+' ? left : undefined;
  if (right === undefined || values.length !== 2) return undefined;
  switch (operator) {
    case '+':
    case 'add':
      return left + right;
    case '-':
    case 'subtract':
      return left - right;
    case '*':
    case 'multiply':
      return left * right;
    case '<<':
      return right >= 0n && right <= 64n ? left << right : undefined;
    case '**':
    case '^':
    case 'pow':
    case 'power':
      return right >= 0n && right <= 64n ? left ** right : undefined;
    default:
      return undefined;
  }
}
