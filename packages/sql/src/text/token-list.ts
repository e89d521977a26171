/** What a token is; the numbers exist so that a list of millions of tokens is three typed arrays. */
export const tokenKinds = {
  /** Unquoted identifier or keyword. */
  word: 1,
  /** "quoted identifier" */
  quoted: 2,
  /** 'text', E'text', $tag$text$tag$ */
  string: 3,
  number: 4,
  /** ?, ?1, $1, $name */
  parameter: 5,
  operator: 6,
  /** One of ( ) [ ] { } , ; . */
  punctuation: 7,
} as const;

export type TokenKind = (typeof tokenKinds)[keyof typeof tokenKinds];

/** The tokens of one text, by index, with their places in it (UTF-16 offsets). */
export class TokenList {
  readonly sql: string;
  #count = 0;
  #kinds = new Uint8Array(64);
  #starts = new Int32Array(64);
  #ends = new Int32Array(64);

  constructor(sql: string) {
    this.sql = sql;
  }

  get count(): number {
    return this.#count;
  }

  push(kind: TokenKind, start: number, end: number): void {
    const index = this.#count++;
    if (index === this.#kinds.length) this.#grow();
    this.#kinds[index] = kind;
    this.#starts[index] = start;
    this.#ends[index] = end;
  }

  /** Undefined beyond the last token. */
  kind(index: number): TokenKind | undefined {
    return index < this.#count ? (this.#kinds[index] as TokenKind) : undefined;
  }

  /** The text's length beyond the last token, so that an error there points at the end. */
  start(index: number): number {
    return index < this.#count ? (this.#starts[index] ?? 0) : this.sql.length;
  }

  end(index: number): number {
    return index < this.#count ? (this.#ends[index] ?? 0) : this.sql.length;
  }

  /** The token as written; empty beyond the last one. */
  text(index: number): string {
    return this.sql.slice(this.start(index), this.end(index));
  }

  /** The index of the token that starts exactly there, by binary search. */
  at(start: number): number | undefined {
    let low = 0;
    let high = this.#count - 1;
    while (low <= high) {
      const middle = (low + high) >> 1;
      const found = this.#starts[middle] ?? 0;
      if (found === start) return middle;
      if (found < start) low = middle + 1;
      else high = middle - 1;
    }
    return undefined;
  }

  /** Whether the token is this keyword (upper case) or this operator or punctuation; quoted identifiers never are. */
  is(index: number, text: string): boolean {
    const length = text.length;
    if (this.end(index) - this.start(index) !== length) return false;
    const kind = this.kind(index);
    if (kind === tokenKinds.word) return this.text(index).toUpperCase() === text;
    return (kind === tokenKinds.operator || kind === tokenKinds.punctuation) && this.text(index) === text;
  }

  #grow(): void {
    const size = this.#kinds.length * 2;
    const kinds = new Uint8Array(size);
    const starts = new Int32Array(size);
    const ends = new Int32Array(size);
    kinds.set(this.#kinds);
    starts.set(this.#starts);
    ends.set(this.#ends);
    this.#kinds = kinds;
    this.#starts = starts;
    this.#ends = ends;
  }
}
