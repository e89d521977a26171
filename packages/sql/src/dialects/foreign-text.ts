import { rewriteTimeTravel } from '../text/time-travel.js';
import { type TokenList, tokenKinds } from '../text/token-list.js';
import { tokenize } from '../text/tokenizer.js';
import { type ForeignDialect, otherwise } from './foreign-dialect.js';
import { textOfSpark } from './spark-text.js';

/** A query of the dialect as our parser takes it. Throws NOT_SUPPORTED, SYNTAX_ERROR. */
export function textOfDialect(sql: string, dialect: ForeignDialect): string {
  const tokens = tokenize(dialect === 'spark' ? textOfSpark(sql) : sql);
  refuseMarkedStrings(tokens);
  return rewriteTimeTravel(tokens).sql;
}

/** `X'41'`, `U&'…'`, `E'…'`, `$$…$$`: only what is between single quotes is the same text everywhere. */
function refuseMarkedStrings(tokens: TokenList): void {
  for (let index = 0; index < tokens.count; index++) {
    if (tokens.kind(index) !== tokenKinds.string) continue;
    const isMarked = index > 0 && tokens.end(index - 1) === tokens.start(index) && isMark(tokens, index - 1);
    if (isMarked || !tokens.text(index).startsWith("'")) throw otherwise('a string with a mark in front');
  }
}

function isMark(tokens: TokenList, index: number): boolean {
  return tokens.kind(index) === tokenKinds.word || tokens.text(index) === '&';
}
