/** Expressions of a wanted kind; now and then of another, since a user errs too. */
import { deeper, type Grammar, isHostile, type Scope } from './grammar.js';
import { literal } from './literals.js';
import type { Kind, Signature } from './signatures.js';
import { foreignFunctions, foreignTypes, hostileTexts, plainTypes, textLiteral } from './words.js';

type Form = (grammar: Grammar, kind: Kind, scope: Scope) => string;

const anyKinds: readonly Kind[] = [
  'integer',
  'number',
  'text',
  'boolean',
  'date',
  'timestamp',
  'list',
  'struct',
  'json',
];

export function expression(grammar: Grammar, kind: Kind, scope: Scope): string {
  const { draw } = grammar;
  if (kind === 'any') return expression(grammar, draw.pick(anyKinds), scope);
  if (kind === 'lambda') return lambda(grammar, scope);
  if (grammar.parameter !== undefined && draw.chance(0.06)) return grammar.parameter;
  if (scope.depth <= 0) return leaf(grammar, kind, scope);
  const form = draw.chance(0.25) ? leaf : draw.pick(draw.chance(0.5) ? kindForms[kind] : generalForms);
  return form(grammar, kind, deeper(scope));
}

function leaf({ draw }: Grammar, kind: Kind, scope: Scope): string {
  const columns = scope.columns.filter((column) => column.kind === kind || draw.chance(0.02));
  return columns.length > 0 && draw.chance(0.7) ? draw.pick(columns).sql : literal(draw, kind);
}

/** A call of a function that answers the kind, its arguments as its signature has them. */
function call(grammar: Grammar, kind: Kind, scope: Scope): string {
  const { draw, signatures } = grammar;
  if (isHostile(grammar)) return foreignCall(grammar, kind, scope);
  const choices = signatures.allowedScalars.get(draw.chance(0.85) ? kind : 'any') ?? [];
  return choices.length === 0 ? literal(draw, kind) : callOf(grammar, draw.pick(choices), scope);
}

export function callOf(grammar: Grammar, signature: Signature, scope: Scope, behind = ''): string {
  const { draw } = grammar;
  const { takes, variadic, isAggregate, isAllowed } = signature;
  const more = variadic === undefined ? [] : Array.from({ length: draw.between(0, 2) }, () => variadic);
  const given = [...takes, ...more].map((kind) => grammar.expression(kind, scope));
  const name = writtenName(grammar, signature.name);
  if (!isAggregate && given.length > 0 && draw.chance(0.12)) {
    const [first, ...others] = given;
    return `(${first}).${signature.name}(${others.join(', ')})`;
  }
  const distinct = isAggregate && draw.chance(0.1) ? 'DISTINCT ' : '';
  const order =
    isAggregate && isAllowed && draw.chance(0.1) ? ` ORDER BY ${grammar.expression('integer', scope)}` : '';
  return `${name}(${distinct}${given.join(', ')}${order})${behind}`;
}

/** A name as it may be written without meaning another function. */
function writtenName({ draw }: Grammar, name: string): string {
  const form = draw.between(0, 20);
  if (form === 0) return name.toUpperCase();
  if (form === 1) return `"${name}"`;
  if (form === 2) return `system.main.${name}`;
  if (form === 3) return `main.${name}`;
  return name;
}

function foreignCall(grammar: Grammar, kind: Kind, scope: Scope): string {
  const { draw, signatures } = grammar;
  if (draw.chance(0.5)) return callOf(grammar, draw.pick(signatures.scalars), scope);
  const name = draw.pick(draw.chance(0.7) ? foreignFunctions : signatures.tables.map((each) => each.name));
  const text = textLiteral(draw.pick(hostileTexts));
  return draw.pick([
    `${name}(${text})`,
    `${text}.${name}()`,
    `(${text}).${name}(${text})`,
    `${name}()`,
    `[${text}].list_transform(lambda p: ${name}(p))`,
    `list_aggregate([${text}], '${name}')`,
    `${name}(${grammar.expression(kind, scope)})`,
  ]);
}

function lambda(grammar: Grammar, scope: Scope): string {
  const { draw } = grammar;
  if (scope.depth <= 0 || draw.chance(0.3)) return literal(draw, 'lambda');
  const kind = draw.pick(['integer', 'text', 'boolean'] as const);
  const inner = { ...deeper(scope), columns: [...scope.columns, { sql: 'x', kind }] };
  return `lambda x: ${grammar.expression(draw.pick(['boolean', kind]), inner)}`;
}

/** Forms that answer whatever kind is wanted of them. */
const generalForms: readonly Form[] = [
  (grammar, kind, scope) =>
    `CASE WHEN ${grammar.expression('boolean', scope)} THEN ${grammar.expression(kind, scope)} ELSE ${grammar.expression(kind, scope)} END`,
  (grammar, kind, scope) =>
    `coalesce(${grammar.expression(kind, scope)}, ${grammar.expression(kind, scope)})`,
  (grammar, kind, scope) => `(SELECT ${grammar.expression(kind, scope)})`,
  (grammar, kind, scope) => {
    const relation = grammar.relation(scope);
    const inner = { ...scope, columns: [...relation.columns, ...scope.columns] };
    return `(SELECT ${grammar.expression(kind, inner)} FROM ${relation.sql} LIMIT 1)`;
  },
  (grammar, kind, scope) => `[${grammar.expression(kind, scope)}][1]`,
  (grammar, kind, scope) => `{'k': ${grammar.expression(kind, scope)}}.k`,
  (grammar, kind, scope) => `({'k': ${grammar.expression(kind, scope)}})['k']`,
  (grammar, kind, scope) => `MAP {'k': ${grammar.expression(kind, scope)}}['k']`,
  (grammar, kind, scope) => `TRY(${grammar.expression(kind, scope)})`,
  (grammar, kind, scope) => `list_transform([${grammar.expression(kind, scope)}], lambda q: q)[1]`,
  (grammar, kind, scope) =>
    `[q FOR q IN [${grammar.expression(kind, scope)}] IF ${grammar.expression('boolean', scope)}][1]`,
  (grammar, kind, scope) => `(${grammar.expression(kind, scope)})`,
  (grammar, kind, scope) => windowCall(grammar, kind, scope),
  (grammar, kind, scope) => cast(grammar, grammar.expression(kind, scope)),
  call,
];

function windowCall(grammar: Grammar, kind: Kind, scope: Scope): string {
  const { draw } = grammar;
  const value = grammar.expression(kind, scope);
  const name = draw.pick([
    'first_value',
    'lag',
    'last_value',
    'max',
    'any_value',
    'lead',
    'nth_value',
    'strongbox.main.peek',
  ]);
  const order = grammar.expression('integer', scope);
  const frame = draw.pick([
    '',
    ' ROWS BETWEEN 1 PRECEDING AND CURRENT ROW',
    ' GROUPS 2 PRECEDING',
    ' RANGE UNBOUNDED PRECEDING EXCLUDE TIES',
  ]);
  const isForeign = name.includes('.') && !isHostile(grammar);
  return `${isForeign ? 'max' : name}(${value}${name === 'nth_value' ? ', 1' : ''}) OVER (PARTITION BY ${grammar.expression('text', scope)} ORDER BY ${order}${frame})`;
}

export function cast(grammar: Grammar, value: string): string {
  const { draw } = grammar;
  const type = draw.pick(isHostile(grammar) || draw.chance(0.05) ? foreignTypes : plainTypes);
  return draw.pick([
    `CAST(${value} AS ${type})`,
    `TRY_CAST(${value} AS ${type})`,
    `(${value})::${type}`,
    `enum_range(NULL::${type})`,
  ]);
}

const comparisons = ['=', '<>', '<', '>=', 'IS DISTINCT FROM', 'IS NOT DISTINCT FROM'];

const booleanForms: readonly Form[] = [
  call,
  (grammar, _, scope) => {
    const kind = grammar.draw.pick(['integer', 'text', 'date', 'number'] as const);
    return `${grammar.expression(kind, scope)} ${grammar.draw.pick(comparisons)} ${grammar.expression(kind, scope)}`;
  },
  (grammar, kind, scope) =>
    `(${grammar.expression(kind, scope)} ${grammar.draw.pick(['AND', 'OR'])} ${grammar.expression(kind, scope)})`,
  (grammar, kind, scope) => `NOT ${grammar.expression(kind, scope)}`,
  (grammar, _, scope) => `${grammar.expression('any', scope)} IS NOT NULL`,
  (grammar, _, scope) => `EXISTS (${grammar.query(scope)})`,
  (grammar, _, scope) =>
    `${grammar.expression('integer', scope)} IN (SELECT ${grammar.expression('integer', scope)})`,
  (grammar, _, scope) =>
    `${grammar.expression('text', scope)} = ANY (SELECT ${grammar.expression('text', scope)})`,
  (grammar, _, scope) =>
    `${grammar.expression('text', scope)} ${grammar.draw.pick(['LIKE', 'ILIKE', 'GLOB', 'SIMILAR TO', 'NOT LIKE'])} ${grammar.expression('text', scope)}`,
  (grammar, _, scope) =>
    `${grammar.expression('integer', scope)} BETWEEN ${grammar.expression('integer', scope)} AND 5`,
  (grammar, _, scope) =>
    `${grammar.expression('text', scope)} COLLATE ${grammar.draw.pick(['nocase', 'noaccent', 'de', 'nocase.noaccent', 'strongbox.main.x'])} < 'b'`,
];

/** An operator between two of the kind. */
function between(...operators: readonly string[]): Form {
  return (grammar, kind, scope) =>
    `(${grammar.expression(kind, scope)} ${grammar.draw.pick(operators)} ${grammar.expression(kind, scope)})`;
}

const kindForms: Readonly<Record<Exclude<Kind, 'any' | 'lambda'>, readonly Form[]>> = {
  boolean: booleanForms,
  integer: [
    call,
    between('+', '-', '*', '%', '//', '&', '|'),
    (grammar, _, scope) => `len(${grammar.expression('list', scope)})`,
  ],
  number: [
    call,
    between('+', '-', '*', '/', '**'),
    (grammar, _, scope) => `sqrt(abs(${grammar.expression('number', scope)}))`,
  ],
  text: [
    call,
    between('||'),
    (grammar, _, scope) => `(${grammar.expression('text', scope)})[1:3]`,
    (grammar, _, scope) => `(${grammar.expression('any', scope)})::VARCHAR`,
  ],
  date: [
    call,
    (grammar, _, scope) => `(${grammar.expression('date', scope)} + ${grammar.draw.between(0, 9)})`,
  ],
  timestamp: [
    call,
    (grammar, _, scope) =>
      `(${grammar.expression('timestamp', scope)} + ${grammar.expression('interval', scope)})`,
  ],
  interval: [call, (grammar, _, scope) => `to_hours((${grammar.expression('integer', scope)}) % 9)`],
  list: [
    call,
    between('||'),
    (grammar, _, scope) => `list_filter(${grammar.expression('list', scope)}, ${lambda(grammar, scope)})`,
    (grammar, _, scope) => `[${grammar.expression('integer', scope)}, 2]`,
    (grammar, _, scope) => `ARRAY(SELECT ${grammar.expression('text', scope)})`,
  ],
  struct: [
    call,
    (grammar, _, scope) =>
      `{'a': ${grammar.expression('any', scope)}, 'b': ${grammar.expression('text', scope)}}`,
  ],
  map: [
    call,
    (grammar, _, scope) => `MAP {${grammar.expression('text', scope)}: ${grammar.expression('any', scope)}}`,
  ],
  json: [
    call,
    (grammar, _, scope) => `to_json(${grammar.expression('any', scope)})`,
    (grammar, _, scope) =>
      `(${grammar.expression('json', scope)} -> ${grammar.draw.pick(["'a'", "'$.a'", '0', "'$.*'"])})`,
  ],
};
