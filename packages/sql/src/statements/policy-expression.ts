/** The expressions of policies as texts. What they say is the engine's to parse; here is seen to it that each is one. */
import { tokenKinds } from '../text/token-list.js';
import { tokenize } from '../text/tokenizer.js';
import { Cursor } from './cursor.js';

/**
 * `( expression )` from where the cursor stands: the text between the brackets, without blanks and comments at its ends. The tokenizer lets
 * no bracket through that has no other half, so the text stays one expression when it is put in brackets again.
 */
export function parseBracketedExpression(cursor: Cursor): string {
  const { tokens } = cursor;
  if (!cursor.accept('(')) throw cursor.error('expected an expression in brackets');
  const first = cursor.index;
  for (let depth = 0; depth > 0 || !cursor.sees(')'); cursor.index++) {
    if (cursor.atEnd) throw cursor.error('expected ) at the end of the expression');
    if (cursor.sees(';')) throw cursor.error('a policy is one expression: expected )');
    if (tokens.kind(cursor.index) === tokenKinds.parameter)
      throw cursor.error('the expression of a policy has no parameters: write the value');
    if (cursor.sees('(')) depth++;
    if (cursor.sees(')')) depth--;
  }
  if (cursor.index === first) throw cursor.error('expected an expression');
  const text = tokens.sql.slice(tokens.start(first), tokens.end(cursor.index - 1));
  cursor.expect(')');
  return text;
}

/** The same check for a text that came without brackets, from a file. Throws SYNTAX_ERROR; answers the text. */
export function policyExpression(text: string): string {
  // The line break ends a comment that the text may end in.
  const cursor = new Cursor(tokenize(`(${text}\n)`));
  const expression = parseBracketedExpression(cursor);
  cursor.expectEnd();
  return expression;
}
