/**
 * How plain data is written and read. Every value fills a slice of the bytes; of a record the fields have numbers, so that
 * a newer one may have more of them. Rules of change: a number is never given to another field; a field that is added is
 * optional or has a meaning when it is missing; what older readers must not pass over raises `minimumReaderVersion`.
 */
import type { WireReader } from './wire-reader.js';
import type { WireWriter } from './wire-writer.js';

export interface Codec<T> {
  write(out: WireWriter, value: T): void;
  read(input: WireReader): T;
}

export const text: Codec<string> = {
  write: (out, value) => out.text(value),
  read: (input) => input.text(),
};

/** A copy, so that it neither keeps nor changes with what it came in. */
export const bytes: Codec<Uint8Array> = {
  write: (out, value) => out.bytes(value),
  read: (input) => new Uint8Array(input.rest()),
};

export const uint: Codec<number> = {
  write: (out, value) => out.uint(value),
  read: (input) => input.uint(),
};

export const integer: Codec<number> = {
  write(out, value) {
    out.byte(value < 0 ? 1 : 0);
    out.uint(Math.abs(value));
  },
  read(input) {
    const isNegative = flagOf(input);
    const value = input.uint();
    return isNegative ? -value : value;
  },
};

export const double: Codec<number> = {
  write: (out, value) => out.double(value),
  read: (input) => input.double(),
};

export const flag: Codec<boolean> = {
  write: (out, value) => out.byte(value ? 1 : 0),
  read: (input) => flagOf(input),
};

function flagOf(input: WireReader): boolean {
  const value = input.byte();
  if (value > 1) input.fail('is neither true nor false');
  return value === 1;
}

export const isTrue: Codec<true> = {
  write: (out) => out.byte(1),
  read: (input) => flagOf(input) || input.fail('can only be true'),
};

/** Wider than any number of the engine. */
const maxBigintBytes = 64;

export const bigint: Codec<bigint> = {
  write(out, value) {
    out.byte(value < 0n ? 1 : 0);
    const digits = (value < 0n ? -value : value).toString(16);
    out.bytes(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'));
  },
  read(input) {
    const isNegative = flagOf(input);
    const magnitude = input.rest();
    if (magnitude.byteLength === 0 || magnitude.byteLength > maxBigintBytes) input.fail('is no number');
    const value = BigInt(`0x${Buffer.from(magnitude).toString('hex')}`);
    return isNegative ? -value : value;
  },
};

export function nullable<T>(codec: Codec<T>): Codec<T | null> {
  return {
    write(out, value) {
      out.byte(value === null ? 0 : 1);
      if (value !== null) codec.write(out, value);
    },
    read: (input) => (flagOf(input) ? codec.read(input) : null),
  };
}

/** `values`: each has a number, which is what travels. */
export function oneOf<T extends string>(values: Readonly<Record<T, number>>): Codec<T> {
  const byNumber = new Map(Object.entries<number>(values).map(([value, number]) => [number, value as T]));
  return {
    write: (out, value) => out.uint(values[value]),
    read: (input) => byNumber.get(input.uint()) ?? input.fail('is of a kind that is not known here'),
  };
}

/** What is sent in a byte may take many in memory. */
const maxEntries = 2 ** 22;

export function list<T>(codec: Codec<T>): Codec<readonly T[]> {
  return {
    write(out, values) {
      for (const value of values) out.sized(() => codec.write(out, value));
    },
    read(input) {
      const values: T[] = [];
      while (input.remaining > 0) {
        if (values.length === maxEntries) input.fail('has too many entries');
        values.push(input.sized(values.length, () => codec.read(input)));
      }
      return values;
    },
  };
}

export const uintList: Codec<readonly number[]> = {
  write(out, values) {
    for (const value of values) out.uint(value);
  },
  read(input) {
    const values: number[] = [];
    while (input.remaining > 0) {
      if (values.length === maxEntries) input.fail('has too many entries');
      values.push(input.uint());
    }
    return values;
  },
};

export function lazy<T>(codec: () => Codec<T>): Codec<T> {
  return { write: (out, value) => codec().write(out, value), read: (input) => codec().read(input) };
}

type Presence = 'required' | 'maybe' | 'optional';

interface Field<T, P extends Presence> {
  readonly number: number;
  readonly codec: Codec<T>;
  readonly presence: P;
}

/** There always. */
export function required<T>(number: number, codec: Codec<T>): Field<T, 'required'> {
  return { number, codec, presence: 'required' };
}

/** There with the value `undefined` when it was not written. */
export function maybe<T>(number: number, codec: Codec<T>): Field<T, 'maybe'> {
  return { number, codec, presence: 'maybe' };
}

/** Not there at all when it was not written. */
export function optional<T>(number: number, codec: Codec<T>): Field<T, 'optional'> {
  return { number, codec, presence: 'optional' };
}

type PresenceOf<T, K extends keyof T> =
  Record<never, never> extends Pick<T, K> ? 'optional' : undefined extends T[K] ? 'maybe' : 'required';

/** A field of each property, with the presence that its type says. */
export type Fields<T> = {
  readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>, PresenceOf<T, K>>;
};

type AnyField = Field<unknown, Presence>;

export function record<T extends object>(fields: Fields<T>): Codec<T> {
  const sorted = Object.entries<AnyField>(fields as never).sort(([, a], [, b]) => a.number - b.number);
  const byNumber = new Map(sorted.map(([name, field]) => [field.number, { name, ...field }]));
  return {
    write(out, value) {
      for (const [name, { number, codec, presence }] of sorted) {
        const property: unknown = value[name as keyof T];
        if (property === undefined && presence !== 'required') continue;
        out.uint(number);
        out.sized(() => codec.write(out, property));
      }
    },
    read(input) {
      const found = new Map<string, unknown>();
      for (let last = 0; input.remaining > 0; ) {
        const number = input.uint();
        if (number <= last) input.fail('has fields that are not in order');
        last = number;
        const field = byNumber.get(number);
        if (field !== undefined)
          found.set(
            field.name,
            input.sized(field.name, () => field.codec.read(input)),
          );
        else if (input.skipsUnknown) input.skip();
        else input.fail(`has a field ${number} that is not known`);
      }
      for (const [name, { presence }] of sorted) {
        if (found.has(name) || presence === 'optional') continue;
        if (presence === 'required') input.fail(`has no ${name}`);
        found.set(name, undefined);
      }
      return Object.fromEntries(found) as T;
    },
  };
}

type Variant<T, K> = T extends { readonly kind: infer Kinds } ? (K extends Kinds ? T : never) : never;

/** Of each kind its number, and its other fields. */
export type Variants<T extends { readonly kind: string }> = {
  readonly [K in T['kind']]: readonly [number, Fields<Omit<Variant<T, K>, 'kind'>>];
};

export function union<T extends { readonly kind: string }>(variants: Variants<T>): Codec<T> {
  const kinds = Object.entries<readonly [number, Fields<object>]>(variants as never).map(
    ([kind, [number, fields]]) => ({ kind, number, codec: record(fields) }),
  );
  const byKind = new Map(kinds.map((each) => [each.kind, each]));
  const byNumber = new Map(kinds.map((each) => [each.number, each]));
  return {
    write(out, value) {
      const variant = byKind.get(value.kind);
      if (variant === undefined) throw new TypeError(`${value.kind} is no kind.`);
      out.uint(variant.number);
      variant.codec.write(out, value);
    },
    read(input) {
      const variant = byNumber.get(input.uint()) ?? input.fail('is of a kind that is not known here');
      return { ...variant.codec.read(input), kind: variant.kind } as T;
    },
  };
}

/** Objects of any names: `__proto__` is one like the others. */
export function entries<T>(codec: Codec<T>): Codec<Readonly<Record<string, T>>> {
  const pairs = list(
    record<{ readonly name: string; readonly value: T }>({
      name: required(1, text),
      value: required(2, codec),
    } as never),
  );
  return {
    write: (out, value) =>
      pairs.write(
        out,
        Object.entries(value).map(([name, each]) => ({ name, value: each })),
      ),
    read: (input) => Object.fromEntries(pairs.read(input).map(({ name, value }) => [name, value])),
  };
}
