import { QueryError } from '@svc/base';
import { quoteIdentifier } from '../text/literals.js';

/** What a Spark text is made of, as far as its marks differ from ours. */
const pieces =
  /(?<comment>--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|(?<name>`(?:[^`]|``)*`)|(?<text>'[^']*')|(?<word>[\p{L}_][\p{L}\p{N}_]*)|(?<number>\d[\p{L}\p{N}_]*)|(?<double>")|[\s\S]/gu;

/** Numbers of Spark that are the same here; `10L`, `1.0BD` and names that begin with a digit are others. */
const plainNumber = /^\d+(?:[eE]\d*)?$/;

/**
 * A text of Spark's as the parser takes it: names in backticks become names in double quotes, comments go. Throws
 * NOT_SUPPORTED for what Spark reads otherwise: escapes and joined strings, strings in double quotes, typed numbers.
 */
export function textOfSpark(sql: string): string {
  let output = '';
  let previous: 'text' | 'word' | undefined;
  for (const { 0: piece, groups = {} } of sql.matchAll(pieces)) {
    const { comment, name, text, word, number, double } = groups;
    if (comment !== undefined) {
      if (piece.slice(2).includes('/*')) throw refused('a comment within a comment');
      if (piece.startsWith('/*') && !piece.endsWith('*/')) throw refused('a comment that does not end');
      output += ' ';
      continue;
    }
    if (double !== undefined)
      throw refused('double quotes, which are around strings there unless a setting makes them names');
    if (number !== undefined && !plainNumber.test(piece))
      throw refused(`the number or name ${piece}, which begins with a digit`);
    if (text !== undefined) {
      if (piece.includes('\\')) throw refused('a string with a backslash, which begins an escape there');
      if (previous === 'text') throw refused('two strings side by side, which are one there');
      if (previous === 'word' && !/\s$/.test(output)) throw refused('a string with a letter in front');
    }
    output += name === undefined ? piece : nameOf(piece);
    if (piece.trim() !== '')
      previous = text === undefined ? (word === undefined ? undefined : 'word') : 'text';
  }
  return output;
}

function nameOf(piece: string): string {
  return quoteIdentifier(piece.slice(1, -1).replaceAll('``', '`'));
}

function refused(what: string): QueryError {
  return new QueryError('NOT_SUPPORTED', `It has ${what}.`);
}
