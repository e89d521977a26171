const months = (count: number): string => (Math.abs(count) === 1 ? 'month' : 'months');
const days = (count: number): string => (Math.abs(count) === 1 ? 'day' : 'days');

/** An interval of months, days and nanoseconds (four little-endian words) the way the engine writes it. */
export function intervalText(words: Int32Array, row: number): string {
  const at = row * 4;
  const monthCount = words[at] ?? 0;
  const dayCount = words[at + 1] ?? 0;
  const nanos = (BigInt(words[at + 3] ?? 0) << 32n) | BigInt.asUintN(32, BigInt(words[at + 2] ?? 0));
  const years = Math.trunc(monthCount / 12);
  const restMonths = monthCount % 12;
  const parts = [
    years === 0 ? '' : `${years} ${Math.abs(years) === 1 ? 'year' : 'years'}`,
    restMonths === 0 ? '' : `${restMonths} ${months(restMonths)}`,
    dayCount === 0 ? '' : `${dayCount} ${days(dayCount)}`,
  ].filter((part) => part !== '');
  if (nanos !== 0n || parts.length === 0) parts.push(clockText(nanos));
  return parts.join(' ');
}

function clockText(nanos: bigint): string {
  const size = nanos < 0n ? -nanos : nanos;
  const seconds = size / 1_000_000_000n;
  const two = (value: bigint) => String(value).padStart(2, '0');
  const fraction = String(size % 1_000_000_000n)
    .padStart(9, '0')
    .replace(/0+$/, '');
  const clock = `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}`;
  return `${nanos < 0n ? '-' : ''}${clock}${fraction === '' ? '' : `.${fraction}`}`;
}
