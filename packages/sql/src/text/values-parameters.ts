import { identifierOf } from './parameters.js';
import { tokenKinds } from './token-list.js';
import { tokenize } from './tokenizer.js';

/**
 * Of a text `VALUES (…), (…)`: the parameters that stand alone in a row, by identifier ("1", "2", … or a lower-case name),
 * with their position in the row. A parameter that stands in two positions has the first one's. Empty for another query.
 */
export function valuesParameters(sql: string): ReadonlyMap<string, number> {
  const tokens = tokenize(sql);
  const positions = new Map<string, number>();
  if (!tokens.is(0, 'VALUES')) return positions;
  let depth = 0;
  let position = 0;
  let highest = 0;
  for (let index = 1; index < tokens.count; index++) {
    if (tokens.kind(index) === tokenKinds.parameter) {
      const identifier = identifierOf(tokens, index, highest);
      if (/^\d+$/.test(identifier)) highest = Math.max(highest, Number(identifier));
      const startsValue = tokens.is(index - 1, '(') || tokens.is(index - 1, ',');
      const endsValue = tokens.is(index + 1, ')') || tokens.is(index + 1, ',');
      if (depth === 1 && startsValue && endsValue && !positions.has(identifier))
        positions.set(identifier, position);
    } else if (isOneOf(tokens.text(index), '([{')) {
      depth++;
      if (depth === 1) position = 0;
    } else if (isOneOf(tokens.text(index), ')]}')) depth--;
    else if (depth === 1 && tokens.is(index, ',')) position++;
  }
  return positions;
}

function isOneOf(text: string, brackets: string): boolean {
  return text.length === 1 && brackets.includes(text);
}
