import type { Draw } from './draw.js';
import type { Kind } from './signatures.js';
import { hostileTexts, plainTexts, textLiteral } from './words.js';

const plainLiterals: Readonly<Record<Exclude<Kind, 'text' | 'any'>, readonly string[]>> = {
  integer: ['0', '1', '2', '3', '-1', '7', '42', '1_000', '255', '9223372036854775807', 'NULL'],
  number: ['0.5', '1.25', '-3.75', '1e3', "'nan'::DOUBLE", '2.0::DECIMAL(9, 2)', 'NULL::DOUBLE'],
  boolean: ['true', 'false', '1 = 1', 'NULL::BOOLEAN'],
  date: ["DATE '2024-02-29'", "'2020-01-01'::DATE", 'current_date', 'make_date(2024, 1, 31)'],
  timestamp: [
    "TIMESTAMP '2024-02-29 12:30:00'",
    "TIMESTAMPTZ '2024-01-01 00:00:00+02'",
    'now()',
    'current_timestamp',
    "TIMESTAMP '2024-02-29' AT TIME ZONE 'Asia/Tokyo'",
  ],
  interval: ["INTERVAL '1 day'", 'INTERVAL 3 MONTH', 'INTERVAL (2) HOUR', 'to_days(2)'],
  list: ['[1, 2, 3]', "['a', 'b', NULL]", '[]', '[[1], [2, 3]]', 'range(4)', "string_split('a,b', ',')"],
  struct: ["{'a': 1, 'b': 'x'}", 'struct_pack(a := 2, b := [1])', "row(1, 'x')", "{'a': {'b': {'c': 1}}}"],
  map: ["MAP {'k': 1, 'l': 2}", "map(['k'], [3])", 'MAP {}'],
  json: [`'{"a": {"b": [1, 2]}}'::JSON`, `'[1, "x", null]'::JSON`, "json_object('k', 1)", 'to_json([1, 2])'],
  lambda: ['lambda x: x', 'lambda x: x IS NOT NULL', 'lambda x, y: x', 'x -> x', 'lambda x, i: i'],
};

/** A constant of a kind; of an attacker's choice where texts may be anything. */
export function literal(draw: Draw, kind: Kind): string {
  if (kind === 'any')
    return literal(draw, draw.pick(['integer', 'text', 'date', 'list', 'struct', 'number', 'boolean']));
  if (kind !== 'text') return draw.pick(plainLiterals[kind]);
  return writtenText(draw, draw.pick(draw.chance(0.5) ? hostileTexts : plainTexts));
}

/** The same text in one of the ways in which it may be written. */
export function writtenText(draw: Draw, text: string): string {
  const form = draw.between(0, 12);
  if (form === 0 && !text.includes('$')) return `$$${text}$$`;
  if (form === 1 && !text.includes('$')) return `$tag$${text}$tag$`;
  if (form === 2) return `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  if (form === 3 && text.length > 2)
    return `${textLiteral(text.slice(0, 2))} || ${textLiteral(text.slice(2))}`;
  return textLiteral(text);
}
