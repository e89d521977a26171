import { isJsonArray, isJsonObject, JsonNumber, type JsonObject, type JsonValue } from '../json/lossless.js';

/**
 * Thrown when the engine's plan has an operator, a field or a value that this package does not know. Never an error for
 * the user: the caller runs the statement without what the plan would have told it.
 */
export class PlanNotUnderstood extends Error {
  override readonly name = 'PlanNotUnderstood';
}

/**
 * Takes a JSON object apart field by field. `end` throws when a field was not asked for, so that a later version of the
 * engine cannot add a meaning that goes unseen.
 */
export class PlanReader {
  readonly what: string;
  readonly #node: JsonObject;
  readonly #read = new Set<string>();

  constructor(value: JsonValue | undefined, what: string) {
    if (!isJsonObject(value)) throw new PlanNotUnderstood(`${what} is no object`);
    this.#node = value;
    this.what = what;
  }

  /** The field as it is; undefined when absent or null. */
  value(name: string): JsonValue | undefined {
    this.#read.add(name);
    return this.#node[name] ?? undefined;
  }

  text(name: string): string {
    const value = this.value(name);
    if (typeof value !== 'string') throw this.#unexpected(name);
    return value;
  }

  flag(name: string): boolean {
    const value = this.value(name);
    if (typeof value !== 'boolean') throw this.#unexpected(name);
    return value;
  }

  integer(name: string): bigint {
    const value = this.value(name);
    if (!(value instanceof JsonNumber) || !/^-?\d+$/.test(value.text)) throw this.#unexpected(name);
    return BigInt(value.text);
  }

  /** An integer small enough to count or index with. */
  count(name: string): number {
    const value = Number(this.integer(name));
    if (!Number.isSafeInteger(value) || value < 0) throw this.#unexpected(name);
    return value;
  }

  /** A list; empty when absent. */
  list(name: string): readonly JsonValue[] {
    const value = this.value(name) ?? [];
    if (!isJsonArray(value)) throw this.#unexpected(name);
    return value;
  }

  /** A list of small integers. */
  indexes(name: string): readonly number[] {
    return this.list(name).map((value) => {
      const index = value instanceof JsonNumber ? Number(value.text) : Number.NaN;
      if (!Number.isSafeInteger(index) || index < 0) throw this.#unexpected(name);
      return index;
    });
  }

  texts(name: string): readonly string[] {
    return this.list(name).map((value) => {
      if (typeof value !== 'string') throw this.#unexpected(name);
      return value;
    });
  }

  /** One of the known words; anything else throws. */
  oneOf<T>(name: string, known: Readonly<Record<string, T>>): T {
    const word = this.text(name);
    const meaning = Object.hasOwn(known, word) ? known[word] : undefined;
    if (meaning === undefined) throw new PlanNotUnderstood(`${this.what}: ${name} is ${word}`);
    return meaning;
  }

  /** Fields that are known to carry nothing that this package needs. */
  ignore(...names: readonly string[]): void {
    for (const name of names) this.#read.add(name);
  }

  /** A field that must be absent, null or an empty list: its meaning is not known here. */
  mustBeEmpty(name: string): void {
    const value = this.value(name);
    if (value !== undefined && !(isJsonArray(value) && value.length === 0)) throw this.#unexpected(name);
  }

  end(): void {
    for (const name in this.#node)
      if (!this.#read.has(name)) throw new PlanNotUnderstood(`${this.what} has the unknown field ${name}`);
  }

  #unexpected(name: string): PlanNotUnderstood {
    return new PlanNotUnderstood(`${this.what}: field ${name} has an unexpected form`);
  }
}
