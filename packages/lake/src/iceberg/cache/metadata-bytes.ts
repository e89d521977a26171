import { isJsonNumber, isJsonObject, type JsonObject, type JsonValue } from '../spec/lossless-json.js';

/** What objects of a parsed metadata file take, compared with its text. */
export const parsedSizeFactor = 8;

/** About how many bytes of memory the parsed metadata of a table or view takes, beside what it shares with others. */
export function metadataBytes({ json }: { readonly json: JsonObject }): number {
  return textLength(json) * parsedSizeFactor;
}

/** Of the JSON text, roughly: escapes are not counted. */
function textLength(value: JsonValue): number {
  if (typeof value === 'string') return value.length + 2;
  if (value === null || typeof value === 'boolean') return 5;
  if (isJsonNumber(value)) return value.value.length;
  let length = 2;
  if (isJsonObject(value)) for (const key in value) length += key.length + 4 + textLength(value[key] ?? null);
  else for (const each of value) length += 1 + textLength(each);
  return length;
}
