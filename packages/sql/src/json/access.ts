import { QueryError } from '@svc/base';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from './lossless.js';

/** Typed access to fields of the engine's JSON. A field of another form throws NOT_SUPPORTED: nothing is guessed. */

export function field(node: JsonObject, name: string): JsonValue | undefined {
  return node[name];
}

/** A text field, empty when absent. */
export function textField(node: JsonObject, name: string): string {
  const value = node[name];
  return typeof value === 'string' ? value : '';
}

export function objectField(node: JsonObject, name: string): JsonObject {
  return asObject(node[name]);
}

/** A list of objects, empty when absent. */
export function listField(node: JsonObject, name: string): readonly JsonObject[] {
  return asArray(node[name] ?? []).map(asObject);
}

/** The node itself when the value is the one it has. */
export function replaceField(node: JsonObject, name: string, value: JsonValue): JsonObject {
  return node[name] === value ? node : { ...node, [name]: value };
}

export function asObject(value: JsonValue | undefined): JsonObject {
  if (!isJsonObject(value)) throw unknownConstruct('a node of another form');
  return value;
}

export function asArray(value: JsonValue | undefined): readonly JsonValue[] {
  if (!isJsonArray(value)) throw unknownConstruct('a list of another form');
  return value;
}

export function unknownConstruct(what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `The statement uses a construct that is not supported: ${what}.`);
}
