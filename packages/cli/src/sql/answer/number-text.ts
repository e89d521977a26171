/** Numbers as text: every digit that is stored. */

/** A 128-bit decimal from its four little-endian words. */
export function decimalText(words: Uint32Array, row: number, scale: number): string {
  const at = row * 4;
  const low = (BigInt(words[at + 1] ?? 0) << 32n) | BigInt(words[at] ?? 0);
  const high = (BigInt(words[at + 3] ?? 0) << 32n) | BigInt(words[at + 2] ?? 0);
  return scaledText(BigInt.asIntN(128, (high << 64n) | low), scale);
}

/** 12345 with scale 2 is `123.45`; a negative scale counts zeros that are not stored. */
function scaledText(value: bigint, scale: number): string {
  if (scale === 0) return String(value);
  if (scale < 0) return String(value * 10n ** BigInt(-scale));
  const digits = String(value < 0n ? -value : value).padStart(scale + 1, '0');
  const point = digits.length - scale;
  return `${value < 0n ? '-' : ''}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/** The shortest text that reads back as the same double; a whole number keeps `.0` so that it is seen to be one. */
export function doubleText(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value);
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** The shortest text that reads back as the same 32-bit float. */
export function floatText(value: number): string {
  for (let precision = 6; precision <= 9; precision++) {
    const short = Number(value.toPrecision(precision));
    if (Math.fround(short) === value) return doubleText(short);
  }
  return doubleText(value);
}
