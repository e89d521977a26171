import type { Parameter } from '../../service/support/parameters.js';

/** What a client may do besides sending a text. */
export type Call =
  /** A query, or what changes something, as its first word says. */
  | { readonly kind: 'statement'; readonly sql: string }
  | { readonly kind: 'prepared'; readonly sql: string; readonly parameters: readonly Parameter[] }
  /** Planned, and read once before and once after the policies have changed. */
  | { readonly kind: 'kept-ticket'; readonly sql: string }
  /** Prepared, and run once before and once after the policies have changed. */
  | { readonly kind: 'kept-prepared'; readonly sql: string }
  /** Uploads ids into a table. */
  | { readonly kind: 'ingest'; readonly table: string; readonly ids: readonly bigint[] }
  | { readonly kind: 'list-tables' }
  /** By HTTP, at the health port. */
  | { readonly kind: 'fetch'; readonly path: string };

/**
 * Something that `analyst` tries, in the words of who attacks. The calls are made in turn in one session of his, which is in a
 * schema with the tables of `people.ts`. In a text, `{{first}}` is the id of the first snapshot of `people`, and
 * `{{before}}` a time at which it was the current one.
 */
export interface Attack {
  readonly attack: string;
  readonly calls: readonly Call[];
}

export function attack(words: string, ...statements: readonly string[]): Attack {
  return { attack: words, calls: statements.map((sql) => ({ kind: 'statement', sql })) };
}

export function preparedAttack(words: string, sql: string, ...parameters: readonly Parameter[]): Attack {
  return { attack: words, calls: [{ kind: 'prepared', sql, parameters }] };
}

export function callAttack(words: string, ...calls: readonly Call[]): Attack {
  return { attack: words, calls };
}
