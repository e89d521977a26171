const secondsPerDay = 86_400n;

/** How many decimal places of a second a timestamp type counts in. */
const fractionDigits: ReadonlyMap<string, number> = new Map([
  ['TIMESTAMP_S', 0],
  ['TIMESTAMP_MS', 3],
  ['TIMESTAMP', 6],
  ['TIMESTAMP WITH TIME ZONE', 6],
  ['TIMESTAMP_NS', 9],
]);

/**
 * A literal of a date or timestamp type as the engine reads it back; undefined for infinity and whatever else has no
 * year of four digits, and for other types.
 */
export function timestampText(type: string, value: bigint): string | undefined {
  if (type === 'DATE') return isoText(value * secondsPerDay)?.slice(0, -9);
  const digits = fractionDigits.get(type);
  if (digits === undefined) return undefined;
  const perSecond = 10n ** BigInt(digits);
  const fraction = ((value % perSecond) + perSecond) % perSecond;
  const whole = isoText((value - fraction) / perSecond);
  if (whole === undefined) return undefined;
  const zone = type === 'TIMESTAMP WITH TIME ZONE' ? '+00' : '';
  const decimals = fraction === 0n ? '' : `.${String(fraction).padStart(digits, '0').replace(/0+$/, '')}`;
  return `${whole}${decimals}${zone}`;
}

/** `YYYY-MM-DD hh:mm:ss` */
function isoText(secondsSince1970: bigint): string | undefined {
  const ms = Number(secondsSince1970) * 1000;
  if (Math.abs(ms) > 8.64e15) return undefined;
  const text = new Date(ms).toISOString();
  return /^(?!0000)\d{4}-/.test(text) ? text.replace('T', ' ').slice(0, -5) : undefined;
}

export function decimalText(unscaled: bigint, scale: number): string {
  if (scale === 0) return String(unscaled);
  const digits = (unscaled < 0n ? -unscaled : unscaled).toString().padStart(scale + 1, '0');
  return `${unscaled < 0n ? '-' : ''}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}
