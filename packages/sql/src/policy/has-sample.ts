import type { ParsedQuery } from '../ast/parsed-statement.js';
import { isJsonArray, isJsonObject, type JsonValue } from '../json/lossless.js';

/** Whether the statement asks for a sample of any rows: which ones they are depends on how many there are. */
export function hasSample({ query }: Pick<ParsedQuery, 'query'>): boolean {
  return samples(query);
}

function samples(value: JsonValue): boolean {
  if (isJsonArray(value)) return value.some(samples);
  if (!isJsonObject(value)) return false;
  return Object.entries(value).some(
    ([name, each]) => (name === 'sample' && isJsonObject(each ?? null)) || samples(each ?? null),
  );
}
