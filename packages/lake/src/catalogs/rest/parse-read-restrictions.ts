/** `read-restrictions` of a loadTable answer. What is not understood is kept as unknown; what has no sense at all is the catalog's error. */
import { JsonFields } from '../../iceberg/spec/json-fields.js';
import { isJsonNumber, isJsonObject, type JsonValue } from '../../iceberg/spec/lossless-json.js';
import {
  type ColumnAction,
  comparisonOperators,
  type ReadRestrictions,
  type RestrictedColumn,
  type RestrictionExpression,
  unaryOperators,
} from '../read-restrictions.js';
import { catalogError } from './rest-errors.js';

const knownKeys: ReadonlySet<string> = new Set(['required-row-filter', 'required-column-projections']);
const maxDepth = 64;

/** Undefined where nothing is restricted. Throws CATALOG_ERROR: a table whose restrictions cannot be read is not loaded. */
export function parseReadRestrictions(
  json: JsonValue | undefined,
  what: string,
): ReadRestrictions | undefined {
  if (json === undefined || json === null) return undefined;
  try {
    return restrictionsOf(json, what);
  } catch (error) {
    throw catalogError(`answers "read-restrictions" that make no sense for ${what}`, {
      retryable: false,
      cause: error,
    });
  }
}

function restrictionsOf(json: JsonValue, what: string): ReadRestrictions | undefined {
  const fields = new JsonFields(json, what, 'read-restrictions');
  const unknown = Object.keys(fields.json).find((key) => !knownKeys.has(key));
  // A kind of restriction that is newer than this reader.
  if (unknown !== undefined)
    return { rowFilter: { kind: 'unknown', what: `the restriction ${named(unknown)}` }, columns: [] };
  const filter = fields.get('required-row-filter');
  const rowFilter = filter === undefined ? undefined : expressionOf(filter, 0);
  const columns = columnActions(fields.get('required-column-projections'));
  const isOpen = rowFilter === undefined || (rowFilter.kind === 'constant' && rowFilter.value);
  if (isOpen && columns.length === 0) return undefined;
  return { rowFilter: isOpen ? undefined : rowFilter, columns };
}

function columnActions(json: JsonValue | undefined): readonly ColumnAction[] {
  if (json === undefined) return [];
  if (!Array.isArray(json)) throw new TypeError('The column projections are no list.');
  return json.map((item: JsonValue, index) => {
    const fields = new JsonFields(item, 'read-restrictions', `required-column-projections[${index}]`);
    return { fieldId: fields.integer('field-id'), action: fields.string('action') };
  });
}

function expressionOf(json: JsonValue | undefined, depth: number): RestrictionExpression {
  if (typeof json === 'boolean') return { kind: 'constant', value: json };
  if (!isJsonObject(json) || depth > maxDepth) return unknownExpression('a part of the row filter');
  const { type, left, right, child } = json;
  switch (type) {
    case 'true':
    case 'false':
      return { kind: 'constant', value: type === 'true' };
    case 'and':
    case 'or':
      return {
        kind: type,
        left: expressionOf(left, depth + 1),
        right: expressionOf(right, depth + 1),
      };
    case 'not':
      return { kind: 'not', child: expressionOf(child, depth + 1) };
  }
  if (typeof type !== 'string') return unknownExpression('a part of the row filter');
  return predicateOf(json, type);
}

/** Both forms: `term` and `value`, and `left` and `right` with a reference and a literal. */
function predicateOf(
  json: Readonly<Record<string, JsonValue | undefined>>,
  type: string,
): RestrictionExpression {
  const { term, child, left, value: plainValue, values: plainValues, right } = json;
  const column = columnOf(term ?? child ?? left);
  const unary = unaryOperators.find((each) => each === type);
  const comparison = comparisonOperators.find((each) => each === type);
  if (unary === undefined && comparison === undefined && type !== 'in' && type !== 'not-in')
    return unknownExpression(`the predicate ${named(type)} of the row filter`);
  if (column === undefined) return unknownExpression('a term of the row filter');
  if (unary !== undefined) return { kind: 'unary', operator: unary, column };
  if (comparison !== undefined) {
    const value = literalOf(plainValue ?? right);
    return value === undefined
      ? unknownExpression('a literal of the row filter')
      : { kind: 'comparison', operator: comparison, column, value };
  }
  const list = plainValues ?? right;
  const values = Array.isArray(list) ? list.map(literalOf) : [undefined];
  return values.every((each) => each !== undefined)
    ? { kind: 'set', operator: type === 'in' ? 'in' : 'not-in', column, values }
    : unknownExpression('a literal of the row filter');
}

function columnOf(json: JsonValue | undefined): RestrictedColumn | undefined {
  if (typeof json === 'string') return { kind: 'name', name: json };
  if (!isJsonObject(json)) return undefined;
  const { type, id, term, name: plainName } = json;
  if (type !== 'reference') return undefined;
  if (id !== undefined && id !== null) {
    const number = isJsonNumber(id) ? Number(id.value) : Number.NaN;
    return Number.isSafeInteger(number) ? { kind: 'id', id: number } : undefined;
  }
  const name = term ?? plainName;
  return typeof name === 'string' ? { kind: 'name', name } : undefined;
}

/** Of what type a literal has to be the column says; one that says otherwise itself is none that is known here. */
function literalOf(json: JsonValue | undefined): JsonValue | undefined {
  if (typeof json === 'string' || typeof json === 'boolean' || isJsonNumber(json)) return json;
  if (!isJsonObject(json)) return undefined;
  const { type, value } = json;
  if (type !== 'literal') return undefined;
  return typeof value === 'string' || typeof value === 'boolean' || isJsonNumber(value) ? value : undefined;
}

function unknownExpression(what: string): RestrictionExpression {
  return { kind: 'unknown', what };
}

/** Names are the specification's words; anything else may be a value, which is not told. */
function named(word: string): string {
  return /^[a-z0-9-]{1,40}$/.test(word) ? `"${word}"` : 'of another kind';
}
