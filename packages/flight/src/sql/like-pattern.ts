/** LIKE patterns of metadata requests: `%` any run, `_` one character, `\` takes the next character literally. */

type Token =
  | { readonly kind: 'run' }
  | { readonly kind: 'one' }
  | { readonly kind: 'literal'; readonly text: string };

export interface LikePatternOptions {
  /** Compares without regard to case; default false. */
  readonly ignoreCase?: boolean;
}

/**
 * Compiles a pattern to a predicate over whole names. Matching takes at most pattern length × name length steps
 * (no regular expression, so no pattern can make it explode), and `_` stands for one code point. A trailing single
 * `\` stands for itself. An undefined pattern matches everything.
 */
export function compileLikePattern(
  pattern: string | undefined,
  options: LikePatternOptions = {},
): (name: string) => boolean {
  if (pattern === undefined) return () => true;
  const fold = options.ignoreCase === true ? (text: string) => text.toLowerCase() : (text: string) => text;
  const tokens = tokenize(fold(pattern));
  return (name) => matches(tokens, [...fold(name)]);
}

/** A pattern that matches exactly this name. */
export function escapeLikePattern(name: string): string {
  return name.replace(/[\\%_]/g, (character) => `\\${character}`);
}

function tokenize(pattern: string): readonly Token[] {
  const characters = [...pattern];
  const tokens: Token[] = [];
  for (let index = 0; index < characters.length; index++) {
    const character = characters[index] ?? '';
    const next = characters[index + 1];
    if (character === '\\' && next !== undefined) {
      tokens.push({ kind: 'literal', text: next });
      index++;
    } else if (character === '%') {
      if (tokens.at(-1)?.kind !== 'run') tokens.push({ kind: 'run' });
    } else if (character === '_') {
      tokens.push({ kind: 'one' });
    } else {
      tokens.push({ kind: 'literal', text: character });
    }
  }
  return tokens;
}

/** Greedy matching that goes back only to the last run: an earlier run never has to give up characters. */
function matches(tokens: readonly Token[], name: readonly string[]): boolean {
  let token = 0;
  let position = 0;
  let lastRun = -1;
  let runEnd = 0;
  while (position < name.length) {
    const current = tokens[token];
    if (current?.kind === 'run') {
      lastRun = token++;
      runEnd = position;
    } else if (current?.kind === 'one' || (current?.kind === 'literal' && current.text === name[position])) {
      token++;
      position++;
    } else if (lastRun >= 0) {
      token = lastRun + 1;
      position = ++runEnd;
    } else {
      return false;
    }
  }
  while (tokens[token]?.kind === 'run') token++;
  return token === tokens.length;
}
