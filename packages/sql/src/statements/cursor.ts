import type { QueryError } from '@svc/base';
import { abbreviate } from '../text/abbreviate.js';
import { identifierValue, stringValue } from '../text/literals.js';
import { type TokenList, tokenKinds } from '../text/token-list.js';
import { syntaxError } from '../text/tokenizer.js';

/** Where a recursive-descent parser stands in a statement's tokens. */
export class Cursor {
  readonly tokens: TokenList;
  index: number;

  constructor(tokens: TokenList, index = 0) {
    this.tokens = tokens;
    this.index = index;
  }

  get atEnd(): boolean {
    return this.index >= this.tokens.count;
  }

  /** Whether the tokens from here are these keywords or signs (upper case). */
  sees(...words: readonly string[]): boolean {
    return words.every((word, offset) => this.tokens.is(this.index + offset, word));
  }

  seesOneOf(words: ReadonlySet<string>): boolean {
    return (
      words.has(this.tokens.text(this.index).toUpperCase()) &&
      this.sees(this.tokens.text(this.index).toUpperCase())
    );
  }

  /** Steps over the words when they are all there. */
  accept(...words: readonly string[]): boolean {
    if (!this.sees(...words)) return false;
    this.index += words.length;
    return true;
  }

  expect(word: string): void {
    if (!this.accept(word)) throw this.error(`expected ${word}`);
  }

  expectEnd(): void {
    if (!this.atEnd) throw this.error('expected the end of the statement');
  }

  identifier(what: string): string {
    const name = identifierValue(this.tokens, this.index);
    if (name === undefined) throw this.error(`expected the name of ${what}`);
    if (name === '') throw this.error(`the name of ${what} is empty`);
    this.index++;
    return name;
  }

  /** A dotted name of at most `maxParts` parts. */
  name(what: string, maxParts: number): readonly string[] {
    const parts = [this.identifier(what)];
    while (this.accept('.')) {
      if (parts.length === maxParts) throw this.error(`the name of ${what} has more than ${maxParts} parts`);
      parts.push(this.identifier(what));
    }
    return parts;
  }

  string(what: string): string {
    const value = stringValue(this.tokens, this.index);
    if (value === undefined) throw this.error(`expected ${what} as a string in single quotes`);
    this.index++;
    return value;
  }

  get seesString(): boolean {
    return this.tokens.kind(this.index) === tokenKinds.string;
  }

  get seesNumber(): boolean {
    return this.tokens.kind(this.index) === tokenKinds.number;
  }

  /** A whole number that is not negative. */
  integer(what: string): number {
    const text = this.tokens.text(this.index);
    if (!this.seesNumber || !/^[0-9]{1,15}$/.test(text))
      throw this.error(`expected ${what} as a whole number`);
    this.index++;
    return Number(text);
  }

  /** The statement's text from here to its end. */
  rest(): string {
    return this.atEnd
      ? ''
      : this.tokens.sql.slice(this.tokens.start(this.index), this.tokens.end(this.tokens.count - 1));
  }

  /** Upper-cased texts of the next words, for naming what was refused. */
  words(count: number): string {
    const words: string[] = [];
    for (let offset = 0; offset < count && this.index + offset < this.tokens.count; offset++)
      words.push(abbreviate(this.tokens.text(this.index + offset)).toUpperCase());
    return words.join(' ');
  }

  error(problem: string): QueryError {
    return syntaxError(this.tokens.sql, this.tokens.start(this.index), problem);
  }
}
