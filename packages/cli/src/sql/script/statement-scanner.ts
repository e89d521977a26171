/**
 * Finds where statements end in text that comes in pieces: at semicolons outside of strings, quoted names, dollar
 * quotes and comments, the way the engine's scanner reads them. It judges nothing else: what is wrong with a statement
 * is said by whoever runs it.
 */

export interface ScannedStatement {
  /** Without the semicolon and the blanks around it. */
  readonly sql: string;
  /** Of its first character in the whole text, from 1. */
  readonly line: number;
}

type State =
  | { readonly kind: 'plain' }
  | { readonly kind: 'line-comment' }
  | { readonly kind: 'block-comment'; readonly depth: number }
  | { readonly kind: 'quote'; readonly close: string; readonly hasBackslash: boolean };

const plain: State = { kind: 'plain' };

export class StatementScanner {
  #text = '';
  /** Where scanning goes on in `#text`. */
  #at = 0;
  #state: State = plain;
  /** Whether the statement has more than blanks and comments. */
  #hasContent = false;
  #contentAt = 0;
  #line = 1;

  /** Whether nothing of a statement has been read since the last one ended. */
  get isEmpty(): boolean {
    return !this.#hasContent && this.#state.kind === 'plain';
  }

  /** What is read of the statement that has not ended. */
  get pending(): string {
    return this.#text;
  }

  /** What the shell's prompt shows: what the next line continues. */
  get continuation(): "'" | '"' | '$' | '*' | '-' {
    const state = this.#state;
    if (state.kind === 'block-comment') return '*';
    if (state.kind !== 'quote') return '-';
    return state.close === "'" || state.close === '"' ? state.close : '$';
  }

  /** Forgets what has been read of a statement. */
  reset(): void {
    this.#text = '';
    this.#at = 0;
    this.#state = plain;
    this.#hasContent = false;
  }

  /** Takes more text; answers the statements that ended in it. */
  push(text: string): readonly ScannedStatement[] {
    this.#text += text;
    const statements: ScannedStatement[] = [];
    // A token may continue in the next piece: its last characters are looked at again then.
    while (this.#at < this.#text.length) {
      const next = this.#step(false);
      if (next === 'more') break;
      if (next !== undefined) statements.push(next);
    }
    return statements;
  }

  /** The end of the text: the last statement needs no semicolon. */
  finish(): readonly ScannedStatement[] {
    const statements: ScannedStatement[] = [];
    while (this.#at < this.#text.length) {
      const next = this.#step(true);
      if (next !== undefined && next !== 'more') statements.push(next);
    }
    const last = this.#hasContent ? this.#cut(this.#text.length, this.#text.length) : undefined;
    this.reset();
    return last === undefined ? statements : [...statements, last];
  }

  /** Moves on by a token. `more` when the token may not be complete. */
  #step(isLast: boolean): ScannedStatement | 'more' | undefined {
    switch (this.#state.kind) {
      case 'plain':
        return this.#stepPlain(isLast);
      case 'line-comment':
        return this.#skipTo(/[\n\r]/g, plain);
      case 'block-comment':
        return this.#stepBlockComment(this.#state.depth, isLast);
      case 'quote':
        return this.#stepQuote(this.#state, isLast);
    }
  }

  #stepPlain(isLast: boolean): ScannedStatement | 'more' | undefined {
    const text = this.#text;
    const at = this.#at;
    const character = text.charAt(at);
    if (character === ';') {
      const statement = this.#hasContent ? this.#cut(at, at + 1) : this.#drop(at + 1);
      return statement;
    }
    if (/\s/.test(character)) {
      this.#at += 1;
      return undefined;
    }
    // These begin something together with what follows.
    if (!isLast && at + 1 >= text.length && /[-/$]/.test(character)) return 'more';
    if (text.startsWith('--', at)) return this.#enter({ kind: 'line-comment' }, 2);
    if (text.startsWith('/*', at)) return this.#enter({ kind: 'block-comment', depth: 1 }, 2);
    this.#noteContent();
    if (character === "'" || character === '"')
      return this.#enter({ kind: 'quote', close: character, hasBackslash: false }, 1);
    if (character === '$') return this.#stepDollar(isLast);
    return this.#stepWord(isLast);
  }

  #stepDollar(isLast: boolean): 'more' | undefined {
    const rest = this.#text.slice(this.#at, this.#at + 256);
    const tag = /^\$(?:[A-Za-z_\u0080-\uffff][A-Za-z0-9_\u0080-\uffff]*)?\$/.exec(rest)?.[0];
    if (tag !== undefined) return this.#enter({ kind: 'quote', close: tag, hasBackslash: false }, tag.length);
    if (!isLast && /^\$[A-Za-z0-9_\u0080-\uffff]*$/.test(rest)) return 'more';
    this.#at += 1;
    return undefined;
  }

  /** A word, so that the `$` in `a$b$` and the quote after the `e` of a name are not taken for beginnings. */
  #stepWord(isLast: boolean): 'more' | undefined {
    const word = /[A-Za-z0-9_\u0080-\uffff][A-Za-z0-9_$\u0080-\uffff]*/y;
    word.lastIndex = this.#at;
    const found = word.exec(this.#text)?.[0];
    if (found === undefined) {
      this.#at += 1;
      return undefined;
    }
    const end = this.#at + found.length;
    if (!isLast && end === this.#text.length) return 'more';
    this.#at = end;
    if (/^e$/i.test(found) && this.#text.charAt(end) === "'")
      return this.#enter({ kind: 'quote', close: "'", hasBackslash: true }, 1);
    return undefined;
  }

  #stepBlockComment(depth: number, isLast: boolean): 'more' | undefined {
    const edge = /\/\*|\*\//g;
    edge.lastIndex = this.#at;
    const found = edge.exec(this.#text);
    if (found === null) {
      // The last character may be the first half of an edge.
      const end = this.#text.length - (isLast ? 0 : 1);
      const isStuck = end <= this.#at;
      this.#at = Math.max(this.#at, end);
      return isStuck ? 'more' : undefined;
    }
    this.#at = found.index + 2;
    const left = found[0] === '/*' ? depth + 1 : depth - 1;
    this.#state = left === 0 ? plain : { kind: 'block-comment', depth: left };
    return undefined;
  }

  #stepQuote(
    { close, hasBackslash }: Extract<State, { kind: 'quote' }>,
    isLast: boolean,
  ): 'more' | undefined {
    const end = this.#text.indexOf(close, this.#at);
    const backslash = hasBackslash ? this.#text.indexOf('\\', this.#at) : -1;
    if (backslash >= 0 && (end < 0 || backslash < end)) {
      if (!isLast && backslash + 1 >= this.#text.length) return 'more';
      this.#at = backslash + 2;
      return undefined;
    }
    if (end < 0) {
      const kept = isLast ? 0 : close.length - 1;
      const next = Math.max(this.#at, this.#text.length - kept);
      const isStuck = next === this.#at;
      this.#at = next;
      return isStuck && !isLast ? 'more' : undefined;
    }
    this.#at = end + close.length;
    this.#state = plain;
    // A doubled quote goes on: it is read as a quote that begins at once.
    return undefined;
  }

  #skipTo(end: RegExp, next: State): undefined {
    end.lastIndex = this.#at;
    const found = end.exec(this.#text);
    this.#at = found === null ? this.#text.length : found.index + 1;
    if (found !== null) this.#state = next;
    return undefined;
  }

  #enter(state: State, length: number): undefined {
    this.#state = state;
    this.#at += length;
    return undefined;
  }

  #noteContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#contentAt = this.#at;
  }

  #cut(end: number, next: number): ScannedStatement {
    const before = this.#text.slice(0, this.#contentAt);
    const statement = {
      sql: this.#text.slice(this.#contentAt, end).trimEnd(),
      line: this.#line + lineBreaks(before),
    };
    this.#drop(next);
    return statement;
  }

  #drop(next: number): undefined {
    this.#line += lineBreaks(this.#text.slice(0, next));
    this.#text = this.#text.slice(next);
    this.#at = 0;
    this.#hasContent = false;
    return undefined;
  }
}

function lineBreaks(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
}
