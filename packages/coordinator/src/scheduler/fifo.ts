/** First in, first out; taking from the front takes the same time however many wait, as `shift` of an array does not. */
export class Fifo<T> {
  #items: (T | undefined)[] = [];
  #first = 0;

  get length(): number {
    return this.#items.length - this.#first;
  }

  push(item: T): void {
    this.#items.push(item);
  }

  shift(): T | undefined {
    if (this.length === 0) return undefined;
    const item = this.#items[this.#first];
    // What has been taken is not kept alive by its place.
    this.#items[this.#first] = undefined;
    this.#first += 1;
    // Moving the rest is paid for by as many that have been taken.
    if (this.#first * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#first);
      this.#first = 0;
    }
    return item;
  }
}
