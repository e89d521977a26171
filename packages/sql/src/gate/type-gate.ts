/**
 * Types by allow-list, as functions are. A name that the parser does not know itself is looked up when the statement is
 * bound, in the schemas of any attached database and among extensions, which may be loaded for it: `NULL::other.main.mood`
 * tells the values of another database's ENUM.
 */
import { QueryError } from '@svc/base';
import { listField, objectField, textField } from '../json/access.js';
import { isJsonArray, JsonNumber, type JsonObject, type JsonValue } from '../json/lossless.js';
import { abbreviate } from '../text/abbreviate.js';
import { constantText } from './constants.js';
import { allowedTypes } from './function-lists.js';

/** Throws BINDING_ERROR, as for a type that is not there, unless all types in a cast are the engine's own. */
export function checkCast(cast: JsonObject): void {
  checkTypes(objectField(cast, 'cast_type'));
}

/** The ids of types that are still to be looked up. `USER` is what the engine called them before 1.5. */
const unresolvedIds: ReadonlySet<string> = new Set(['UNBOUND', 'USER']);

function checkTypes(value: JsonValue): void {
  if (typeof value !== 'object' || value === null || value instanceof JsonNumber) return;
  if (isJsonArray(value)) {
    for (const entry of value) checkTypes(entry);
    return;
  }
  const node = value as JsonObject;
  if (unresolvedIds.has(textField(node, 'id'))) {
    const { catalog = '', schema = '', name = '' } = objectField(node, 'type_info');
    if (catalog !== '' || schema !== '') throw noSuchType([catalog, schema, name].filter(Boolean).join('.'));
    checkTypeName(String(name));
  }
  for (const name in node) checkTypes(node[name] ?? null);
}

function checkTypeName(name: string): void {
  if (!allowedTypes.has(name.toLowerCase())) throw noSuchType(name);
}

function noSuchType(name: string): QueryError {
  return new QueryError(
    'BINDING_ERROR',
    `The type ${abbreviate(name)} does not exist. Types are the engine's own, and are written without a schema.`,
  );
}

/** Functions that take types as a text: their last argument, also where the first stands before a dot. */
const structureFunctions: ReadonlySet<string> = new Set([
  'from_json',
  'from_json_strict',
  'json_transform',
  'json_transform_strict',
]);

/**
 * Throws FUNCTION_NOT_ALLOWED where a function gets its types from a text that is not written out, since the engine
 * computes it before it looks them up; BINDING_ERROR for types as above.
 */
export function checkTypesInText(call: JsonObject): void {
  const name = textField(call, 'function_name').toLowerCase();
  if (!structureFunctions.has(name)) return;
  const argument = listField(call, 'children').at(-1);
  if (argument === undefined) return;
  const text = structureText(argument);
  if (text === undefined)
    throw new QueryError(
      'FUNCTION_NOT_ALLOWED',
      `${name} takes its types as a text that is written out, such as '{"a": "INTEGER", "b": ["VARCHAR"]}'.`,
    );
  for (const type of typesOfStructure(text)) checkTypeText(type);
}

function structureText(argument: JsonObject): string | undefined {
  const isCast = textField(argument, 'class') === 'CAST';
  return constantText(isCast ? objectField(argument, 'child') : argument);
}

/**
 * The texts in a JSON text that are no names of fields. Takes whatever could be read in two ways for a refusal: escapes, and
 * anything but the signs of JSON outside of texts.
 */
function typesOfStructure(text: string): readonly string[] {
  const types: string[] = [];
  const rest = text.replace(/"([^"\\]*)"(\s*:)?/g, (_, content: string, colon: string | undefined) => {
    if (colon === undefined) types.push(content);
    return '';
  });
  if (!/^(?:[\s{}[\],]|null)*$/.test(rest)) throw noSuchType(text);
  return types;
}

/** A name of one or more words, then a width, then brackets of lists: `DECIMAL(9, 2)[]`. */
function checkTypeText(type: string): void {
  const name = /^\s*(\w+(?: \w+)*)\s*(?:\(\s*\d+\s*(?:,\s*\d+\s*)?\))?\s*(?:\[\d*\]\s*)*$/.exec(type)?.[1];
  if (name === undefined) throw noSuchType(type);
  checkTypeName(name.toLowerCase() === 'double precision' ? 'double' : name);
}
