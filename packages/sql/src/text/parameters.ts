import { QueryError } from '@svc/base';
import { type TokenList, tokenKinds } from './token-list.js';
import { tokenize } from './tokenizer.js';

/**
 * The text with every parameter replaced by a literal, for planning a prepared statement with the values of one
 * execution: without them no filter on a parameter could prune. `literals` has SQL texts by identifier ("1", "2", … or a
 * lower-case name); a missing one throws INVALID_PARAMETER. The statement itself still runs with bound parameters.
 */
export function inlineParameters(sql: string, literals: ReadonlyMap<string, string>): string {
  return replaceParameters(sql, (identifier) => {
    const literal = literals.get(identifier);
    if (literal === undefined)
      throw new QueryError('INVALID_PARAMETER', `Parameter ${identifier} has no value.`);
    return literal;
  });
}

export interface RenumberedSql {
  readonly sql: string;
  /** Which of the identifiers are in the text, by their positions: the first is `$1` now. */
  readonly kept: readonly number[];
}

/** A part of a statement that has these parameters, as a statement with parameters `$1`, `$2`, … of its own. */
export function renumberParameters(sql: string, identifiers: readonly string[]): RenumberedSql {
  const found = new Set<string>();
  replaceParameters(sql, (identifier) => {
    found.add(identifier);
    return '';
  });
  const kept = identifiers.flatMap((identifier, position) =>
    found.has(identifier.toLowerCase()) ? [position] : [],
  );
  const numbers = new Map(
    kept.map((position, index) => [identifiers[position]?.toLowerCase() ?? '', ` $${index + 1} `]),
  );
  return { sql: inlineParameters(sql, numbers), kept };
}

function replaceParameters(sql: string, replacementOf: (identifier: string) => string): string {
  const tokens = tokenize(sql);
  let output = '';
  let copied = 0;
  let highest = 0;
  for (let index = 0; index < tokens.count; index++) {
    if (tokens.kind(index) !== tokenKinds.parameter) continue;
    const identifier = identifierOf(tokens, index, highest);
    if (/^\d+$/.test(identifier)) highest = Math.max(highest, Number(identifier));
    output += `${sql.slice(copied, tokens.start(index))}${replacementOf(identifier)}`;
    copied = tokens.end(index);
  }
  return output + sql.slice(copied);
}

/** A bare `?` is the next number after the highest so far, as the engine counts. */
export function identifierOf(tokens: TokenList, index: number, highest: number): string {
  const name = tokens.text(index).slice(1);
  return name === '' ? String(highest + 1) : name.toLowerCase();
}
