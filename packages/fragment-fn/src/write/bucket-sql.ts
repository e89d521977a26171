/**
 * Iceberg's bucket hash in the engine's SQL: MurmurHash3, x86 variant, 32 bits, seed 0 (specification, Appendix B). All
 * arithmetic is in UBIGINT, where a product of two 32-bit words fits.
 */

const mask = '4294967295';

/** Hash of a BIGINT as eight little-endian bytes, without its sign: 0 to 2^31-1. */
export function hashOfLong(value: string): string {
  const low = `CAST((${value}) & ${mask} AS UBIGINT)`;
  const high = `CAST(((${value}) >> 32) & ${mask} AS UBIGINT)`;
  const hash = nextState(nextState('CAST(0 AS UBIGINT)', mixedWord(low)), mixedWord(high));
  return letSql('h', hash, finished('h', '8'));
}

/** Hash of the bytes that a text of hexadecimal digits stands for, without its sign. */
export function hashOfHex(hex: string): string {
  const words = `list_transform(range(length(x) // 8), lambda i: ${mixedWord(wordAt('i'))})`;
  const hash = `list_reduce(${words}, lambda h, k: ${nextState('h', 'k')}, CAST(0 AS UBIGINT))`;
  // Up to three bytes are left over; absent ones count as zero, and a mixed zero is zero.
  const tail = `CAST('0x' || ${[5, 3, 1].map((at) => `lpad(substr(x, 8 * (length(x) // 8) + ${at}, 2), 2, '0')`).join(' || ')} AS UBIGINT)`;
  const state = `xor(${hash}, ${mixedWord(tail)})`;
  return letSql(
    'x',
    hex,
    letSql('s', `{'h': ${state}, 'n': CAST(length(x) // 2 AS UBIGINT)}`, finished("s['h']", "s['n']")),
  );
}

/** A value under a name, evaluated once: the engine has no other way to say so inside an expression. */
function letSql(name: string, value: string, body: string): string {
  return `list_transform([${value}], lambda ${name}: ${body})[1]`;
}

/** The little-endian word with this number in the hexadecimal text `x`. */
function wordAt(index: string): string {
  const bytes = [7, 5, 3, 1].map((at) => `substr(x, 8 * ${index} + ${at}, 2)`);
  return `CAST('0x' || ${bytes.join(' || ')} AS UBIGINT)`;
}

function mixedWord(word: string): string {
  return times(rotatedLeft(times(word, 0xcc9e2d51), 15), 0x1b873593);
}

function nextState(hash: string, mixed: string): string {
  return `((${rotatedLeft(`xor(${hash}, ${mixed})`, 13)} * 5 + ${0xe6546b64}) & ${mask})`;
}

function finished(hash: string, length: string): string {
  const first = times(shiftMixed(`xor(${hash}, CAST(${length} AS UBIGINT))`, 16), 0x85ebca6b);
  const second = times(shiftMixed(first, 13), 0xc2b2ae35);
  return `(${shiftMixed(second, 16)} & ${0x7fffffff})`;
}

function shiftMixed(value: string, bits: number): string {
  return `xor(${value}, ${value} >> ${bits})`;
}

function rotatedLeft(value: string, bits: number): string {
  return `(((${value} << ${bits}) & ${mask}) | (${value} >> ${32 - bits}))`;
}

function times(value: string, factor: number): string {
  return `((${value}) * ${factor} & ${mask})`;
}
