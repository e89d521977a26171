/**
 * The types a configuration value can have. Each reads a value of the TOML file (integers arrive as bigint, so that
 * `8080` and `8080.0` can be told apart) or the text of an environment variable, and says what it expects.
 */

import { isIP } from 'node:net';

/** `unset` is an empty string where empty means "not configured"; `invalid` is answered with `expectation`. */
export type ParsedValue<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'unset' }
  | { readonly kind: 'invalid' };

export interface ValueType<T> {
  /** For the documentation: `integer from 0 to 65535`. */
  readonly name: string;
  /** Completes "must be …" in an error message. */
  readonly expectation: string;
  /** False where a value may hold a secret or a person's data: it is then never printed. */
  readonly isPrintable: boolean;
  fromToml(raw: unknown): ParsedValue<T>;
  fromText(text: string): ParsedValue<T>;
  /** As a person writes it, for the documentation of defaults. */
  format(value: T): string;
}

const invalid = { kind: 'invalid' } as const;
const unset = { kind: 'unset' } as const;

function valid<T>(value: T): ParsedValue<T> {
  return { kind: 'value', value };
}

export const boolean: ValueType<boolean> = {
  name: 'boolean',
  expectation: '`true` or `false`',
  isPrintable: true,
  fromToml: (raw) => (typeof raw === 'boolean' ? valid(raw) : invalid),
  fromText: (text) => {
    const lower = text.toLowerCase();
    return lower === 'true' || lower === 'false' ? valid(lower === 'true') : invalid;
  },
  format: String,
};

/** A whole number; both ends of the range are allowed. */
export function integer(min: number, max: number): ValueType<number> {
  const check = (value: number | undefined): ParsedValue<number> =>
    value !== undefined && Number.isSafeInteger(value) && value >= min && value <= max
      ? valid(value)
      : invalid;
  return {
    name: `integer, ${min} to ${max}`,
    expectation: `an integer from ${min} to ${max}`,
    isPrintable: true,
    fromToml: (raw) => check(typeof raw === 'bigint' ? Number(raw) : undefined),
    fromText: (text) => check(/^[+-]?\d{1,16}$/.test(text) ? Number(text) : undefined),
    format: String,
  };
}

/** A number, fractions allowed; both ends of the range are allowed. */
export function number(min: number, max: number): ValueType<number> {
  return ranged(`number, ${min} to ${max}`, `a number from ${min} to ${max}`, min, max);
}

/**
 * A duration in seconds, fractions allowed. A timer of Node holds 2³¹−1 milliseconds at most and fires at once above
 * that, so no duration may be longer (24.8 days).
 */
export function seconds(min: number, max = 2_147_483): ValueType<number> {
  return ranged(`seconds, ${min} to ${max}`, `a number of seconds from ${min} to ${max}`, min, max);
}

function ranged(name: string, expectation: string, min: number, max: number): ValueType<number> {
  const check = (value: number): ParsedValue<number> =>
    value >= min && value <= max ? valid(value) : invalid;
  return {
    name,
    expectation,
    isPrintable: true,
    fromToml: (raw) => (typeof raw === 'bigint' || typeof raw === 'number' ? check(Number(raw)) : invalid),
    fromText: (text) => (/^[+-]?\d{1,16}(\.\d{1,16})?$/.test(text) ? check(Number(text)) : invalid),
    format: String,
  };
}

const byteUnits = new Map([
  ['b', 1],
  ['kb', 1e3],
  ['mb', 1e6],
  ['gb', 1e9],
  ['tb', 1e12],
  ['kib', 2 ** 10],
  ['mib', 2 ** 20],
  ['gib', 2 ** 30],
  ['tib', 2 ** 40],
]);

/** A size: a plain number of bytes, or a number with a unit ("256MB" is 256 × 10⁶, "1 GiB" is 2³⁰). */
export function bytes(min: number, max: number): ValueType<number> {
  const check = (value: number): ParsedValue<number> =>
    Number.isSafeInteger(value) && value >= min && value <= max ? valid(value) : invalid;
  const fromText = (text: string): ParsedValue<number> => {
    const match = /^(\d{1,16}(?:\.\d{1,9})?)\s*([a-z]*)$/i.exec(text.trim());
    const unit = match?.[2] ? byteUnits.get(match[2].toLowerCase()) : 1;
    if (match?.[1] === undefined || unit === undefined) return invalid;
    const size = Number(match[1]) * unit;
    // A fraction of a byte is a missing unit ("1.5"), not a size to round.
    return check(unit === 1 ? size : Math.round(size));
  };
  return {
    name: `size, ${formatBytes(min)} to ${formatBytes(max)}`,
    expectation: `a size from ${formatBytes(min)} to ${formatBytes(max)}, such as "256MB", "1 GiB" or a number of bytes`,
    isPrintable: true,
    fromToml: (raw) =>
      typeof raw === 'bigint' ? check(Number(raw)) : typeof raw === 'string' ? fromText(raw) : invalid,
    fromText,
    format: formatBytes,
  };
}

/** In the largest binary unit that divides it evenly: `16 MiB`, `1 GiB`, `1500 B`. */
export function formatBytes(size: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
  let rest = size;
  let index = 0;
  while (rest !== 0 && rest % 1024 === 0 && index < units.length - 1) {
    rest /= 1024;
    index += 1;
  }
  return size === 0 ? '0' : `${rest} ${units[index]}`;
}

/** Free text. Empty means unset. */
export const string: ValueType<string> = text('string', 'a string', true, (value) => value);

/** Free text that no message or document ever shows. */
export const secretString: ValueType<string> = text('string', 'a string', false, (value) => value);

/** A name that can stand in SQL without quotes. */
export const identifier: ValueType<string> = text(
  'identifier',
  'a name of lower-case letters, digits and underscores that starts with a letter, at most 64 characters',
  true,
  (value) => (/^[a-z][a-z0-9_]{0,63}$/.test(value) ? value : undefined),
);

/** A file or folder. `~/` is the user's home folder and is expanded where the configuration is loaded. */
export const path: ValueType<string> = text('path', 'a path', true, (value) =>
  value.includes('\0') ? undefined : value,
);

/** An IP address or a host name, without port and without brackets. */
export const address: ValueType<string> = text(
  'address',
  'an IP address or host name without a port',
  true,
  (value) => (isIP(value) !== 0 || /^[a-z0-9][a-z0-9.-]{0,252}$/i.test(value) ? value : undefined),
);

/** Where somebody listens: `worker-1:50052`, `[fd00::7]:50052`. */
export const hostAndPort: ValueType<string> = text(
  'host and port',
  'a host and a port, such as worker-1:50052 or [fd00::7]:50052',
  true,
  (value) => {
    const [, bracketed, name, port] =
      /^(?:\[([^\]]+)\]|([a-z0-9][a-z0-9._-]{0,252})):(\d{1,5})$/i.exec(value) ?? [];
    const isHost = bracketed === undefined ? name !== undefined : isIP(bracketed) === 6;
    return isHost && Number(port) >= 1 && Number(port) <= 65_535 ? value : undefined;
  },
);

/** An absolute http or https URL. One that carries a password is refused, so that a URL can be printed. */
export const url: ValueType<string> = text(
  'URL',
  'an http:// or https:// URL without a user name or password',
  false,
  (value) => {
    if (!URL.canParse(value)) return undefined;
    const parsed = new URL(value);
    const isPlain = parsed.username === '' && parsed.password === '';
    return isPlain && /^https?:$/.test(parsed.protocol) ? value : undefined;
  },
);

function text(
  name: string,
  expectation: string,
  isPrintable: boolean,
  accept: (value: string) => string | undefined,
): ValueType<string> {
  const fromText = (raw: string): ParsedValue<string> => {
    if (raw === '') return unset;
    const value = accept(raw);
    return value === undefined ? invalid : valid(value);
  };
  return {
    name,
    expectation,
    isPrintable,
    fromToml: (raw) => (typeof raw === 'string' ? fromText(raw) : invalid),
    fromText,
    format: (value) => value,
  };
}

/** One of a few words. */
export function oneOf<const T extends string>(...words: readonly T[]): ValueType<T> {
  const check = (raw: unknown): ParsedValue<T> => {
    const word = words.find((each) => each === raw);
    return word === undefined ? invalid : valid(word);
  };
  const names = words.map((word) => `"${word}"`).join(' or ');
  return {
    name: names,
    expectation: names,
    isPrintable: true,
    fromToml: check,
    fromText: check,
    format: (value) => value,
  };
}

/** A list: an array in the file, parts with commas between them in a variable. An empty one is a list, too. */
export function list(item: ValueType<string>): ValueType<readonly string[]> {
  const all = (raws: readonly unknown[]): ParsedValue<readonly string[]> => {
    const values: string[] = [];
    for (const raw of raws) {
      const parsed = item.fromToml(raw);
      if (parsed.kind !== 'value') return invalid;
      values.push(parsed.value);
    }
    return valid(values);
  };
  const split = (text: string) =>
    all(
      text
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );
  return {
    name: `list of: ${item.name}`,
    expectation: `a list, each part of it ${item.expectation}`,
    isPrintable: item.isPrintable,
    fromToml: (raw) => (Array.isArray(raw) ? all(raw) : typeof raw === 'string' ? split(raw) : invalid),
    fromText: split,
    format: (values) => values.join(', '),
  };
}

/** An IP address, or a range of them in CIDR notation. */
export const addressRange: ValueType<string> = text(
  'address or range',
  'an IP address or a range such as 10.0.0.0/8',
  true,
  (value) => {
    const [, start = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(value) ?? [];
    const family = isIP(start);
    if (family === 0) return undefined;
    return bits === undefined || Number(bits) <= (family === 4 ? 32 : 128) ? value : undefined;
  },
);

/**
 * A Redis server. It may carry a password, so it is never printed. `+cluster` asks the server, and the further ones after
 * commas, for the other nodes of its cluster.
 */
export const redisUrl: ValueType<string> = text(
  'Redis URL',
  'redis://host:port, rediss:// for TLS, or redis+cluster:// and rediss+cluster:// with one or more host:port',
  false,
  (value) => {
    const [, scheme, hosts = ''] =
      /^(rediss?(?:\+cluster)?):\/\/(?:[^@/]*@)?([^@/]+)(?:\/\d{0,3})?$/.exec(value) ?? [];
    const each = hosts.split(',');
    const isHost = each.every((host) => /^(\[[0-9a-f:]+\]|[a-z0-9._-]+)(:\d{1,5})?$/i.test(host));
    const isOne = each.length === 1 || scheme?.endsWith('+cluster') === true;
    return scheme !== undefined && isHost && isOne ? value : undefined;
  },
);
