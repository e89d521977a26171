import { QueryError } from '@svc/base';
import type { TokenList } from './token-list.js';
import { tokenize } from './tokenizer.js';

/** One statement of a text, without its semicolon. */
export interface StatementText {
  readonly sql: string;
  /** UTF-16 offset in the whole text. */
  readonly start: number;
}

/** Splits at semicolons outside of strings, names and comments; empty statements are dropped. */
export function splitStatements(text: string): readonly StatementText[] {
  return statementsOf(tokenize(text));
}

function statementsOf(tokens: TokenList): readonly StatementText[] {
  const statements: StatementText[] = [];
  let first = 0;
  for (let index = 0; index <= tokens.count; index++) {
    if (index < tokens.count && !tokens.is(index, ';')) continue;
    if (index > first) {
      const start = tokens.start(first);
      statements.push({ sql: tokens.sql.slice(start, tokens.end(index - 1)), start });
    }
    first = index + 1;
  }
  return statements;
}

/**
 * The tokens of the one statement of a text; `sql` of the answer is its text without a closing semicolon. The service
 * runs one statement per call: throws SYNTAX_ERROR when there is none, NOT_SUPPORTED when there are more.
 */
export function tokenizeOneStatement(text: string): TokenList {
  const tokens = tokenize(text);
  const statements = statementsOf(tokens);
  const only = statements[0];
  if (only === undefined) throw new QueryError('SYNTAX_ERROR', 'The text holds no statement.');
  if (statements.length > 1)
    throw new QueryError(
      'NOT_SUPPORTED',
      `The text holds ${statements.length} statements; send one statement per call.`,
    );
  const last = tokens.count - 1;
  return tokens.is(0, ';') || tokens.is(last, ';') ? tokenize(only.sql) : tokens;
}
