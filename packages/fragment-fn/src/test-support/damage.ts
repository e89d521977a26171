/** Bytes that something happened to on their way. */
export interface Damage {
  readonly kind: 'flip' | 'cut' | 'splice';
  readonly bytes: Uint8Array;
}

export function* damaged(
  bytes: Uint8Array,
  { seed, count }: { readonly seed: number; readonly count: number },
): Generator<Damage> {
  let state = seed * 2_654_435_761;
  /** Below `limit`. */
  const random = (limit: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * limit);
  };
  for (let index = 0; index < count; index += 1) {
    const kind = (['flip', 'cut', 'splice'] as const)[random(3)] ?? 'flip';
    const copy = Uint8Array.from(bytes);
    if (kind === 'flip')
      for (let flips = random(4); flips >= 0; flips -= 1) {
        const place = random(copy.length);
        copy[place] = (copy[place] ?? 0) ^ (1 << random(8));
      }
    if (kind === 'splice') copy.copyWithin(random(copy.length), random(copy.length), random(copy.length));
    yield { kind, bytes: kind === 'cut' ? copy.subarray(0, random(copy.length)) : copy };
  }
}
